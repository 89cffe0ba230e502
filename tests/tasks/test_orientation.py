"""The axes of a frame, by Pinocchio's logarithm; bounds that hold whatever the rotation."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio
import pytest

from robomorph import ArgumentError
from robomorph.tasks import Orientation
from tests.tasks.checks import ROBOTS, check, over_arrays, robot_of, rotations, states

Array = npt.NDArray[Any]


@pytest.mark.parametrize("own_axes", [False, True])
@pytest.mark.parametrize("name", ROBOTS)
def test_by_pinocchio(name: str, own_axes: bool) -> None:
    robot, reference, frame = robot_of(name)

    def error(q: Array, wanted: Array) -> Array:
        turn = reference.forward_kinematics(q, frame)[:3, :3]
        return np.asarray(pinocchio.log3(wanted.T @ turn if own_axes else turn @ wanted.T))

    turns = rotations(4)
    expected = [lambda q, r=r: error(q, r) for r in turns]
    check(robot, Orientation(frame, own_axes), "residual", states(robot), turns, expected)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-6, 0.1, 2.3, 2.4, 3.0, np.pi - 1e-4, np.pi - 1e-7])
def test_rows_at_every_angle(angle: float) -> None:
    """Any axis, from no turn at all to nearly half a turn, where the sine says nothing."""
    robot, reference, frame = robot_of("iiwa14")
    q = states(robot, 8)
    axes = np.concatenate([np.eye(3), -np.eye(3), [[0.6, 0.8, 0.0]], [[-0.6, 0.64, 0.48]]])
    here = np.stack([reference.forward_kinematics(x, frame)[:3, :3] for x in q])
    wanted = np.stack([r @ pinocchio.exp3(angle * a).T for r, a in zip(here, axes, strict=True)])
    task = Orientation(frame, own_axes=True)
    rows, _ = over_arrays(robot, task, "residual", q, task.read(wanted))
    assert np.allclose(rows, angle * axes, rtol=0, atol=1e-12 + 1e-8 * (angle > 3.0))


@pytest.mark.parametrize("name", ROBOTS)
def test_bound_rows(name: str) -> None:
    """Half the antisymmetric part of Rt^T R, and the cosine of the angle."""
    robot, reference, frame = robot_of(name)

    def rows(q: Array, wanted: Array) -> Array:
        e = pinocchio.log3(wanted.T @ reference.forward_kinematics(q, frame)[:3, :3])
        angle = np.linalg.norm(e)
        return np.array([*(np.sin(angle) / angle * e), np.cos(angle)])

    turns = rotations(4)
    expected = [lambda q, r=r: rows(q, r) for r in turns]
    check(robot, Orientation(frame), "bounds", states(robot), turns, expected)


def bound_values(e: Array) -> Array:
    """The bound rows of rotations with the rotation vectors e (n, 3), through a robot's frame."""
    robot, _, frame = robot_of("iiwa14")
    task, q = Orientation(frame), states(robot, len(e))
    here = robot.forward_kinematics(q, frame)[:, :3, :3]
    wanted = np.stack([r @ pinocchio.exp3(v).T for r, v in zip(here, e, strict=True)])
    return over_arrays(robot, task, "bounds", q, task.read(wanted))[0]


def vectors(count: int, rng: np.random.Generator) -> Array:
    """Rotation vectors of all lengths up to pi, many of them close to it or to zero."""
    axis = rng.normal(size=(count, 3))
    axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
    angle = np.concatenate(
        [np.pi * rng.uniform(size=count // 2), np.pi - 10.0 ** rng.uniform(-9, 0, count // 4)]
    )
    return np.asarray(axis * np.concatenate([angle, 10.0 ** rng.uniform(-6, 0, count - len(angle))])[:, None])


BOUNDS = [
    ([-0.1, -0.1, -0.1], [0.1, 0.1, 0.1]),
    ([-0.5, -1.0, -0.01], [0.2, 0.3, 0.02]),
    ([0.0, -0.3, -0.3], [0.5, 0.0, 0.3]),
    ([-1.5, -1.5, -1.5], [1.5, 1.5, 1.5]),
    ([-1.0, -2.8, -0.5], [1.0, 2.8, 0.5]),
    ([0.2, -0.3, -0.1], [0.6, 0.3, 0.1]),
    ([-0.6, -0.3, -0.1], [-0.2, 0.3, 0.1]),
]


@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
def test_rows_inside_their_bounds_hold_the_angles(lower: list[float], upper: list[float]) -> None:
    rng = np.random.default_rng(3)
    low, high = np.array(lower), np.array(upper)
    # All over, and around the box, where it is decided.
    e = np.concatenate([vectors(4000, rng), rng.uniform(1.3 * low - 0.05, 1.3 * high + 0.05, (4000, 3))])
    e = e[np.linalg.norm(e, axis=-1) < np.pi]
    values, (least, most) = bound_values(e), Orientation("a").row_bounds(lower, upper)
    held = np.all((values >= least) & (values <= most), axis=-1)
    assert held.sum() > 100
    inside: Array = np.all((e >= low - 1e-9) & (e <= high + 1e-9), axis=-1)
    assert inside[held].all()
    # No more is lost than is said: what is inside the box drawn in by sin(A) / A is held.
    largest = np.linalg.norm(np.maximum(np.abs(low), np.abs(high)))
    shrink = np.sin(largest) / largest
    if (low <= 0).all() and (high >= 0).all():
        tight = ((e > shrink * low) & (e < shrink * high)).all(axis=-1)
        assert tight.any() and held[tight].all()


def test_no_play_at_all() -> None:
    """Bounds of zero: held by the reference itself and not by half a turn, whose sines vanish too."""
    least, most = Orientation("a").row_bounds(0.0, 0.0)
    values = bound_values(np.array([[0.0, 0.0, 0.0], [np.pi, 0.0, 0.0], [0.0, 1e-3, 0.0]]))
    assert ((values >= least - 1e-12) & (values <= most + 1e-12)).all(axis=-1).tolist() == [
        True,
        False,
        False,
    ]


def test_batches_of_bounds() -> None:
    low, high = Orientation("a").row_bounds(-0.1 * np.ones((2, 1, 3)), 0.2 * np.ones((5, 3)))
    one = Orientation("a").row_bounds(-0.1, 0.2)
    assert low.shape == high.shape == (2, 5, 4)
    assert (low == one[0]).all() and (high == one[1]).all()


@pytest.mark.parametrize(
    ("lower", "upper", "says"),
    [
        (-2.0, 2.0, "together stay below half a turn .* found up to 3.4641"),
        (None, 0.1, "bound an axis task instead"),
        ([0.3, 0.0, 0.0], [0.3, 0.1, 0.1], "too narrow so far from zero"),
    ],
)
def test_wrong_bounds(lower: object, upper: object, says: str) -> None:
    with pytest.raises(ArgumentError, match=f"bounds of orientation of 'a': .*{says}"):
        Orientation("a").row_bounds(lower, upper)


def test_a_reference_that_is_no_rotation() -> None:
    with pytest.raises(ArgumentError, match="orientation of 'a': expected a rotation matrix"):
        Orientation("a").read(np.diag([1.0, 1.2, 1.0]))
