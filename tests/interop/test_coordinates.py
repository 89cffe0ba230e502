"""Maps between changes of coordinates and tangent vectors, against differences of the robot's own steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.algorithms.configuration import Array
from robomorph.interop.coordinates import (
    bracket_transposed,
    is_flat,
    lift,
    lift_transposed,
    parts_of,
    tangent_of,
    tangent_transposed,
)
from tests.interop.cases import scaled

ROBOT = """<robot name="all"><link name="base"/>{joints}</robot>"""
JOINT = """
<link name="l{n}"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j{n}" type="{kind}"><parent link="{parent}"/><child link="l{n}"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>"""


def robot_of(*kinds: str) -> robomorph.Robot:
    joints = "".join(
        JOINT.format(n=n, kind=kind, parent=f"l{n - 1}" if n else "base") for n, kind in enumerate(kinds)
    )
    return robomorph.load(ROBOT.format(joints=joints))


ROBOTS = {
    "flat": robot_of("revolute", "prismatic", "continuous"),
    "spherical": robot_of("spherical"),
    "planar": robot_of("planar", "revolute"),
    "floating": robot_of("floating"),
    "mixed": robot_of("revolute", "spherical", "prismatic", "revolute", "planar", "floating", "revolute"),
}
STEP = 1e-7


@pytest.fixture(params=ROBOTS)
def robot(request: pytest.FixtureRequest) -> robomorph.Robot:
    return ROBOTS[request.param]


def spread(unit: Array) -> Array:
    return np.broadcast_to(unit, (20, *unit.shape))


def columns(f: Callable[[Array], Any], size: int) -> Array:
    """The matrix of a linear map, (batch, rows, size)."""
    return np.stack([f(unit) for unit in np.eye(size)], axis=-1)


def test_a_change_of_coordinates_is_what_difference_measures(robot: robomorph.Robot) -> None:
    """Also one that changes the length of a quaternion, and starts at another length than one."""
    q = robot.random_state(1, 20).q
    unequal = scaled(robot, q, 1.3)
    found = columns(lambda unit: tangent_of(np, robot.model, unequal, spread(unit)), robot.nq)
    steps = [
        robot.difference(scaled(robot, unequal - STEP * unit), scaled(robot, unequal + STEP * unit))
        for unit in np.eye(robot.nq)
    ]
    np.testing.assert_allclose(found, np.stack(steps, axis=-1) / (2 * STEP), atol=1e-8)


def test_lift_is_the_rate_of_a_step(robot: robomorph.Robot) -> None:
    q = robot.random_state(2, 20).q
    found = columns(lambda unit: lift(np, robot.model, q, spread(unit)), robot.nv)
    steps = [
        robot.integrate(q, spread(STEP * unit)) - robot.integrate(q, spread(-STEP * unit))
        for unit in np.eye(robot.nv)
    ]
    np.testing.assert_allclose(found, np.stack(steps, axis=-1) / (2 * STEP), atol=1e-8)
    back = columns(
        lambda unit: tangent_of(np, robot.model, q, lift(np, robot.model, q, spread(unit))),
        robot.nv,
    )
    np.testing.assert_allclose(back, np.broadcast_to(np.eye(robot.nv), back.shape), atol=1e-14)


@pytest.mark.parametrize(
    "there, back", [(tangent_of, tangent_transposed), (lift, lift_transposed)], ids=["tangent", "lift"]
)
def test_transposes(robot: robomorph.Robot, there: Any, back: Any) -> None:
    rng = np.random.default_rng(3)
    q = robot.random_state(rng, (4, 5)).q
    sizes = (robot.nq, robot.nv) if there is tangent_of else (robot.nv, robot.nq)
    x, y = (rng.normal(size=(4, 5, size)) for size in sizes)
    forward, backward = there(np, robot.model, q, x), back(np, robot.model, q, y)
    assert forward.shape == y.shape and backward.shape == x.shape
    np.testing.assert_allclose(np.sum(forward * y, -1), np.sum(x * backward, -1), rtol=1e-12)


def test_flat_coordinates_pass_as_they_are() -> None:
    robot = ROBOTS["flat"]
    x = np.ones(robot.nv)
    assert is_flat(robot.model) and tangent_of(np, robot.model, x, x) is x
    assert not is_flat(ROBOTS["planar"].model)
    assert len(parts_of(robot.model)) == 1  # joints that simply add are one slice


def test_the_bracket_is_what_orders_of_derivatives_differ_by(robot: robomorph.Robot) -> None:
    """Of coordinates, along `integrate`, by nested differences."""
    rng = np.random.default_rng(5)
    q = robot.random_state(rng).q
    u, v, weight = rng.normal(size=robot.nv), rng.normal(size=robot.nv), rng.normal(size=robot.nq)

    def both(first: Array, second: Array, step: float = 1e-3) -> Any:
        """The derivative along `first` of that along `second`."""
        sides = [
            (a, b, robot.integrate(robot.integrate(q, a * step * first), b * step * second))
            for a in (-1, 1)
            for b in (-1, 1)
        ]
        return sum(a * b * end for a, b, end in sides) @ weight / (4 * step * step)

    gradient = lift_transposed(np, robot.model, q, weight)
    expected = both(v, u) - both(u, v)
    np.testing.assert_allclose(v @ bracket_transposed(np, robot.model, u, gradient), expected, atol=1e-4)
