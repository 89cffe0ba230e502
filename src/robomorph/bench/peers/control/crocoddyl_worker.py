"""Control problems solved by crocoddyl and mim-solvers, in an interpreter that knows nothing of robomorph.

Run by serve.py, which hands over the task: the robot's file, our order of joints, and problems as numbers.
"""

from __future__ import annotations

import time
from typing import Any

import crocoddyl  # type: ignore[import-not-found,unused-ignore]
import numpy as np
import pinocchio  # type: ignore[import-not-found,unused-ignore]


class Peer:
    """All problems of a task with one of the solvers "fddp", "boxfddp" and "sqp"."""

    def __init__(self, task: Any) -> None:
        self.model = pinocchio.buildModelFromXML(task["urdf"])
        indices = [self.model.getJointId(name) for name in task["joints"]]
        self.order = np.array([self.model.joints[i].idx_v for i in indices])
        self.state = crocoddyl.StateMultibody(self.model)
        self.actuation = crocoddyl.ActuationModelFull(self.state)
        self.problems = [self._shooting(problem) for problem in task["problems"]]
        self.solvers = [make_solver(task["solver"], problem) for problem in self.problems]
        self.kind = type(self.solvers[0].xs)
        self.starts = [self._start(problem["initial"]) for problem in task["problems"]]

    @staticmethod
    def versions() -> dict[str, str]:
        return {"crocoddyl": crocoddyl.__version__, "pin": pinocchio.__version__}

    # --- the problem ---------------------------------------------------------------------------------

    def _theirs(self, ours: Any) -> Any:
        """Values of joints in Pinocchio's order, which sorts siblings by name."""
        out = np.empty(len(ours))
        out[self.order] = ours
        return out

    def _shooting(self, problem: Any) -> Any:
        running = self._action(problem, "running", problem["dt"])
        terminal = self._action(problem, "terminal", 0.0)
        low, high = problem["limits"]["torque"]
        if None not in low and None not in high:
            running.u_lb, running.u_ub = self._theirs(low), self._theirs(high)
        start = np.concatenate([self._theirs(problem["q"]), self._theirs(problem["v"])])
        shooting = crocoddyl.ShootingProblem(start, [running] * problem["horizon"], terminal)
        shooting.nthreads = 1
        return shooting

    def _action(self, problem: Any, which: str, dt: float) -> Any:
        weights, costs = problem[which], crocoddyl.CostModelSum(self.state)
        goal = np.concatenate([self._theirs(problem["goal"]), np.zeros(self.model.nv)])
        of_state = np.repeat([weights["q"], weights["v"]], self.model.nv)
        self._add(costs, "state", crocoddyl.ResidualModelState(self.state, goal), of_state)
        if which == "running":
            effort = self._theirs(problem["effort"])
            of_torque = np.full(self.model.nv, weights["tau"])
            self._add(costs, "torque", crocoddyl.ResidualModelControl(self.state, effort), of_torque)
        if problem["target"] is not None:
            frame = self.model.getFrameId(problem["target"]["frame"])
            place, turn = (np.array(problem["target"][name]) for name in ("place", "turn"))
            position = crocoddyl.ResidualModelFrameTranslation(self.state, frame, place)
            rotation = crocoddyl.ResidualModelFrameRotation(self.state, frame, turn)
            self._add(costs, "position", position, np.full(3, weights["position"]))
            self._add(costs, "rotation", rotation, np.full(3, weights["rotation"]))
        dynamics = crocoddyl.DifferentialActionModelFreeFwdDynamics(self.state, self.actuation, costs)
        return crocoddyl.IntegratedActionModelEuler(dynamics, dt)

    def _add(self, costs: Any, name: str, residual: Any, weights: Any) -> None:
        activation = crocoddyl.ActivationModelWeightedQuad(weights)
        costs.addCost(name, crocoddyl.CostModelResidual(self.state, activation, residual), 1.0)

    def _start(self, initial: Any) -> tuple[Any, Any]:
        states = [
            np.concatenate([self._theirs(q), self._theirs(v)])
            for q, v in zip(initial["q"], initial["v"], strict=True)
        ]
        return self._vectors(states), self._vectors([self._theirs(tau) for tau in initial["tau"]])

    def _vectors(self, rows: list[Any]) -> Any:
        """As the solvers hold them, so that no conversion is timed."""
        out = self.kind()
        for row in rows:
            out.append(row)
        return out

    # --- solving -------------------------------------------------------------------------------------

    def run(self, index: int, iterations: int) -> tuple[float, float]:
        """So many iterations from the beginning; wall and CPU time in seconds."""
        states, torques = self.starts[index]
        solver = self.solvers[index]
        wall, cpu = time.perf_counter(), time.process_time()
        solver.solve(states, torques, iterations, True)
        return time.perf_counter() - wall, time.process_time() - cpu

    def answer(self, index: int) -> dict[str, Any]:
        """What the last run found, in our order of joints."""
        solver, nv = self.solvers[index], self.model.nv
        states = np.array(solver.xs.tolist())
        return {
            "cost": float(solver.cost),
            "iterations": int(solver.iter) + 1,
            "q": states[:, :nv][:, self.order].tolist(),
            "v": states[:, nv:][:, self.order].tolist(),
            "tau": np.array(solver.us.tolist())[:, self.order].tolist(),
        }


def make_solver(name: str, problem: Any) -> Any:
    """A solver that goes on until its iterations are used up, or nothing is left to gain."""
    if name == "sqp":
        import mim_solvers  # type: ignore[import-not-found,unused-ignore]

        solver = mim_solvers.SolverSQP(problem)
        solver.termination_tolerance = 1e-12
        solver.extra_iteration_for_last_kkt = False
        return solver
    solver = {"fddp": crocoddyl.SolverFDDP, "boxfddp": crocoddyl.SolverBoxFDDP}[name](problem)
    solver.th_stop = 1e-18
    return solver
