"""Robots whose joints have armatures, springs and dampers of their own, drawn at random."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robomorph import Robot
from robomorph.model import Body


def armed(robot: Robot, seed: int = 0) -> Robot:
    """The robot with an armature at every joint, followers included."""
    rng = np.random.default_rng(seed)

    def with_armature(body: Body) -> Body:
        return replace(body, armature=float(rng.uniform(0.05, 2.0)))

    return Robot(replace(robot.model, bodies=tuple(map(with_armature, robot.model.bodies))))
