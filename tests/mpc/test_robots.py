"""Other robots than an arm: sliding joints, joints that follow others, trees; horizons of one and two
steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robomorph.mpc import Acceleration, Controller, Effort, Problem, Velocity
from robomorph.tasks import Position, Posture
from tests.ik.arms import arm
from tests.mpc.cases import TOOL, Case, check_plan, reach
from tests.mpc.oracle import Limit, Oracle, Term


def reach_of(name: str, horizon: int, dt: float = 0.02) -> Case:
    robot, reference = arm(name)
    rng, nv = np.random.default_rng(4), robot.nv
    q, _ = robot.random_state(3)
    goal = q + 0.02 * rng.normal(size=nv)
    qd = 0.01 * rng.normal(size=nv)
    problem, oracle = Problem(robot, horizon, dt), Oracle(reference, horizon, dt)
    problem.cost(Posture.of(robot.model), 10.0, goal).terminal(Posture.of(robot.model), 100.0)
    problem.cost(Velocity(), 0.1).cost(Effort(), 1e-3, "gravity").cost(Acceleration(), 1e-4)
    oracle.terms += [
        Term(oracle.posture(goal), 10.0, 100.0),
        Term(oracle.velocity(), 0.1),
        Term(oracle.effort(reference.gravity_torque(goal)), 1e-3),
        Term(oracle.acceleration(), 1e-4),
    ]
    return Case(problem, oracle, q, qd)


def check(case: Case, result: Any) -> None:
    assert result.success and result.converged
    check_plan(case, result)
    best = case.oracle.solve(case.q, case.qd, result.qdd)
    assert result.cost <= case.oracle.cost(case.q, case.qd, best) * (1 + 1e-6)


@pytest.mark.parametrize("name", ["panda", "hyq", "z1"])
def test_robots(name: str) -> None:
    case = reach_of(name, 6)
    check(case, Controller(case.problem).step(case.q, case.qd))


@pytest.mark.parametrize("name", ["panda", "hyq"])
def test_limits_of_robots(name: str) -> None:
    case = reach_of(name, 5)
    free = Controller(case.problem).step(case.q, case.qd)
    most = np.maximum(0.9 * np.abs(free.qd).max(0), np.abs(case.qd) + 1e-4)
    case.problem.limits(velocity=most)
    case.oracle.limits.append(Limit(case.oracle.velocity(), -most, most))
    found = Controller(case.problem).step(case.q, case.qd)
    assert found.success and found.converged
    check_plan(case, found)
    assert case.oracle.violation(case.q, case.qd, found.qdd) < 1e-6 and found.cost >= free.cost * (1 - 1e-6)


@pytest.mark.slow
def test_a_humanoid_on_its_feet() -> None:
    case = reach_of("atlas", 4)
    check(case, Controller(case.problem).step(case.q, case.qd))


@pytest.mark.parametrize("horizon", [1, 2, 7, 8, 9])
@pytest.mark.parametrize("batch", [False, True])
def test_short_horizons(horizon: int, batch: bool) -> None:
    """Whatever is left over of groups of eight nodes or problems."""
    case = reach(horizon, 0.02)
    case.problem.limits(torque=[1e4] * 7, velocity=[100.0] * 7, position=True)  # far away
    case.problem.bound(Position(TOOL), -2.0, 2.0)
    q = np.stack([case.q] * 9) if batch else case.q
    found = Controller(case.problem).step(q, case.qd)
    for b in range(9) if batch else [()]:
        check_plan(case, found, b)
    best = case.oracle.solve(case.q, case.qd, np.zeros_like(found.qdd[0] if batch else found.qdd))
    assert np.all(np.abs(found.cost / case.oracle.cost(case.q, case.qd, best) - 1.0) < 1e-5)
