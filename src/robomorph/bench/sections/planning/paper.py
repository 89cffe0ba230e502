"""The paper's own method on the same kernels, beside ours, without cost as the paper ran it; and its tables 3
and 4 for this machine: precision and threads."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from robomorph.bench.measuring import time_calls
from robomorph.bench.peers.ipopt import Ipopt
from robomorph.bench.planning.motion_check import ALLOWED, MotionCheck
from robomorph.bench.planning.polynomial_error import polynomial_error
from robomorph.bench.planning.problems import JERK, NO_COST, SCENARIOS, Case, cost_of
from robomorph.bench.planning.solving import (
    ROUNDS,
    figures_of,
    measured,
    median_ns,
    record,
    show_ms,
    show_violation,
    threads_of,
    timed,
)
from robomorph.bench.records import Record, select
from robomorph.bench.sections.section import Job, Records, Section, TableData, show_error, show_ns
from robomorph.bench.session import Session
from robomorph.planning.motion import Motion

NAME = "paper"
_ROBOT, _TIMED = "atlas", "kick"
OURS_NATIVE, PAPER = "ours, native", "the paper's, IPOPT"
EVALUATION, ITERATION = "evaluation", "iteration"
_PARTS = ("values", "derivatives", "condensing", "factor", "solver", "rest")
_MOST = 150  # iterations of IPOPT, which need not end with kinks or in single precision
_ROUNDS = 3
_PRECISIONS = ("float64", "float32")
# The paper's table 3: IPOPT's iterations and seconds, single and double precision, on its best GPU.
_TABLE_3 = {"squat": (13, 0.312, 14, 0.426), "feet": (12, 0.392, 12, 0.496), "kick": (19, 0.680, 16, 0.766)}


def _jobs(session: Session) -> list[Job]:
    if Ipopt not in session.present:
        session.note(f"paper: ours alone. IPOPT is absent: {session.absent.get(Ipopt.name)}")
    costs = (NO_COST,) if session.quick else (NO_COST, JERK)
    jobs = [
        Job(f"{scenario}, cost {cost}", partial(_run, session, scenario, cost))
        for scenario in SCENARIOS
        for cost in costs
    ]
    return [*jobs, Job("precision and threads", partial(_threads, session))]


def _run(session: Session, scenario_name: str, cost: str) -> list[Record]:
    case = Case(scenario_name, _ROBOT)
    scenario = case.load()
    motion, check, threads = scenario.motion(), MotionCheck(scenario), threads_of(session)
    ways: list[tuple[str, int, dict[str, Any]]] = [(OURS_NATIVE, ROUNDS, {"solver": "native"})]
    if Ipopt in session.present:
        rounds = _ROUNDS if cost == NO_COST and not session.quick else 0
        ways.append((PAPER, rounds, {"solver": "ipopt", "method": "paper", "max_iter": _MOST}))
    out = []
    for how, rounds, options in ways:
        plan, timing = timed(motion, cost_of(cost), rounds, threads=threads, **options)
        where, own = f"{case.label}, cost {cost}, {how}", how == OURS_NATIVE
        figures = figures_of(plan) | measured(session, where, check, plan, claims=own)
        figures |= {f"{part}_s": plan.times[part] for part in _PARTS if part in plan.times}
        if not own:
            figures["polynomials"] = polynomial_error(motion, plan)
        if not plan.success:
            session.note(f"{where}: {plan.reason}")
        out.append(
            record(NAME, case.robot, f"{case.scenario}, {cost}", how, figures, timing, threads=threads)
        )
    return out


def _threads(session: Session) -> list[Record]:
    """Table 4: all nodes of the kick with values and gradients, and a whole iteration, by threads."""
    motion = Case(_TIMED, _ROBOT).load().motion()
    counts = list(dict.fromkeys((1, 2, session.cpus)))
    out = [_evaluation(motion, dtype, n) for dtype in _PRECISIONS for n in counts if n <= session.cpus]
    for n in (n for n in counts if n <= session.cpus):
        plan, timing = timed(motion, None, ROUNDS, solver="native", threads=n)
        out.append(record(NAME, _ROBOT, ITERATION, "native", figures_of(plan), timing, threads=n))
    return out


def _evaluation(motion: Motion, dtype: str, threads: int) -> Record:
    assembled = motion.problem(None)
    problem, kernels = assembled.problem, assembled.functions.kernels
    windows = problem.pieces.first[:, None] + np.arange(problem.width)
    q = np.einsum("enw,ewj->enj", problem.pieces.basis[:, 0], problem.control[windows])
    q = np.ascontiguousarray(q.reshape(-1, problem.nv), dtype)
    numbers = problem.references.astype(dtype)
    kernel = kernels.kernel("channels", dtype=dtype, threads=threads, check_finite=False)
    exact = kernels.kernel("channels", check_finite=False)(q.astype("float64"), problem.references)
    found = kernel(q, numbers)
    error = float(np.abs(found.gradients - exact.gradients).max() / np.abs(exact.gradients).max())
    timing = time_calls(lambda: kernel(q, numbers), 200)
    figures = {"nodes": float(len(q)), "error": error}
    return record(NAME, _ROBOT, EVALUATION, dtype, figures, timing, threads=threads)


def _tables(records: Records) -> list[TableData]:
    return [_beside(records), _table_3(records), _table_4(records)]


def _beside(records: Records) -> TableData:
    rows = []
    for r in (r for r in records if r.how in (OURS_NATIVE, PAPER)):
        parts = [r.figures.get(f"{part}_s") for part in _PARTS]
        rows.append(
            (
                r.case,
                r.how,
                f"{r.figures['constraints']:,.0f}",
                f"{r.figures['iterations']:.0f}" + ("" if r.figures["solved"] else ", failed"),
                show_ms(median_ns(r)),
                *(show_ms(None if x is None else 1e9 * x) for x in parts),
                show_violation(r),
                show_error(r.figures.get("polynomials")),
            )
        )
    columns = (
        "scenario, cost",
        "method",
        "constraints",
        "iterations",
        "ms",
        *_PARTS,
        "violation",
        "polynomials",
    )
    caption = (
        "Atlas; ms of the whole solve (median), then of its parts in one of them. Violation: at 10 kHz by "
        f"Pinocchio, scaled (none: below {ALLOWED:g}). Polynomials: the largest error of the paper's Taylor "
        f"polynomials along its plan, scaled. With a cost the paper's method is ended after {_MOST} "
        "iterations."
    )
    return TableData("the paper's method beside ours", columns, rows, left=2, caption=caption)


def _table_3(records: Records) -> TableData:
    rows = []
    for scenario, paper in _TABLE_3.items():
        for r in select(records, case=f"{scenario}, {NO_COST}", how=OURS_NATIVE):
            total, count = median_ns(r), r.figures["iterations"]
            each = None if total is None or not count else total / count
            solved = f"{count:.0f}" + ("" if r.figures["solved"] else ", failed")
            rows.append((scenario, solved, show_ms(total), show_ms(each), *_papers(paper), show_violation(r)))
    columns = (
        "scenario", "iterations", "ms", "an iteration",
        "the paper's, double", "its ms", "single", "its ms", "violation",
    )  # fmt: skip
    return TableData(
        "beside the paper's table 3, no cost", columns, rows, left=1,
        caption="Ours: native, float64. The paper's iterations and times: its best GPU, another robot. "
        "Both precisions of ours, on a device too: section `device`.",
    )  # fmt: skip


def _papers(paper: tuple[int, float, int, float]) -> tuple[str, ...]:
    few, fast, iterations, seconds = paper
    return f"{iterations}", f"{1e3 * seconds:.0f}", f"{few}", f"{1e3 * fast:.0f}"


def _table_4(records: Records) -> TableData:
    rows = []
    for case, what in (
        (EVALUATION, "all nodes: values, gradients"),
        (ITERATION, "an iteration, without cost"),
    ):
        for r in select(records, case=case):
            one = next(x for x in records if (x.case, x.how, x.threads) == (case, r.how, 1))
            own, base = (
                x.best_ns / (x.figures["iterations"] if case == ITERATION else 1.0) for x in (r, one)
            )
            precision = r.how if case == EVALUATION else "float64"
            rows.append(
                (
                    what,
                    precision,
                    f"{r.threads}",
                    show_ns(own),
                    f"{base / own:.2f}x",
                    show_error(r.figures.get("error")),
                )
            )
    columns = ("the kick, n = 336", "precision", "threads", "time", "over one thread", "error")
    caption = "Best times. The paper: 2,178 to 2,715 ms an iteration with one thread, 48 on its best GPU."
    return TableData("the paper's table 4: threads", columns, rows, left=2, caption=caption)


SECTION = Section(NAME, _jobs, _tables)
