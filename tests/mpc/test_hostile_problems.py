"""Problems and robots of any kind: never a crash, and never a plan that Pinocchio's rollout refuses.

Whatever a step reports, the cost, what is broken, by how much and where, is worked out again from the
accelerations alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robomorph.mpc import Controller, Result
from tests.mpc.hostile_problems import Hostile, hostile_problem
from tests.mpc.oracle import Limit

Array = npt.NDArray[np.float64]
ROBOTS = 40  # of the long run; the ordinary one has fewer to compile
TOLERANCE = 1e-6


def over(made: Hostile, limit: Limit, q: Array, qd: Array, a: Array) -> Array:
    """(nodes, rows): by how much it is broken; -inf at nodes where it does not hold."""
    values = np.array([limit.rows(k, q[k], qd[k], a[min(k, len(a) - 1)]).values for k in range(made.nodes)])
    out = np.maximum(values - limit.upper, limit.lower - values)
    out[0 if limit.states else -1] = -np.inf
    return np.asarray(out)


def check_result(made: Hostile, q0: Array, qd0: Array, found: Result) -> None:
    oracle, a = made.oracle, found.qdd
    assert all(np.isfinite(x).all() for x in (found.q, found.qd, a, found.torques, found.gains))
    q, qd = oracle.motion(q0, qd0, a)
    size = 1.0 + np.abs(q).max()
    assert np.allclose(found.q, q, rtol=0, atol=1e-10 * size)
    assert np.allclose(found.qd, qd, rtol=0, atol=1e-10 * (1.0 + np.abs(qd).max()))
    torques = oracle.torques(q, qd, a)
    assert np.allclose(found.torques, torques, rtol=0, atol=1e-8 * (1e-3 + np.abs(torques).max()))
    assert np.array_equal(found.tau, found.torques[0])
    assert found.cost == pytest.approx(oracle.cost(q0, qd0, a), rel=1e-7, abs=1e-12)
    price = sum(
        0.5 * soft * float(np.square(np.maximum(over(made, limit, q, qd, a), 0.0)).sum())
        for limit, soft in made.soft
    )
    assert found.soft_cost == pytest.approx(price, rel=1e-6, abs=1e-9 * (1.0 + price))
    check_limits(made, q, qd, found)


def check_limits(made: Hostile, q: Array, qd: Array, found: Result) -> None:
    """Success is what limits say, and what is named as broken is broken so much, there."""
    amounts = {name: over(made, limit, q, qd, found.qdd) for name, limit, _ in made.hard}
    scaled = {name: amounts[name] / scale for name, _, scale in made.hard}
    worst = max([float(x.max()) for x in scaled.values()], default=0.0)
    if abs(worst - TOLERANCE) > 1e-8:
        assert found.success == (worst <= TOLERANCE), (worst, found.reason)
    assert found.violation == pytest.approx(max(0.0, worst), rel=1e-5, abs=1e-9)
    assert bool(found.violations) != found.success
    for broken in found.violations:
        amount = amounts[broken.name][broken.node]
        assert np.isclose(amount, broken.amount, rtol=1e-5, atol=1e-9).any(), broken
        assert broken.time == pytest.approx(broken.node * made.problem.dt)
    if found.converged and found.success:
        assert found.reason == "solved"


def check(seed: int, robots: int = ROBOTS) -> tuple[bool, bool]:
    """Three steps of one controller. Returns whether the first succeeded, and converged."""
    rng = np.random.default_rng(seed)
    made = hostile_problem(rng, seed % robots)
    count = None if rng.random() < 0.6 else int(rng.integers(1, 4))
    controller = Controller(made.problem, iterations=count)
    q, qd, last = made.q, made.qd, None
    outcome = (False, False)
    for tick in range(3):
        made.oracle.last_a = 0.0 if last is None else last
        found = controller.step(q, qd, **_request(rng, tick))
        check_result(made, q, qd, found)
        if tick == 0:
            outcome = (bool(found.success), bool(found.converged))
            check_optimum(made, q, qd, found)
        last = found.qdd[0]
        q, qd = found.q[1].copy(), found.qd[1].copy()
        if rng.random() < 0.3:  # a jump
            q, qd = q + 0.3 * rng.normal(size=q.shape), qd + rng.normal(size=q.shape)
    return outcome


def _request(rng: np.random.Generator, tick: int) -> dict[str, Any]:
    if tick == 0:
        return {}
    return {} if rng.random() < 0.5 else {"deadline": float(rng.choice([0.0, 1e-9, 1e-4]))}


def check_optimum(made: Hostile, q: Array, qd: Array, found: Result) -> None:
    """Of small problems without soft bounds: what the dense oracle finds from there is hardly better."""
    a = found.qdd
    if not (found.converged and found.success) or made.soft or a.size > 40:
        return
    if not made.hard:
        better = made.oracle.cost(q, qd, made.oracle.solve(q, qd, a, iterations=10))
        assert found.cost - better <= 1e-4 * (abs(found.cost) + 1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_hostile_problems(seed: int) -> None:
    check(seed, robots=6)


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(20))
def test_many_hostile_problems(block: int) -> None:
    outcomes = [check(seed) for seed in range(1000 + 100 * block, 1100 + 100 * block)]
    assert np.mean([converged for _, converged in outcomes]) > 0.5
