"""Problems of control that tests share: the same in robomorph's words and in the oracle's."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph import Robot
from robomorph.mpc import Effort, Problem, Velocity
from robomorph.tasks import Posture
from tests.ik.arms import arm
from tests.mpc.oracle import Oracle, Term
from tests.oracle.reference import Reference

Array = npt.NDArray[np.float64]
TOOL = "lbr_iiwa_link_7"
NV = 7


class Case(NamedTuple):
    """A problem, the oracle's, and the state to start from."""

    problem: Problem
    oracle: Oracle
    q: Array
    qd: Array


def iiwa() -> tuple[Robot, Reference]:
    return arm("iiwa14")


def state(seed: int = 1) -> tuple[Array, Array, Array]:
    """q, qd and a posture not far from q."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1.0, 1.0, NV)
    return q, 0.2 * rng.normal(size=NV), q + 0.1 * rng.normal(size=NV)


def bare(horizon: int = 12, dt: float = 0.02, seed: int = 1) -> Case:
    """Without costs."""
    robot, reference = iiwa()
    q, qd, _ = state(seed)
    return Case(Problem(robot, horizon, dt), Oracle(reference, horizon, dt), q, qd)


def reach(horizon: int = 12, dt: float = 0.02, seed: int = 1) -> Case:
    """To a posture nearby."""
    case = bare(horizon, dt, seed)
    problem, oracle = case.problem, case.oracle
    goal = state(seed)[2]
    problem.cost(Posture.of(problem.robot.model), 10.0, goal).cost(Velocity(), 0.1)
    problem.cost(Effort(), 1e-3, "gravity")
    problem.terminal(Posture.of(problem.robot.model), 1000.0).terminal(Velocity(), 10.0)
    hold = oracle.reference.gravity_torque(goal)
    oracle.terms += [
        Term(oracle.posture(goal), 10.0, 1000.0),
        Term(oracle.velocity(), 0.1, 10.0),
        Term(oracle.effort(hold), 1e-3),
    ]
    return case


def smooth(case: Case) -> Case:
    """With what makes any problem well posed: velocities and efforts."""
    case.problem.cost(Velocity(), 0.1).cost(Effort(), 1e-3)
    case.oracle.terms.append(Term(case.oracle.velocity(), 0.1))
    case.oracle.terms.append(Term(case.oracle.effort(), 1e-3))
    return case


def check_plan(case: Case, result: Any, b: Any = ()) -> None:
    """The plan is the motion that its accelerations make from the state, with Pinocchio's torques and
    cost."""
    oracle = case.oracle
    a = result.qdd[b]
    q, qd = oracle.motion(case.q, case.qd, a)
    assert np.allclose(result.q[b], q, rtol=0, atol=1e-12)
    assert np.allclose(result.qd[b], qd, rtol=0, atol=1e-12)
    torques = oracle.torques(q, qd, a)
    assert np.allclose(result.torques[b], torques, rtol=0, atol=1e-9 * np.abs(torques).max())
    assert np.array_equal(result.tau[b], result.torques[b][0])
    cost = np.asarray(result.cost)[b]
    assert abs(cost - oracle.cost(case.q, case.qd, a)) <= 1e-11 * (1.0 + abs(cost))
