"""Robots whose joints have springs, damping and armature of their own, in loops: against formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest

import robomorph
from robomorph import mpc
from robomorph.mpc.kernels.observing import ObserverKernels
from robomorph.tasks import Posture

from .arms import PENDULUM, PENDULUM_INERTIA, PENDULUM_MOMENT, SLIDE
from .test_plants import PLANTS, Make

_SPRING, _REST, _ARMATURE = 30.0, 0.4, 0.2


def sprung() -> robomorph.Robot:
    springs = {"swing": (_SPRING, _REST)}
    return robomorph.load(PENDULUM, passive=True, stiffness=springs, armature=_ARMATURE, damping=0.5)


def held(q: float) -> float:
    """N m that hold it at rest."""
    return PENDULUM_MOMENT * math.sin(q) + _SPRING * (q - _REST)


def problem_of(robot: robomorph.Robot) -> mpc.Problem:
    problem = mpc.Problem(robot, horizon=20, dt=0.02)
    problem.cost(Posture.of(robot.model), 10.0, name="goal").terminal(
        Posture.of(robot.model), 1e3, name="goal"
    )
    problem.cost(mpc.Velocity(), 0.1).terminal(mpc.Velocity(), 10.0)
    return problem.cost(mpc.Effort(), 1e-3, "gravity")


@pytest.mark.parametrize("make", PLANTS)
def test_friction_of_a_plant_comes_on_top_of_the_robots_own_damping(make: Make) -> None:
    """4 kg on a rail, slowed down by 3 + 2 N s/m."""
    plant = make(robomorph.load(SLIDE, damping=3.0, passive=True), friction=mpc.Friction(viscous=2.0))
    plant.reset([0.0], [1.0])
    plant.advance(np.zeros(1), 0.5)
    assert plant.qd[0] == pytest.approx(math.exp(-5.0 / 4.0 * 0.5), rel=1e-3)


@pytest.mark.parametrize("goal", [0.7, -0.2])
def test_efforts_are_measured_from_what_holds_the_robot_against_its_springs(goal: float) -> None:
    controller = mpc.Controller(problem_of(sprung()))
    answer = controller.step([goal], [0.0], reference={"goal": [goal]})
    assert answer.tau[0] == pytest.approx(held(goal), rel=1e-6)
    assert answer.cost == pytest.approx(0.0, abs=1e-9)  # at rest where it is to be, nothing is left to pay


def test_an_observer_takes_no_spring_for_a_momentum() -> None:
    robot = sprung()
    kernels = ObserverKernels(robot, "rod")
    for q in (-1.0, 0.4, 2.0):
        momentum = kernels.correct(np.array([q]), np.array([3.0]), np.zeros(1))
        assert momentum[0] == pytest.approx(3.0 * (PENDULUM_INERTIA + _ARMATURE))


@pytest.mark.parametrize("make", PLANTS)
def test_a_loop_learns_nothing_where_the_plant_is_the_model(make: Make) -> None:
    robot = sprung()
    controller = mpc.Controller(problem_of(robot), iterations=1, period=5e-3)
    loop = mpc.simulate(controller, make(robot), seconds=1.0, start=np.zeros(1), reference=np.array([0.7]))
    assert loop.left < 1e-2
    assert loop.tau[-1, 0] == pytest.approx(held(0.7), abs=0.5)
