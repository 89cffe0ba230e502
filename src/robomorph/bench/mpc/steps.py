"""Times of our controller alone: solves of so many iterations, and steps of a loop."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robomorph import mpc
from robomorph.bench.functions import FORWARD_DYNAMICS_GRADIENT
from robomorph.bench.measuring import QUICK, measure, summarise
from robomorph.bench.mpc.ours import OurSolver, our_problem
from robomorph.bench.mpc.problem import ControlProblem, ProblemSet
from robomorph.bench.ours import our_contestant
from robomorph.bench.records import Timing
from robomorph.bench.subject import Subject

GRADIENT_NS = 104.0  # iiwa14's gradient on the machine that times in goals are about
_BATCH = 128


@dataclass(frozen=True)
class Spent:
    """Wall and CPU time of a step, and the iterations that it took."""

    wall: Timing
    cpu: Timing
    iterations: int

    def each(self) -> Spent:
        """Of one iteration."""
        return Spent(_divided(self.wall, self.iterations), _divided(self.cpu, self.iterations), 1)


def mean_of(found: Sequence[Spent]) -> tuple[Timing, Timing]:
    """Mean wall and CPU times over problems."""
    wall, cpu = (
        Timing(
            float(np.mean([t.best_ns for t in times])),
            float(np.mean([t.median_ns for t in times])),
            times[0].rounds,
            0.0,
        )
        for times in ([s.wall for s in found], [s.cpu for s in found])
    )
    return wall, cpu


def _divided(timing: Timing, by: int) -> Timing:
    return Timing(timing.best_ns / by, timing.median_ns / by, timing.rounds, 0.0)


def gradient_ns() -> float:
    """iiwa14's gradient here and now, ns: what times are scaled by to compare machines."""
    contestant = our_contestant(Subject("iiwa14"), FORWARD_DYNAMICS_GRADIENT, _BATCH)
    return measure([contestant], QUICK)[0].best_ns


def solves(problem: ControlProblem, iterations: int, rounds: int) -> Spent:
    """A first step with at most so many iterations."""
    solver = OurSolver(ProblemSet("alone", (problem,)))
    _, _, done = solver.solve(0, iterations)
    wall, cpu = solver.time([(0, iterations)] * rounds)
    return Spent(summarise(wall, 0.0), summarise(cpu, 0.0), done)


def ticks(problem: ControlProblem, count: int, iterations: int = 1) -> Spent:
    """Steps of so many iterations, each from the next node of the plan before; the most iterations of any."""
    controller = mpc.Controller(our_problem(problem), iterations=iterations)
    result = controller.step(problem.q, problem.v)
    walls, cpus, most = [], [], 0
    gc.collect()
    gc.disable()
    try:
        for _ in range(count):
            q, v = np.copy(result.q[1]), np.copy(result.qd[1])
            wall, cpu = time.perf_counter(), time.process_time()
            controller.step(q, v, out=result)
            spent = time.process_time() - cpu
            walls.append(time.perf_counter() - wall)
            cpus.append(spent)
            most = max(most, int(result.iterations))
    finally:
        gc.enable()
    return Spent(summarise(walls, 0.0), summarise(cpus, 0.0), most)
