"""Position and orientation stacked, by Pinocchio."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio
import pytest

from robomorph import ArgumentError
from robomorph.tasks import Orientation, Pose, Position
from tests.tasks.checks import ROBOTS, check, robot_of, rotations, states

Array = npt.NDArray[Any]


def poses() -> Array:
    out = np.tile(np.eye(4), (4, 1, 1))
    out[:, :3, :3] = rotations(4)
    out[:, :3, 3] = np.random.default_rng(2).normal(size=(4, 3))
    return out


@pytest.mark.parametrize("what", ["residual", "bounds"])
@pytest.mark.parametrize("name", ROBOTS)
def test_by_pinocchio(name: str, what: str) -> None:
    robot, reference, frame = robot_of(name)

    def rows(q: Array, wanted: Array) -> Array:
        here = reference.forward_kinematics(q, frame)
        if what == "residual":
            turn = pinocchio.log3(here[:3, :3] @ wanted[:3, :3].T)
        else:
            e = pinocchio.log3(wanted[:3, :3].T @ here[:3, :3])
            angle = np.linalg.norm(e)
            turn = np.array([*(np.sin(angle) / angle * e), np.cos(angle)])
        return np.concatenate([here[:3, 3] - wanted[:3, 3], turn])

    expected = [lambda q, p=p: rows(q, p) for p in poses()]
    check(robot, Pose(frame), what, states(robot), poses(), expected)


def test_bounds_are_those_of_its_parts() -> None:
    lower, upper = [-1.0, -2.0, -3.0, -0.1, -0.2, -0.3], [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]
    found = Pose("a").row_bounds(lower, upper)
    place, turn = (
        Position("a").row_bounds(lower[:3], upper[:3]),
        Orientation("a").row_bounds(lower[3:], upper[3:]),
    )
    for side in range(2):
        assert np.array_equal(found[side], np.concatenate([place[side], turn[side]]))


def test_wrong_numbers() -> None:
    with pytest.raises(ArgumentError, match="pose of 'a': the last row"):
        Pose("a").read(np.ones((4, 4)))
    with pytest.raises(ArgumentError, match="bounds of pose of 'a': expected lower <= upper"):
        Pose("a").row_bounds(1.0, 0.0)
    with pytest.raises(ArgumentError, match="bound of pose of 'a': expected a number or 6 numbers"):
        Pose("a").row_bounds(np.zeros(3), None)
    robot, _, _ = robot_of("iiwa14")
    with pytest.raises(ArgumentError, match="unknown name 'tool'"):
        Pose("tool").check(robot.model)
