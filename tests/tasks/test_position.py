"""The origin of a frame, by Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest

from robomorph import ArgumentError
from robomorph.tasks import Position
from tests.tasks.checks import ROBOTS, check, robot_of, states


@pytest.mark.parametrize("what", ["residual", "bounds"])
@pytest.mark.parametrize("name", ROBOTS)
def test_by_pinocchio(name: str, what: str) -> None:
    robot, reference, frame = robot_of(name)
    points = np.random.default_rng(1).normal(size=(4, 3))
    expected = [lambda q, p=p: reference.forward_kinematics(q, frame)[:3, 3] - p for p in points]
    check(robot, Position(frame), what, states(robot), points, expected)


def test_a_frame_that_cannot_move() -> None:
    robot, reference, _ = robot_of("iiwa14")
    base = robot.link_names[0]
    point = reference.forward_kinematics(np.zeros(7), base)[:3, 3]
    check(robot, Position(base), "residual", states(robot), np.zeros(3), [lambda q: point] * 4)


def test_bounds_are_coordinates() -> None:
    low, high = Position("a").row_bounds([0.0, -1.0, -np.inf], 2.0)
    assert low.tolist() == [0.0, -1.0, -np.inf] and high.tolist() == [2.0, 2.0, 2.0]
    low, high = Position("a").row_bounds(None, np.zeros((5, 3)))
    assert low.shape == high.shape == (5, 3) and np.isneginf(low).all()
    low, high = Position("a").row_bounds(np.zeros((5, 1, 3)), np.ones((2, 3)))
    assert low.shape == high.shape == (5, 2, 3)


@pytest.mark.parametrize(
    ("lower", "upper", "says"),
    [
        ([0.0, 0.0], None, "lower bound of position of 'a': expected a number or 3 numbers"),
        (np.nan, None, "lower bound of position of 'a': expected numbers, found NaN"),
        (None, "high", "upper bound"),
        (None, True, "upper bound"),
        ([0.0, 0.0, 2.0], [1.0, 1.0, 1.0], "expected lower <= upper, found 2 and 1"),
        (np.zeros((2, 3)), np.ones((3, 3)), "do not broadcast"),
        (np.inf, None, "a lower bound below infinity"),
        ([np.inf, 0.0, 0.0], [np.inf, 1.0, 1.0], "found one that nothing can hold"),
        (None, [1.0, -np.inf, 1.0], "an upper one above minus infinity"),
    ],
)
def test_wrong_bounds(lower: object, upper: object, says: str) -> None:
    with pytest.raises(ArgumentError, match=says):
        Position("a").row_bounds(lower, upper)


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        (np.zeros(2), r"position of 'a': expected shape \(..., 3\)"),
        ([np.nan, 0, 0], "position of 'a': expected finite"),
        ([1e13, 0, 0], "are they in metres"),
    ],
)
def test_wrong_references(reference: object, says: str) -> None:
    with pytest.raises(ArgumentError, match=says):
        Position("a").read(reference)  # type: ignore[arg-type]


def test_unknown_frames() -> None:
    robot, _, _ = robot_of("iiwa14")
    with pytest.raises(ArgumentError, match="frame: unknown name 'lbr_iiwa_link_8': did you mean"):
        Position("lbr_iiwa_link_8").check(robot.model)
    with pytest.raises(ArgumentError, match="frame: expected the name of a frame, found int 7"):
        Position(7).check(robot.model)  # type: ignore[arg-type]
