"""One iteration with all limits at N = 64, beside what is published of GPUs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from robomorph.bench.functions import PREDICTIVE_CONTROL
from robomorph.bench.goals import Goal
from robomorph.bench.mpc.problems import limited
from robomorph.bench.mpc.steps import GRADIENT_NS, Spent, gradient_ns, mean_of, solves, ticks
from robomorph.bench.records import OURS, Record, first
from robomorph.bench.sections.section import Job, Records, Section, TableData, show_ns
from robomorph.bench.session import Session

NAME = "iteration"
ROBOT, HORIZON = "iiwa14", 64
SOLVE, TICK = "of a whole solve", "a step of one"
_MILLISECONDS = 0.10
_PROBLEMS, _ROUNDS, _TICKS = 10, 15, 100
# Milliseconds of one iteration, iiwa14, N = 64, one problem: A2R-Lab/GATO, docs/figure-refresh-2026-10-01.md.
PUBLISHED = (
    ("MPCGPU, RTX 5090", 0.178),
    ("GATO, RTX 5090", 0.452),
    ("OSQP with QDLDL, 24 threads of a CPU", 3.079),
)


def _jobs(session: Session) -> list[Job]:
    return [Job(f"{ROBOT}, N = {HORIZON}, all limits", partial(_run, session))]


def _run(session: Session) -> list[Record]:
    count = 3 if session.quick else _PROBLEMS
    problems = [limited(ROBOT, seed, HORIZON) for seed in range(count)]
    before = gradient_ns()
    whole = [solves(problem, 100, 5 if session.quick else _ROUNDS) for problem in problems]
    single = [ticks(problem, 20 if session.quick else _TICKS) for problem in problems]
    gradient = min(before, gradient_ns())
    out = [_record(SOLVE, [spent.each() for spent in whole], gradient, [s.iterations for s in whole])]
    most = max(spent.iterations for spent in single)
    if most > 1:
        session.note(f"{NAME}: a step of one iteration took {most}: those times are left out")
        return out
    return [*out, _record(TICK, single, gradient, [1])]


def _record(how: str, found: list[Spent], gradient: float, iterations: list[int]) -> Record:
    wall, cpu = mean_of(found)
    figures = {
        "cpu_best_ns": cpu.best_ns,
        "cpu_median_ns": cpu.median_ns,
        "gradient_ns": gradient,
        "iterations": float(np.mean(iterations)),
    }
    return Record(NAME, ROBOT, PREDICTIVE_CONTROL, OURS, how, timing=wall, figures=figures)


def scaled_ms(record: Record) -> float:
    """The median of CPU time as it would be where the gradient takes 104 ns."""
    return record.figures["cpu_median_ns"] / 1e6 * GRADIENT_NS / record.figures["gradient_ns"]


def _tables(records: Records) -> list[TableData]:
    rows = []
    for r in records:
        wall = (None, None) if r.timing is None else (r.timing.best_ns, r.timing.median_ns)
        spent = (r.figures["cpu_best_ns"], r.figures["cpu_median_ns"], *wall)
        rows.append(
            (
                f"robomorph, {r.how}",
                f"{r.figures['iterations']:.1f}",
                *map(show_ns, spent),
                f"{scaled_ms(r):.4f} ms",
            )
        )
    rows += [(f"{name}, published", "1", "-", "-", "-", f"{ms} ms", "-") for name, ms in PUBLISHED]
    return [
        TableData(
            f"an iteration with torque, velocity and position limits: {ROBOT}, N = {HORIZON}",
            ("who", "iterations", "CPU best", "CPU median", "wall best", "wall median", "CPU median, scaled"),
            rows,
            caption="Ours: one thread, whole calls of step(), limits that bind. 'Of a whole solve': its time "
            "by its iterations. 'A step of one': from the next node of the plan before. Scaled to a machine "
            f"whose gradient takes {GRADIENT_NS:.0f} ns. The published figures are other machines' and "
            "another task's, solver time only, torque limits off.",
        )
    ]


def _scaled(how: str) -> Callable[[Records], float | None]:
    def find(records: Records) -> float | None:
        found = first(records, how=how)
        return None if found is None else scaled_ms(found)

    return find


_GOALS = (Goal("an iteration with all limits, scaled", _MILLISECONDS, " ms", _scaled(TICK), at_least=False),)
SECTION = Section(NAME, _jobs, _tables, _GOALS)
