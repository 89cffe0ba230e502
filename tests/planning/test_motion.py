"""Motions that are found, by both solvers: ends, windows, instants, periods, durations, guesses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robomorph.planning import Motion, Plan
from robomorph.tasks import CenterOfMass, Position, Posture
from tests.planning.motions import FRAME, arm

SOLVERS = ("native", "ipopt")
Q0 = np.array([0.5, 0.6, 0.0, -1.2, 0.0, 0.8, 0.0])
Q1 = np.array([-0.5, 0.9, 0.3, -0.8, 0.2, 0.4, 0.5])


def held(plan: Plan) -> Plan:
    assert plan.success, plan.reason
    assert all(v.scaled > -1e-6 for v in plan.violations(2000))
    return plan


@pytest.mark.parametrize("solver", SOLVERS)
def test_from_rest_to_rest(solver: str) -> None:
    plan = held(Motion(arm(), 2.0, 8, start=Q0, end=Q1).limits(torque=True).solve(solver=solver))
    assert np.allclose(plan.q([0.0, 2.0]), [Q0, Q1], atol=1e-12)
    assert np.allclose([plan.qd([0.0, 2.0]), plan.qdd([0.0, 2.0])], 0.0, atol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_moving_ends(solver: str) -> None:
    """A motion that goes on from the middle of another."""
    first = held(Motion(arm(), 2.0, 8, start=Q0, end=Q1).limits().solve(solver=solver))
    state = first.state(0.9)
    plan = held(Motion(arm(), 1.5, 8, start=state, end=Q0).limits().solve(solver=solver))
    assert np.allclose(plan.state(0.0), state, rtol=0, atol=1e-9)


def test_both_solvers_find_the_same() -> None:
    motion = Motion(arm(), 2.0, 8, start=Q0, end=Q1).limits(torque=0.5)
    motion.keep(Position(FRAME), (-2, -2, 0.45), 2, during=(0.5, 1.5))
    native, ipopt = (held(motion.solve(solver=solver)).cost for solver in SOLVERS)
    assert np.isclose(native, ipopt, rtol=1e-3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_window_and_an_instant(solver: str) -> None:
    motion = Motion(arm(), 2.0, 10, start=Q0, end=Q1).limits()
    middle = arm().forward_kinematics((Q0 + Q1) / 2, FRAME)[:3, 3] + [0.0, 0.0, 0.1]
    motion.keep(Position(FRAME), -1e-3, 1e-3, middle, during=(0.93, 1.11))
    motion.keep(Position(FRAME), -1e-4, 1e-4, middle - [0.0, 0.0, 0.05], during=1.5)
    plan = held(motion.solve(solver=solver))
    found = arm().forward_kinematics(plan.q(np.linspace(0.93, 1.11, 50)), FRAME)[:, :3, 3]
    assert np.abs(found - middle).max() < 1.001e-3
    at = arm().forward_kinematics(plan.q(1.5), FRAME)[:3, 3]
    assert np.abs(at - middle + [0.0, 0.0, 0.05]).max() < 1.1e-4


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_period(solver: str) -> None:
    motion = Motion(arm(), 2.0, 9, periodic=True).limits()
    low = arm().center_of_mass(Q0)
    motion.keep(CenterOfMass(), [-np.inf, low[1] + 0.05, -np.inf], None, during=(0.4, 0.6))
    motion.keep(CenterOfMass(), None, [np.inf, low[1] - 0.05, np.inf], during=(1.4, 1.6))
    plan = held(motion.solve(solver=solver, guess=np.tile(Q0, (12, 1))))
    assert np.allclose(plan.state(0.0), plan.state(2.0), rtol=0, atol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_as_fast_as_torque_allows(solver: str) -> None:
    motion = Motion(arm(), (0.3, 5.0), 12, start=Q0, end=Q1).limits(velocity=None, torque=0.25)
    plan = held(motion.solve({"time": 1.0, "jerk": 1e-8}, solver=solver))
    share = np.abs(plan.tau(np.linspace(0, plan.seconds, 500))) / arm().limits.effort
    assert 0.24 < share.max() <= 0.25 * (1 + 1e-9)
    slower = held(motion.solve("jerk", solver=solver))
    assert slower.seconds > 4.9 and plan.seconds < 2.0


@pytest.mark.parametrize("solver", SOLVERS)
def test_less_energy(solver: str) -> None:
    motion = Motion(arm(), 2.0, 8, start=Q0, end=Q1).limits()
    jerk, energy = (
        held(motion.solve(cost, solver=solver)) for cost in ("jerk", {"energy": 1.0, "jerk": 1e-6})
    )
    t = np.linspace(0, 2, 400)
    spent = [float(((p.tau(t) / arm().limits.effort) ** 2).mean()) for p in (jerk, energy)]
    assert spent[1] < 0.99 * spent[0]


def test_posture_rows_are_exact() -> None:
    names = arm().velocity_names[:2]
    motion = Motion(arm(), 2.0, 8, start=Q0, end=Q1)
    motion.keep(Posture.of(arm().model, names), -0.2, 0.2, Q1[:2], during=(1.0, 1.5))
    motion.keep(Posture.of(arm().model, names), -1.1, 1.1, rate=1)
    plan = held(motion.solve())
    assert np.abs(plan.q(np.linspace(1.0, 1.5, 99))[:, :2] - Q1[:2]).max() <= 0.2 + 1e-9


def test_a_guess_and_a_callback() -> None:
    motion = Motion(arm(), 2.0, 8, start=Q0, end=Q1).limits(torque=0.5)
    first = held(motion.solve())
    again = held(motion.solve(guess=first))
    assert np.isclose(first.cost, again.cost, rtol=1e-5)
    seen: list[Any] = []

    def watch(state: Any) -> bool:
        seen.append(state)
        return len(seen) < 3

    stopped = motion.solve(callback=watch)
    assert not stopped.success and "stopped by the callback" in stopped.reason and len(seen) == 3


def test_several_starts() -> None:
    """No worse than one, the same on any number of threads, and other answers are distinct."""
    motion = Motion(arm(), 2.0, 8, start=Q0, end=Q1).limits(torque=0.5)
    first, second = (held(motion.solve(starts=4, threads=threads)) for threads in (1, 2))
    assert first.cost <= held(motion.solve()).cost * (1 + 1e-6)
    assert np.array_equal(first.control, second.control) and len(first.others) == len(second.others)
    for other in first.others:
        assert np.abs(held(other).control - first.control).max() > 1e-3 and other.cost >= first.cost


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_same_twice(solver: str) -> None:
    motion = Motion(arm(), 2.0, 8, start=Q0, end=Q1).limits(torque=0.5)
    first, second = motion.solve(solver=solver), motion.solve(solver=solver)
    assert np.array_equal(first.control, second.control)


def test_free_ends() -> None:
    target = arm().forward_kinematics(Q1, FRAME)[:3, 3]
    motion = Motion(arm(), 2.0, 6, start=Q0).limits()
    motion.keep(Position(FRAME), -1e-3, 1e-3, target, during=(1.8, 2.0))
    held(motion.solve())
    held(Motion(arm(), 2.0, 4).limits().solve(None))


def test_a_grid_misses_what_a_window_holds() -> None:
    """Between its points a grid breaks a bound that coefficients hold."""
    motion = Motion(arm(), 2.0, 6, start=Q0, end=Q0).limits()
    motion.keep(Position(FRAME), (0.4, -9, -9), 9, rate=1, during=(0.7, 1.3))
    grid, ours = (motion.solve(method=method, points=1) for method in ("grid", "bernstein"))
    assert grid.success and min(m.scaled for m in grid.margins) < -1e-2
    held(ours)
