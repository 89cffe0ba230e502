"""The joints themselves, by Pinocchio's difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio
import pytest

import robomorph
from robomorph import ArgumentError
from robomorph.tasks import Posture
from tests.oracle.chains import chain
from tests.tasks.checks import check, robot_of, states

Array = npt.NDArray[Any]


@pytest.mark.parametrize("what", ["residual", "bounds"])
@pytest.mark.parametrize("name", ["iiwa14", "atlas"])
def test_all_joints(name: str, what: str) -> None:
    robot, reference, _ = robot_of(name)
    wanted = robot.random_state(3, 4).q

    def rows(q: Array, r: Array) -> Array:
        step = pinocchio.difference(reference.model, reference.configuration(r), reference.configuration(q))
        return np.asarray(reference.chain.T @ step)  # each of their joints is one of ours

    expected = [lambda q, r=r: rows(q, r) for r in wanted]
    check(robot, Posture.of(robot.model), what, states(robot), wanted, expected)


def test_some_joints_of_a_floating_arm_in_the_order_named() -> None:
    robot, _, _ = robot_of("floating panda")
    names = ["panda_joint6", "panda_joint2"]
    task, wanted = Posture.of(robot.model, names), np.array([0.3, -0.2])
    places = [robot.coordinates(name)[0].start for name in names]
    expected = [lambda q: q[places] - wanted] * 4
    check(robot, task, "residual", states(robot), wanted, expected)


def test_joints_that_cannot_be_subtracted_are_refused_by_name() -> None:
    floating, _, _ = robot_of("floating panda")
    base = floating.model.bodies[0].joint_name
    with pytest.raises(ArgumentError, match=f"joint '{base}' of type 'floating'.*SE3.*name the others"):
        Posture.of(floating.model)
    ball = robomorph.load(chain("revolute z", "spherical", "revolute y"))
    with pytest.raises(ArgumentError, match=r"joint 'j1' of type 'spherical'.*SO3.*leave it out"):
        Posture.of(ball.model, ["j0", "j1"])


def test_wrong_names() -> None:
    robot, _, _ = robot_of("panda")
    with pytest.raises(ArgumentError, match=r"posture: unknown joint 'panda_joint8'.*did you mean"):
        Posture.of(robot.model, ["panda_joint8"])
    with pytest.raises(ArgumentError, match="posture: unknown joint 3"):
        Posture.of(robot.model, [3])  # type: ignore[list-item]
    with pytest.raises(ArgumentError, match="at least one joint"):
        Posture.of(robot.model, [])
    follower = next(b.joint_name for b in robot.model.bodies if b.mimic is not None)
    with pytest.raises(ArgumentError, match=f"joint '{follower}' follows another"):
        Posture.of(robot.model, [follower])
    assert Posture.of(robot.model, "panda_joint2").joints == ("panda_joint2",)


def test_another_robots_posture_is_refused() -> None:
    robot, _, _ = robot_of("panda")
    floating, _, _ = robot_of("floating panda")
    with pytest.raises(ArgumentError, match="made for another robot"):
        Posture.of(robot.model, ["panda_joint2"]).check(floating.model)


def test_wrong_numbers() -> None:
    robot, _, _ = robot_of("iiwa14")
    task = Posture.of(robot.model)
    with pytest.raises(ArgumentError, match=r"posture: expected shape \(..., 7\)"):
        task.read(np.zeros(6))
    with pytest.raises(ArgumentError, match="bound of posture: expected a number or 7 numbers"):
        task.row_bounds(np.zeros(6), None)
