"""Optimal control in CasADi: an arm reaches in the least time that its motors allow.

The dynamics are machine code that CasADi calls by itself, with exact sparse Jacobians and Hessians; the rest
is CasADi's: graphs, multiple shooting, IPOPT.
"""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np
import numpy.typing as npt

import robomorph
import robomorph.casadi
from robomorph import Robot

Array = npt.NDArray[np.float64]
NODES = 30
GOAL = np.array([0.9, 0.7, -0.5, -1.0, 0.4, 0.8, 0.3])
EFFORT = 0.2  # the share of each motor that may be used


def reach(robot: Robot) -> tuple[float, Array, Array]:
    """The duration (s), q (NODES + 1, nv) and torques (NODES, nv)."""
    functions = robomorph.casadi.Functions(robot)
    problem = casadi.Opti()
    seconds = problem.variable()
    q, qd = problem.variable(robot.nv, NODES + 1), problem.variable(robot.nv, NODES + 1)
    tau = problem.variable(robot.nv, NODES)
    dt = seconds / NODES

    step = semi_implicit(functions.forward_dynamics, robot.nv).map(NODES)
    next_q, next_qd = step(q[:, :-1], qd[:, :-1], tau, dt)
    problem.subject_to(q[:, 1:] == next_q)
    problem.subject_to(qd[:, 1:] == next_qd)

    limits = robot.limits
    for k in range(NODES):
        problem.subject_to(problem.bounded(-EFFORT * limits.effort, tau[:, k], EFFORT * limits.effort))
        problem.subject_to(problem.bounded(-limits.velocity, qd[:, k], limits.velocity))
        problem.subject_to(problem.bounded(limits.lower, q[:, k], limits.upper))
    ends: list[tuple[Any, Array]] = [(q[:, 0], np.zeros(robot.nv)), (q[:, -1], GOAL)]
    for end, value in [*ends, (qd[:, 0], 0.0 * GOAL), (qd[:, -1], 0.0 * GOAL)]:
        problem.subject_to(end == value)
    problem.subject_to(problem.bounded(0.1, seconds, 5.0))

    problem.minimize(seconds + 1e-7 * casadi.sumsqr(tau))
    problem.set_initial(seconds, 1.5)
    problem.set_initial(q, np.linspace(np.zeros(robot.nv), GOAL, NODES + 1).T)
    held: Array = robot.gravity_torque(np.linspace(np.zeros(robot.nv), GOAL, NODES))
    problem.set_initial(tau, held.T)
    problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
    found: Any = problem.solve()
    print(f"{found.stats()['return_status']} in {found.stats()['iter_count']} iterations")
    return float(found.value(seconds)), found.value(q).T, found.value(tau).T


def semi_implicit(dynamics: Any, nv: int) -> Any:
    """One step as a function of a graph: q, qd, tau, dt -> the next q and qd."""
    q, qd, tau = (casadi.MX.sym(name, nv) for name in ("q", "qd", "tau"))
    dt = casadi.MX.sym("dt")
    after = qd + dt * dynamics(q, qd, tau)
    return casadi.Function("step", [q, qd, tau, dt], [q + dt * after, after])


def main() -> float:
    robot = robomorph.load("iiwa14")
    seconds, q, tau = reach(robot)
    used = np.abs(tau) / robot.limits.effort
    joint = robot.velocity_names[int(used.max(axis=0).argmax())]
    print(f"{seconds:.3f} s; {joint} uses {used.max():.0%} of its motor")
    assert np.abs(q[-1] - GOAL).max() < 1e-6 and used.max() < EFFORT + 1e-6
    return seconds


if __name__ == "__main__":
    main()
