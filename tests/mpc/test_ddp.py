"""Torques as controls: plans against Pinocchio's steps, optima against the other form and least squares."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import least_squares

import robomorph
from robomorph import ArgumentError, Robot
from robomorph.mpc import Acceleration, Controller, Effort, Jerk, Problem, Result, Velocity
from robomorph.tasks import Position, Posture
from tests.ik import arms
from tests.mpc.rollouts import roll
from tests.oracle.chains import chain
from tests.oracle.reference import Reference, build

Array = npt.NDArray[np.float64]
INTEGRATORS = ("euler", "midpoint", "rk4")
SMALL = chain("revolute z", "revolute y", "prismatic x")


@cache
def small() -> tuple[Robot, Reference]:
    return robomorph.load(SMALL), Reference(robomorph.load(SMALL), build(SMALL))


def arm(name: str) -> tuple[Robot, Reference]:
    return small() if name == "small" else arms.arm(name)


def reach(robot: Robot, goal: Array, horizon: int = 20, dt: float = 0.02) -> Problem:
    """To a posture."""
    posture = Posture.of(robot.model)
    problem = Problem(robot, horizon, dt).cost(posture, 10.0, goal).cost(Velocity(), 0.1)
    problem.cost(Effort(), 1e-3, "gravity").cost(Acceleration(), 1e-4)
    return problem.terminal(posture, 1000.0, goal).terminal(Velocity(), 10.0)


def state(robot: Robot, seed: int = 0) -> tuple[Array, Array, Array]:
    """q, qd and a goal, all within limits."""
    rng = np.random.default_rng(seed)
    low = np.maximum(robot.limits.lower, -2.0)
    high = np.minimum(robot.limits.upper, 2.0)
    q, goal = (rng.uniform(0.7 * low, 0.7 * high) for _ in range(2))
    return q, 0.3 * rng.normal(size=robot.nv), goal


def optimum(controller: Controller, q: Array, qd: Array) -> Result:
    """Steps from the same state, each going on where the last one stopped."""
    for _ in range(5):
        result = controller.step(q, qd, elapsed=0.0)
    return result


def check_motion(reference: Reference, integrator: str, dt: float, q: Array, qd: Array, result: Any) -> None:
    """The plan is what its torques do."""
    qs, vs, accelerations = roll(reference, integrator, dt, q, qd, result.torques)
    assert np.allclose(result.q, qs, rtol=0, atol=1e-8)
    assert np.allclose(result.qd, vs, rtol=0, atol=1e-7)
    assert np.allclose(result.qdd, accelerations, rtol=1e-7, atol=1e-6)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", ["small", "iiwa14"])
def test_plans_are_what_their_torques_do(name: str, integrator: str) -> None:
    robot, reference = arm(name)
    q, qd, goal = state(robot)
    controller = Controller(reach(robot, goal), method="ddp", integrator=integrator)
    result = controller.step(q, qd)
    assert result.converged
    assert result.reason == "solved"
    check_motion(reference, integrator, 0.02, q, qd, result)
    assert np.array_equal(result.q[0], q)
    assert np.array_equal(result.tau, result.torques[0])


@pytest.mark.parametrize("limited", [False, True])
def test_with_eulers_method_both_forms_have_the_same_optimum(limited: bool) -> None:
    robot, _ = arm("iiwa14")
    q, qd, goal = state(robot, 1)
    problem = reach(robot, goal)
    if limited:
        free = Controller(problem).step(q, qd)
        problem.limits(torque=list(0.8 * np.abs(free.torques).max(axis=0) + 1.0))
    inverse, forward = (optimum(Controller(problem, method=method), q, qd) for method in ("id", "ddp"))
    assert inverse.converged
    assert forward.converged
    tolerance = 1e-6 if limited else 1e-8  # the interior point stops at a small barrier
    assert abs(forward.cost - inverse.cost) <= tolerance * inverse.cost
    assert np.abs(forward.q - inverse.q).max() < 1e-4
    if not limited:
        assert np.abs(forward.gains - inverse.gains).max() < 1e-3 * np.abs(inverse.gains).max()


@pytest.mark.parametrize("integrator", ["midpoint", "rk4"])
def test_other_integrators_optima_are_those_of_least_squares(integrator: str) -> None:
    """All torques at once, by SciPy, over Pinocchio's rollouts."""
    robot, reference = arm("small")
    q, qd, goal = state(robot, 2)
    horizon, dt = 5, 0.1
    result = optimum(Controller(reach(robot, goal, horizon, dt), method="ddp", integrator=integrator), q, qd)
    hold = reference.gravity_torque(goal)

    def residuals(x: Array) -> Array:
        torques = x.reshape(horizon, robot.nv)
        qs, vs, accelerations = roll(reference, integrator, dt, q, qd, torques)
        parts = [
            np.sqrt(dt * 10.0) * (qs[:-1] - goal),
            np.sqrt(dt * 0.1) * vs[:-1],
            np.sqrt(dt * 1e-3) * (torques - hold),
            np.sqrt(dt * 1e-4) * accelerations,
            np.sqrt(1000.0) * (qs[-1] - goal),
            np.sqrt(10.0) * vs[-1],
        ]
        return np.concatenate([part.ravel() for part in parts])

    assert result.cost == pytest.approx(0.5 * float(np.sum(residuals(result.torques.ravel()) ** 2)), rel=1e-9)
    start = np.tile(hold, (horizon, 1)).ravel()
    best = least_squares(residuals, start, xtol=1e-14, ftol=1e-14, gtol=1e-12)
    assert result.cost == pytest.approx(best.cost, rel=1e-8)
    assert np.allclose(result.torques.ravel(), best.x, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_limits_and_bounds_of_tasks_hold(integrator: str) -> None:
    robot, reference = arm("iiwa14")
    q, qd, goal = state(robot, 3)
    dt, tool = 0.02, Position("lbr_iiwa_link_7")
    free = Controller(reach(robot, goal, 30, dt), method="ddp", integrator=integrator).step(q, 0.0 * qd)
    heights = np.array([robot.forward_kinematics(x, "lbr_iiwa_link_7")[2, 3] for x in free.q])
    ceiling = float(heights.min() + 0.9 * (heights.max() - heights.min()))
    torque = 0.9 * np.abs(free.torques).max(axis=0) + 1.0
    speed = 0.7 * np.abs(free.qd).max(axis=0)
    problem = reach(robot, goal, 30, dt).limits(torque=list(torque), velocity=list(speed), position=True)
    problem.bound(tool, [-2.0, -2.0, -2.0], [2.0, 2.0, max(ceiling, heights[0] + 1e-3)])
    result = Controller(problem, method="ddp", integrator=integrator, cap=300).step(q, 0.0 * qd)
    assert result.success, result.reason
    check_motion(reference, integrator, dt, q, 0.0 * qd, result)
    scale = 1e-6
    assert (np.abs(result.torques) <= torque + 2 * scale * torque).all()
    assert (np.abs(result.qd[1:]) <= speed + 2 * scale * speed).all()
    assert result.cost > free.cost
    assert (np.abs(result.qd).max(axis=0) >= 0.99 * speed).any()  # and they bind


def test_steps_of_one_iteration_follow_the_state() -> None:
    """Closed loop against Pinocchio as the plant, with a push."""
    robot, reference = arm("iiwa14")
    q, _, goal = state(robot, 4)
    goal = q + 0.3 * (goal - q)
    for integrator in INTEGRATORS:
        at, v = q, np.zeros(robot.nv)
        controller = Controller(reach(robot, goal), 1, method="ddp", integrator=integrator)
        for tick in range(60):
            result = controller.step(at, v)
            assert result.success
            check_motion(reference, integrator, 0.02, at, v, result)
            at, v = (x[-1] for x in roll(reference, "rk4", 0.005, at, v, np.tile(result.tau, (4, 1)))[:2])
            if tick == 5:
                v = v + 0.3
        assert np.abs(at - goal).max() < 5e-3


def test_batches_are_their_problems_one_by_one() -> None:
    robot, _ = arm("small")
    states = [state(robot, seed) for seed in range(3)]
    problem = reach(robot, states[0][2])
    controller = Controller(problem, method="ddp", integrator="rk4", threads=2)
    together = controller.step(np.array([s[0] for s in states]), np.array([s[1] for s in states]))
    for b, (q, qd, _) in enumerate(states):
        alone = Controller(problem, method="ddp", integrator="rk4").step(q, qd)
        assert np.array_equal(together.torques[b], alone.torques)


def test_the_trace_has_the_cost_of_every_iteration() -> None:
    robot, _ = arm("iiwa14")
    q, qd, goal = state(robot, 5)
    controller = Controller(reach(robot, goal), method="ddp")
    assert controller.trace.shape == (0,)
    result = controller.step(q, qd)
    trace = controller.trace
    assert trace.shape == (result.iterations + 1,)
    assert trace[-1] == pytest.approx(result.cost, rel=1e-12)
    assert (np.diff(trace) <= 1e-12 * trace[0]).all()  # without limits every step is for the better


def test_what_it_cannot_do_is_refused_by_name() -> None:
    robot, _ = arm("small")
    problem = reach(robot, np.zeros(robot.nv))
    with pytest.raises(ArgumentError, match="integrator: method 'id' has euler, found 'rk4'"):
        Controller(problem, integrator="rk4")
    with pytest.raises(ArgumentError, match="has euler, midpoint, rk4, found 'heun'"):
        Controller(problem, method="ddp", integrator="heun")
    with pytest.raises(ArgumentError, match="method 'ddp': a cost on jerk"):
        Controller(problem.cost(Jerk(), 1e-6), method="ddp")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_numbers_are_told(bad: float) -> None:
    robot, _ = arm("small")
    q, qd, goal = state(robot)
    controller = Controller(reach(robot, goal), method="ddp", integrator="rk4")
    with pytest.raises(ArgumentError, match="finite"):
        controller.step(q, qd + bad)
    # What overflows on the way is no crash, and no plan that calls itself good.
    wild = controller.step(q, np.full(robot.nv, 1e5))
    assert not wild.success or np.isfinite(wild.torques).all()
    assert controller.step(q, qd).converged  # and it is forgotten
