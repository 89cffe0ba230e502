"""Robots whose joints have armatures, springs, dampers and friction of their own, drawn at random."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robomorph import Passive, Robot
from robomorph.model import Body
from robomorph.model.joints import JOINT_TYPES


def armed(robot: Robot, seed: int = 0) -> Robot:
    """The robot with an armature at every joint, followers included."""
    rng = np.random.default_rng(seed)

    def with_armature(body: Body) -> Body:
        return replace(body, armature=float(rng.uniform(0.05, 2.0)))

    return Robot(replace(robot.model, bodies=tuple(map(with_armature, robot.model.bodies))))


def resisting(robot: Robot, seed: int = 0, *, friction: bool = True, width: float = 0.3) -> Robot:
    """The robot with all passive forces at every joint, followers included, and they count."""
    rng = np.random.default_rng(seed + 1)

    def with_forces(body: Body) -> Body:
        damping, loss, stiffness, rest = rng.uniform(0.1, 2.0, 4)
        if JOINT_TYPES[body.kind].nv != 1:
            stiffness = rest = 0.0
        loss = loss if friction else 0.0
        return replace(
            body, damping=float(damping), friction=float(loss), stiffness=float(stiffness), rest=float(rest)
        )

    model = armed(robot, seed).model
    bodies = tuple(map(with_forces, model.bodies))
    return Robot(replace(model, bodies=bodies, passive=Passive(width)))
