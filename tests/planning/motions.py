"""Motions of one arm with every kind of row, for tests."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

import robomorph
from robomorph import Robot
from robomorph.planning import Motion
from robomorph.tasks import Axis, CenterOfMass, Orientation, Pose, Position, Posture

Array = npt.NDArray[Any]
FRAME = "lbr_iiwa_link_7"


@cache
def arm() -> Robot:
    return robomorph.load("iiwa14")


def states(seed: int = 3) -> tuple[Array, Array]:
    return arm().random_state(seed).q, arm().random_state(seed + 1).q


def everything() -> Motion:
    """Windows, an instant, speeds, accelerations, torques."""
    q0, q1 = states()
    motion = Motion(arm(), 2.0, 6, start=q0, end=(q1, 0.1 * q1, -0.2 * q1)).limits(
        torque=0.8, acceleration=9.0
    )
    motion.keep(Position(FRAME), -5, 5, during=(0.5, 1.2)).keep(Axis(FRAME, (0, 0, 1)), 0, 3, (0, 0, 1))
    motion.keep(Position(FRAME), (-1,) * 3, (1,) * 3, rate=1, during=(0.3, 1.0))
    motion.keep(CenterOfMass(), -3, 3, rate=2).keep(Position(FRAME), 0, 0, (1, 1, 1), during=1.0)
    return motion.keep(Posture.of(arm().model), -3, 3, rate=1, during=(0.0, 0.7))


def stretching() -> Motion:
    """A free duration."""
    q0, q1 = states()
    motion = Motion(arm(), (1, 4.0), 6, start=q0, end=q1).limits(torque=0.8, acceleration=5, jerk=99)
    motion.keep(Pose(FRAME), -1, 1, "start", during=(0.2, 0.61)).keep(CenterOfMass(), -3, 3, rate=2)
    return motion.keep(Position(FRAME), (-1,) * 3, (1,) * 3, rate=1, during=(0.1, 0.5))


def going_round() -> Motion:
    """Periodic, refined."""
    motion = Motion(arm(), 2.0, 7, periodic=True, refine=2).limits(torque=0.8)
    motion.keep(Orientation(FRAME), -1, 1, np.eye(3))
    return motion.keep(Position(FRAME), (-1,) * 3, (1,) * 3, rate=1, during=(0.3, 1.0))


MOTIONS = {"everything": everything, "stretching": stretching, "going round": going_round}
COSTS = {"jerk": 1.0, "energy": 2.0}
