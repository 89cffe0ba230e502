"""An optimal control problem in CasADi, whoever computes the dynamics: an arm reaches with weak motors."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.robot import Robot

Array = npt.NDArray[np.float64]
NODES, SECONDS = 40, 1.2
EFFORT = 0.2  # of each motor may be used: limits of torque and of velocity bind
_TOLERANCE = 1e-9
_OPTIONS = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes", "ipopt.tol": _TOLERANCE}


@dataclass(frozen=True)
class Solved:
    """What IPOPT found. q, qd: (NODES + 1, nv); tau: (NODES, nv). seconds: of the whole call; derivatives: of
    evaluating Jacobians and Hessians, among them."""

    success: bool
    status: str
    cost: float
    iterations: int
    seconds: float
    derivatives: float
    q: Array
    qd: Array
    tau: Array


class Reach:
    """From rest at zero to rest at `goal`: multiple shooting by semi-implicit Euler steps, limits of
    position, velocity and torque; the cost is squared torques and velocities over time. For arms whose
    coordinates simply add."""

    def __init__(self, casadi: Any, robot: Robot, dynamics: Any, *, exact: bool = True) -> None:
        self.robot, self.nv = robot, robot.nv
        self.goal = np.resize([1.2, 0.9, -0.8, -1.2, 0.6, 0.9, 0.4], robot.nv)
        nv, dt = robot.nv, SECONDS / NODES
        x, v, u = (casadi.MX.sym(name, nv) for name in ("q", "qd", "tau"))
        after = v + dt * dynamics(x, v, u)
        step = casadi.Function("step", [x, v, u], [x + dt * after, after])
        q, qd = (casadi.MX.sym(name, nv, NODES + 1) for name in ("q", "qd"))
        tau = casadi.MX.sym("tau", nv, NODES)
        next_q, next_qd = step.map(NODES)(q[:, :-1], qd[:, :-1], tau)
        cost = dt * (1e-4 * casadi.sumsqr(tau) + 1e-2 * casadi.sumsqr(qd))
        gaps = casadi.veccat(q[:, 1:] - next_q, qd[:, 1:] - next_qd)
        options = dict(_OPTIONS)
        if not exact:
            options["ipopt.hessian_approximation"] = "limited-memory"
        problem = {"x": casadi.veccat(q, qd, tau), "f": cost, "g": gaps}
        self.solver = casadi.nlpsol("reach", "ipopt", problem, options)

    def solve(self) -> Solved:
        """From a straight line at rest without torques."""
        lower, upper = self._bounds()
        way = np.linspace(np.zeros(self.nv), self.goal, NODES + 1)
        guess = np.concatenate([way.ravel(), np.zeros(self.nv * (2 * NODES + 1))])
        start = time.perf_counter()
        found = self.solver(x0=guess, lbx=lower, ubx=upper, lbg=0.0, ubg=0.0)
        seconds = time.perf_counter() - start
        stats = self.solver.stats()
        q, qd, tau = np.split(np.array(found["x"]).ravel(), np.cumsum([self.nv * (NODES + 1)] * 2))
        return Solved(
            success=bool(stats["success"]),
            status=str(stats["return_status"]),
            cost=float(found["f"]),
            iterations=int(stats["iter_count"]),
            seconds=seconds,
            derivatives=sum(stats.get(f"t_wall_nlp_{name}", 0.0) for name in ("jac_g", "hess_l")),
            q=q.reshape(-1, self.nv),
            qd=qd.reshape(-1, self.nv),
            tau=tau.reshape(-1, self.nv),
        )

    def _bounds(self) -> tuple[Array, Array]:
        limits, rest = self.robot.limits, np.zeros(self.nv)
        between = NODES - 1
        speed, effort = np.array(limits.velocity), EFFORT * np.array(limits.effort)
        ends = [rest, self.goal]
        lower = [ends[0], np.tile(limits.lower, between), ends[1], rest, np.tile(-speed, between), rest]
        upper = [ends[0], np.tile(limits.upper, between), ends[1], rest, np.tile(speed, between), rest]
        return (
            np.concatenate([*lower, np.tile(-effort, NODES)]),
            np.concatenate([*upper, np.tile(effort, NODES)]),
        )


def defect(robot_urdf: str, gravity: Array, found: Solved) -> float:
    """How far the motion is from Pinocchio's: the largest difference of velocities after a step (rad/s)."""
    import pinocchio

    model = pinocchio.buildModelFromXML(robot_urdf)
    model.gravity.linear = np.array(gravity)
    data = model.createData()
    dt, worst = SECONDS / NODES, 0.0
    for k, tau in enumerate(found.tau):
        after = found.qd[k] + dt * pinocchio.aba(model, data, found.q[k], found.qd[k], tau)
        worst = max(worst, float(np.abs(after - found.qd[k + 1]).max()))
    return worst
