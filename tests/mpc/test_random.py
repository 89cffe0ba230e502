"""Random problems with limits that bind: whatever is reported is what Pinocchio's rollout finds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from robomorph.mpc import Controller, Effort, Problem, Velocity
from robomorph.tasks import Pose, Position, Posture
from tests.mpc.cases import NV, TOOL, iiwa
from tests.mpc.oracle import Oracle

Array = npt.NDArray[np.float64]
Rng = np.random.Generator


class Made(NamedTuple):
    """A problem, its limits as shares of the robot's own, the least height of the tool, and a state."""

    problem: Problem
    shares: dict[str, Any]
    height: float
    q: Array
    qd: Array


def random_problem(rng: Rng) -> Made:
    robot, reference = iiwa()
    own = robot.limits
    q, goal = (rng.uniform(share * own.lower, share * own.upper) for share in (0.8, 0.9))
    qd = rng.uniform(-0.3, 0.3, NV) * own.velocity
    problem = Problem(robot, int(rng.integers(1, 40)), float(10 ** rng.uniform(-2.5, -1.2)))
    last = float(10 ** rng.uniform(0.0, 3.0))
    if rng.random() < 0.6:
        task: Any = Posture.of(robot.model)
        problem.cost(task, 10.0, goal, name="goal")
    else:
        task = Pose(TOOL)
        problem.cost(task, [200.0] * 3 + [50.0] * 3, reference.forward_kinematics(goal, TOOL), name="goal")
    problem.terminal(task, last, name="goal").cost(Velocity(), 0.1).cost(Effort(), 1e-3, "gravity")
    shares: dict[str, Any] = {
        name: float(rng.uniform(0.4, 1.0)) for name in ("torque", "velocity") if rng.random() < 0.8
    }
    if rng.random() < 0.8 or not shares:
        shares["position"] = True
    problem.limits(**shares)
    height = -np.inf
    if rng.random() < 0.3:
        height = reference.forward_kinematics(q, TOOL)[2, 3] - 0.05
        problem.bound(Position(TOOL), [-np.inf, -np.inf, height], None)
    return Made(problem, shares, height, q, qd)


def beyond(made: Made, q: Array, qd: Array, tau: Array) -> float:
    """The largest violation, in shares of ranges (of the height: in m)."""
    robot, reference = iiwa()
    own, shares = robot.limits, made.shares
    found = [-np.inf]
    for name, values, most in (("torque", tau, own.effort), ("velocity", qd[1:], own.velocity)):
        if name in shares:
            found.append(float((np.abs(values) / most - shares[name]).max()) / (2 * shares[name]))
    if "position" in shares:
        width = own.upper - own.lower
        found += [float(((q[1:] - own.upper) / width).max()), float(((own.lower - q[1:]) / width).max())]
    if np.isfinite(made.height):
        found.append(max(made.height - float(reference.forward_kinematics(x, TOOL)[2, 3]) for x in q[1:]))
    return max(found)


def check(seed: int) -> bool:
    """Returns whether it was solved."""
    made = random_problem(np.random.default_rng(seed))
    oracle = Oracle(iiwa()[1], made.problem.horizon, made.problem.dt)
    found = Controller(made.problem).step(made.q, made.qd)
    q, qd = oracle.motion(made.q, made.qd, found.qdd)
    tau = oracle.torques(q, qd, found.qdd)
    assert np.allclose(found.q, q, rtol=0, atol=1e-9) and np.allclose(found.qd, qd, rtol=0, atol=1e-9)
    assert np.allclose(found.torques, tau, rtol=0, atol=1e-9 * np.abs(tau).max())
    worst = beyond(made, q, qd, tau)
    assert found.success == (worst <= 1e-6 * (1 + 1e-6)) or abs(worst - 1e-6) < 1e-9
    assert bool(found.violations) != found.success and (found.converged or found.reason != "solved")
    if not found.success:
        assert found.violations[0].scaled == pytest.approx(max(worst, found.violation), rel=1e-6)
    return bool(found.success and found.converged)


@pytest.mark.parametrize("seed", range(8))
def test_random_problems(seed: int) -> None:
    check(seed)


@pytest.mark.fuzz
def test_many_random_problems() -> None:
    solved = [check(seed) for seed in range(100, 400)]
    assert np.mean(solved) > 0.8
