"""Our controller on the benchmark's problems."""

from __future__ import annotations

import gc
import time
from typing import Any

import numpy as np

from robomorph import mpc
from robomorph.bench.mpc.problem import ControlProblem, ProblemSet, Weights
from robomorph.bench.mpc.referee import Trajectory
from robomorph.tasks import Pose, Posture


def our_problem(given: ControlProblem) -> mpc.Problem:
    """The same problem in the words of robomorph.mpc."""
    problem = mpc.Problem(given.robot, given.horizon, given.dt)
    for add, weights in ((problem.cost, given.running), (problem.terminal, given.terminal)):
        _add_costs(add, weights, given)
    bounds = {name: getattr(given.limits, name) for name in ("torque", "velocity", "position")}
    chosen = {name: pair for (name, pair), any_ in zip(bounds.items(), given.limits.any, strict=True) if any_}
    return problem.limits(**chosen) if chosen else problem


def _add_costs(add: Any, weights: Weights, given: ControlProblem) -> None:
    if weights.q:
        add(Posture.of(given.robot.model), weight=weights.q, reference=given.goal)
    if weights.v:
        add(mpc.Velocity(), weight=weights.v)
    if weights.tau:
        add(mpc.Effort(), weight=weights.tau, reference=given.effort)
    if given.target is not None:
        rows = np.repeat([weights.position, weights.rotation], 3)
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = given.target.turn, given.target.place
        add(Pose(given.target.frame), weight=rows, reference=pose)


class OurSolver:
    """One controller a problem and number of iterations; every run begins at rest, as a first step does."""

    def __init__(self, problems: ProblemSet) -> None:
        self._given = problems.problems
        self._made = [our_problem(problem) for problem in self._given]
        self._controllers: dict[tuple[int, int], tuple[mpc.Controller, mpc.Result]] = {}

    def _run(self, problem: int, iterations: int) -> mpc.Result:
        key, start = (problem, iterations), self._given[problem]
        if key not in self._controllers:
            controller = mpc.Controller(self._made[problem], cap=iterations)
            self._controllers[key] = controller, controller.step(start.q, start.v)
        controller, out = self._controllers[key]
        controller.reset()
        return controller.step(start.q, start.v, out=out)

    def solve(self, problem: int, iterations: int) -> tuple[Trajectory, float, int]:
        found = self._run(problem, iterations)
        plan = Trajectory(np.copy(found.q), np.copy(found.qd), np.copy(found.torques))
        return plan, float(found.cost), int(found.iterations)

    def result(self, problem: int, iterations: int) -> mpc.Result:
        """All that our controller tells of a run."""
        return self._run(problem, iterations)

    def time(self, runs: list[tuple[int, int]]) -> tuple[list[float], list[float]]:
        """Wall and CPU seconds of whole `step` calls, each after one that warms the caches up."""
        walls, cpus = [], []
        gc.collect()
        gc.disable()
        try:
            for problem, iterations in runs:
                self._run(problem, iterations)
                controller, out = self._controllers[problem, iterations]
                q, v = self._given[problem].q, self._given[problem].v
                controller.reset()
                wall, cpu = time.perf_counter(), time.process_time()
                controller.step(q, v, out=out)
                spent = time.process_time() - cpu
                walls.append(time.perf_counter() - wall)
                cpus.append(spent)
        finally:
            gc.enable()
        return walls, cpus
