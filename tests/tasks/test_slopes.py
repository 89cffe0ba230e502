"""Exact Jacobians of rows that turn: by Pinocchio's Jlog3, by differences, and finite everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio
import pytest

from robomorph import ArgumentError
from robomorph.tasks import Axis, CenterOfMass, Orientation, Pose, Position, Posture, Task, Tilt
from robomorph.tasks.kinds import DIRECTION, direction_rows, rotation_rows
from robomorph.tasks.slopes import direction_slopes, rotation_slopes
from tests.oracle.finite_differences import by_configuration
from tests.tasks.checks import ROBOTS, check, over_arrays, robot_of, rotations, states

Array = npt.NDArray[Any]
ANGLES = [0.0, 1e-9, 1e-7, 1e-4, 9.99e-4, 1.001e-3, 0.01, 0.3, 1.0, 1.57, 2.3, 2.4, 3.0, np.pi - 1e-6, np.pi]
AXES = np.concatenate([np.eye(3), -np.eye(3), [[0.6, 0.8, 0.0]], [[-0.6, 0.64, 0.48]]])


@pytest.mark.parametrize("angle", ANGLES)
def test_the_logarithm_of_a_rotation(angle: float) -> None:
    """Turned by w in the world's axes E becomes Exp(w) E = E Exp(E^T w)."""
    for axis in AXES:
        e = pinocchio.exp3(angle * axis)
        rows = rotation_rows(list(e.ravel()))
        found: Array = np.array(rotation_slopes(list(e.ravel()), rows, [list(row) for row in np.eye(3)]))
        assert np.isfinite(found).all()
        if angle < np.pi:
            expected = pinocchio.Jlog3(e) @ e.T
            # Pinocchio's own is off by 3e-11 at 1e-3 rad, where its series begins, and near half a turn.
            assert np.allclose(found, expected, rtol=0, atol=1e-10 if angle < 3.0 else 1e-7)
        r = np.array(rows)
        assert np.allclose(found.T @ r, r, rtol=0, atol=1e-14)  # right along the rows themselves


@pytest.mark.parametrize("angle", ANGLES)
def test_the_angles_of_a_direction(angle: float) -> None:
    """By differences of the rows on the sphere; at zero they are the identity, half a turn away finite."""
    u, v, d = np.eye(3)
    for phase in (0.0, 0.4, 2.0, -2.5):
        error = angle * np.array([np.cos(phase), np.sin(phase), 0.0])
        axis = pinocchio.exp3(error) @ d

        def raw(axis: Array) -> list[Any]:
            return [axis @ d, -axis @ v, axis @ u]

        found: Array = np.array(direction_slopes(raw(axis), [list(row) for row in np.eye(3)]))
        assert np.isfinite(found).all()
        rows = np.array(direction_rows(raw(axis)))
        assert np.allclose(found.T @ rows, [*rows, 0.0], rtol=0, atol=1e-11) or angle > np.pi - 1e-9
        if angle < np.pi - 2e-3:
            step = 1e-6
            turned = [[pinocchio.exp3(s * step * w) @ axis for s in (1, -1)] for w in np.eye(3)]
            ahead, behind = (np.array([direction_rows(raw(p[k])) for p in turned]) for k in (0, 1))
            slope = (ahead - behind) / (2 * step)
            assert np.allclose(found, slope.T, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("own_axes", [False, True])
def test_orientation(name: str, own_axes: bool) -> None:
    robot, reference, frame = robot_of(name)

    def error(q: Array, wanted: Array) -> Array:
        turn = reference.forward_kinematics(q, frame)[:3, :3]
        return np.asarray(pinocchio.log3(wanted.T @ turn if own_axes else turn @ wanted.T))

    turns = rotations(4)
    expected = [lambda q, r=r: error(q, r) for r in turns]
    check(robot, Orientation(frame, own_axes), "exact", states(robot), turns, expected)


@pytest.mark.parametrize("kind", [Axis, Tilt])
def test_axis(kind: type[Axis]) -> None:
    robot, reference, frame = robot_of("iiwa14")
    directions = np.random.default_rng(9).normal(size=(4, 3))
    task = kind(frame, (3.0, 0.0, 4.0))

    def rows(q: Array, d: Array) -> Array:
        u, v, d = task.read(d).reshape(3, 3)
        axis = reference.forward_kinematics(q, frame)[:3, :3] @ np.array([0.6, 0.0, 0.8])
        turn = np.cross(d, axis)
        sine = np.linalg.norm(turn)
        turn *= np.arctan2(sine, d @ axis) / sine
        return np.array([turn @ u, turn @ v])

    expected = [lambda q, d=d: rows(q, d) for d in directions]
    check(robot, task, "exact", states(robot), directions, expected)


def test_what_does_not_turn_is_exact_as_it_is() -> None:
    robot, _, frame = robot_of("iiwa14")
    q = states(robot)
    for task, given in (
        (Position(frame), [0.1, 0.2, 0.3]),
        (CenterOfMass(), [0.1, 0.2, 0.3]),
        (Posture.of(robot.model), np.arange(7.0)),
    ):
        numbers = np.broadcast_to(task.read(given), (len(q), task.size.reference))
        plain, exact = (over_arrays(robot, task, what, q, numbers) for what in ("residual", "exact"))
        assert all(np.array_equal(a, b) for a, b in zip(plain, exact, strict=True))


def test_a_pose_stacks_its_parts() -> None:
    robot, _, frame = robot_of("iiwa14")
    q, task, wanted = states(robot), Pose(frame), np.eye(4)
    numbers = np.broadcast_to(task.read(wanted), (len(q), 12))
    rows, jacobian = over_arrays(robot, task, "exact", q, numbers)

    def again(x: Array) -> Array:
        return over_arrays(robot, task, "exact", x, numbers[:1])[0]

    for k in range(len(q)):
        assert np.allclose(jacobian[k], by_configuration(robot, again, q[k]), rtol=0, atol=1e-8)
    assert rows.shape == (len(q), 6)


def test_a_task_of_the_callers_that_turns_in_its_own_way_is_refused() -> None:
    class Pointing(Axis):
        name = "pointing"
        kind = DIRECTION
        exact_rows = Task.exact_rows

    robot, _, frame = robot_of("iiwa14")
    task = Pointing(frame, (0.0, 0.0, 1.0))
    with pytest.raises(ArgumentError, match="Pointing has no exact Jacobian"):
        over_arrays(robot, task, "exact", states(robot), task.read([0.0, 0.0, 1.0])[None])
