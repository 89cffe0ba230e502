"""One axis of a frame, by its angles along two normals."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robomorph import ArgumentError
from robomorph.tasks import Axis, Tilt
from tests.tasks.checks import ROBOTS, check, over_arrays, robot_of, states

Array = npt.NDArray[Any]
AXIS = np.array([0.6, 0.0, 0.8])


@pytest.mark.parametrize("name", ROBOTS)
def test_bound_rows_by_pinocchio(name: str) -> None:
    """Sines along the normals of the reference, and the cosine."""
    robot, reference, frame = robot_of(name)
    directions = np.random.default_rng(4).normal(size=(4, 3))
    task = Tilt(frame, (3.0, 0.0, 4.0))

    def rows(q: Array, given: Array) -> Array:
        u, v, d = task.read(given).reshape(3, 3)
        axis = reference.forward_kinematics(q, frame)[:3, :3] @ AXIS
        turn = np.cross(d, axis)  # sine times the axis of the turn
        return np.array([turn @ u, turn @ v, d @ axis])

    expected = [lambda q, d=d: rows(q, d) for d in directions]
    check(robot, task, "bounds", states(robot), directions, expected)


def test_its_residual_is_that_of_an_axis() -> None:
    robot, _, frame = robot_of("iiwa14")
    q, numbers = states(robot), Axis(frame, (0, 0, 1)).read(np.ones((4, 3)))
    found = [over_arrays(robot, kind(frame, (0, 0, 1)), "residual", q, numbers) for kind in (Axis, Tilt)]
    assert all(np.array_equal(a, b) for a, b in zip(*found, strict=True))


@pytest.mark.parametrize("bound", [1e-3, 0.1, 1.0])
def test_rows_within_their_bounds_hold_the_angles(bound: float) -> None:
    """Random turns: whoever is held by the rows is within the caller's bounds, and small ones are held."""
    task, rng = Tilt("a", (0, 0, 1)), np.random.default_rng(3)
    low, high = task.row_bounds(-bound, bound)
    turns = rng.uniform(-2.2, 2.2, (20_000, 2)) * rng.choice([bound, 1.0], (20_000, 1))
    angle = np.linalg.norm(turns, axis=1, keepdims=True)
    turns, angle = turns[angle[:, 0] < np.pi], angle[angle[:, 0] < np.pi]
    rows = np.concatenate([np.sinc(angle / np.pi) * turns, np.cos(angle)], axis=1)
    held = np.asarray(((rows >= low) & (rows <= high)).all(axis=1))
    assert held.any() and (np.abs(turns[held]) <= bound * (1 + 1e-12)).all()
    small = np.asarray((np.abs(turns) <= 0.3 * bound).all(axis=1))
    assert held[small].all()


def test_too_wide() -> None:
    with pytest.raises(ArgumentError, match=r"bounds of tilt of 'a': .* half a turn"):
        Tilt("a", (0, 0, 1)).row_bounds(-3.0, 3.0)
