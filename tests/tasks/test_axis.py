"""One axis of a frame, by the angle between two directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robomorph import ArgumentError
from robomorph.tasks import Axis
from tests.tasks.checks import ROBOTS, check, over_arrays, robot_of, states

Array = npt.NDArray[Any]
AXIS = np.array([0.6, 0.0, 0.8])


def pointed(direction: Array, rows: Array) -> Array:
    """The rotation vector that the two rows stand for: along the normals that the task chose."""
    u, v, _ = Axis("a", (0, 0, 1)).read(direction).reshape(3, 3)
    return np.asarray(rows[0] * u + rows[1] * v)


@pytest.mark.parametrize("name", ROBOTS)
def test_by_pinocchio(name: str) -> None:
    """Turned back by its rows, the axis points along the direction, and by the shortest way."""
    robot, reference, frame = robot_of(name)
    directions = np.random.default_rng(4).normal(size=(4, 3))
    task = Axis(frame, (3.0, 0.0, 4.0))
    assert np.allclose(task.axis, AXIS)

    def rows(q: Array, d: Array) -> Array:
        u, v, d = task.read(d).reshape(3, 3)
        axis = reference.forward_kinematics(q, frame)[:3, :3] @ AXIS
        turn = np.cross(d, axis)
        sine = np.linalg.norm(turn)
        turn *= np.arctan2(sine, d @ axis) / sine
        return np.array([turn @ u, turn @ v])

    expected = [lambda q, d=d: rows(q, d) for d in directions]
    check(robot, task, "residual", states(robot), directions, expected)


@pytest.mark.parametrize("name", ROBOTS)
def test_the_bound_row_is_the_cosine(name: str) -> None:
    robot, reference, frame = robot_of(name)
    directions = np.random.default_rng(4).normal(size=(4, 3))
    units = directions / np.linalg.norm(directions, axis=-1, keepdims=True)
    expected = [
        lambda q, d=d: np.array([d @ reference.forward_kinematics(q, frame)[:3, :3] @ AXIS]) for d in units
    ]
    check(robot, Axis(frame, (0.6, 0.0, 0.8)), "bounds", states(robot), directions, expected)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 1.0, 3.0, np.pi - 1e-6, np.pi])
def test_rows_at_every_angle(angle: float) -> None:
    robot, reference, frame = robot_of("iiwa14")
    q, task = states(robot, 1), Axis(frame, (0.0, 0.0, 1.0))
    axes = reference.forward_kinematics(q[0], frame)[:3, :3]
    direction = np.cos(angle) * axes[:, 2] + np.sin(angle) * axes[:, 0]
    rows, _ = over_arrays(robot, task, "residual", q, task.read(direction)[None])
    assert np.isclose(np.linalg.norm(rows[0]), angle, rtol=0, atol=1e-9)
    if 0.0 < angle < np.pi:  # about y: from the direction to the axis
        assert np.allclose(pointed(direction, rows[0]), -angle * axes[:, 1], rtol=0, atol=1e-7)


def test_bounds_are_angles() -> None:
    task, rng = Axis("a", (0, 0, 1)), np.random.default_rng(6)
    angle = np.concatenate([np.pi * rng.uniform(size=2000), [0.0, 1e-6, np.pi - 1e-6, np.pi, 0.25, 1.25]])
    for lower, upper in ((None, 0.25), (0.25, 1.25), (2.0, None), (-1.0, np.pi), (0.0, 4.0), (None, 0.0)):
        low, high = task.row_bounds(lower, upper)
        held = (np.cos(angle) >= low) & (np.cos(angle) <= high)
        inside = (angle >= (lower or 0.0)) & (angle <= (4.0 if upper is None else upper))
        edge = np.isclose(angle, lower or 0.0, atol=1e-7) | np.isclose(angle, upper or 0.0, atol=1e-7)
        assert (held == inside)[~edge].all() and inside[held & ~edge].all()
    low, high = task.row_bounds(0.5, 0.5)
    assert low == high == np.cos(0.5)
    assert task.row_bounds(np.zeros((3, 1)), np.ones((3, 1)))[0].shape == (3, 1)


@pytest.mark.parametrize(("lower", "upper"), [(None, -0.1), (3.2, None)])
def test_angles_that_no_axis_has(lower: float | None, upper: float | None) -> None:
    with pytest.raises(ArgumentError, match=r"bounds of axis of 'a': an angle .* from 0 to pi"):
        Axis("a", (0, 0, 1)).row_bounds(lower, upper)


@pytest.mark.parametrize(
    ("axis", "says"),
    [
        ((0, 0, 0), "axis of 'a': expected a direction, found a vector of length zero"),
        (np.eye(3), r"axis of 'a': expected shape \(3,\)"),
        ((0, 1), "axis of 'a': expected shape"),
        ((0, 0, np.inf), "axis of 'a': expected finite"),
    ],
)
def test_wrong_axes(axis: Any, says: str) -> None:
    with pytest.raises(ArgumentError, match=says):
        Axis("a", axis)


def test_wrong_directions() -> None:
    with pytest.raises(ArgumentError, match=r"direction of 'a': .* length zero"):
        Axis("a", (0, 0, 1)).read(np.zeros((2, 3)))
