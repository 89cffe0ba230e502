"""A batch of 128 problems at once, beside what is published of a GPU."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from robomorph import mpc
from robomorph.bench.functions import PREDICTIVE_CONTROL
from robomorph.bench.goals import Goal
from robomorph.bench.measuring import summarise
from robomorph.bench.mpc.ours import our_problem
from robomorph.bench.mpc.problems import far
from robomorph.bench.mpc.referee import Referee, Trajectory
from robomorph.bench.records import OURS, REFUSED, Record, first
from robomorph.bench.sections.section import Job, Records, Section, TableData, show_ns
from robomorph.bench.session import Session
from robomorph.tasks import Posture

NAME = "batch"
ROBOT, HORIZON, PROBLEMS = "iiwa14", 64, 128
FREE, BOUND = "without limits", "all limits"
ITERATIONS = 5
_ROUNDS = 15
_MICROSECONDS = 16.0
_PUBLISHED = (
    4.816e6 / 128
)  # ns: A2R-Lab/GATO, docs/figure-refresh-2026-10-01.md, RTX 5090, one iteration each
_HONEST = 1e-7


def _jobs(session: Session) -> list[Job]:
    counts = sorted({1, min(2, session.cpus)})
    return [
        Job(f"{case}, {threads} threads", partial(_run, session, case, threads))
        for case in (FREE, BOUND)
        for threads in counts
    ]


def _run(session: Session, case: str, threads: int) -> list[Record]:
    given = [far(ROBOT, seed, HORIZON) for seed in range(PROBLEMS)]
    problem = our_problem(given[0])
    if case == BOUND:
        problem.limits(torque=True, velocity=True, position=True)
    controller = mpc.Controller(problem, threads=threads, cap=ITERATIONS)
    q, v, goal, effort = (
        np.array([getattr(p, name) for p in given]) for name in ("q", "v", "goal", "effort")
    )
    reference: dict[Any, Any] = {Posture.of(given[0].robot.model): goal, mpc.Effort(): effort}
    out = controller.step(q, v, reference=reference)
    wall, cpu = [], []
    for _ in range(4 if session.quick else _ROUNDS):
        controller.reset()
        begin, spent = time.perf_counter(), time.process_time()
        controller.step(q, v, reference=reference, out=out)
        done = float(np.sum(out.iterations))
        cpu.append((time.process_time() - spent) / done)
        wall.append((time.perf_counter() - begin) / done)
    wrong = sum(_dishonest(p, out, k) for k, p in enumerate(given[:16]))
    if wrong:
        session.note(f"{NAME}, {case}: {wrong} of 16 plans cost otherwise than they claim, by Pinocchio")
    figures = {
        "cpu_median_ns": summarise(cpu, 0.0).median_ns,
        "iterations": done / PROBLEMS,
        REFUSED: float(wrong),
    }
    return [
        Record(
            NAME, ROBOT, PREDICTIVE_CONTROL, OURS, "step()", batch=PROBLEMS, threads=threads,
            timing=summarise(wall, 0.0), figures=figures, case=case,
        )
    ]  # fmt: skip


def _dishonest(given: Any, out: mpc.Result, k: int) -> bool:
    found = Referee(given).judge(Trajectory(out.q[k], out.qd[k], out.torques[k]))
    return not abs(found.cost / float(out.cost[k]) - 1.0) <= _HONEST


def _tables(records: Records) -> list[TableData]:
    rows = []
    for r in records:
        best, median = (None, None) if r.timing is None else (r.timing.best_ns, r.timing.median_ns)
        spent = (best, median, r.figures["cpu_median_ns"])
        rows.append(
            (f"robomorph, {r.case}", f"{r.threads}", f"{r.figures['iterations']:.1f}", *map(show_ns, spent))
        )
    rows.append(("GATO, RTX 5090, published", "GPU", "1", "-", show_ns(_PUBLISHED), "-"))
    return [
        TableData(
            f"a batch of {PROBLEMS} problems, {ROBOT}, N = {HORIZON}: time per problem and iteration",
            ("who", "threads", "iterations each", "wall best", "wall median", "CPU median, all threads"),
            rows,
            caption="Ours: whole calls of step() from rest with references of their own, by all iterations "
            "that were done; all limits: those of the model. Published: solver time of a batch of 128 with "
            "one iteration, divided by 128; another machine and task, torque limits off.",
        )
    ]


def _microseconds(threads: int) -> Callable[[Records], float | None]:
    def find(records: Records) -> float | None:
        found = first(records, case=FREE, threads=threads)
        return None if found is None or found.timing is None else found.timing.median_ns / 1e3

    return find


_GOALS = (
    Goal(
        "a problem's iteration without limits, two threads",
        _MICROSECONDS,
        " us",
        _microseconds(2),
        at_least=False,
    ),
)
SECTION = Section(NAME, _jobs, _tables, _GOALS)
