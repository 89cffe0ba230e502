"""The paper's own method on the same kernels, beside ours, without cost as the paper ran it, and with one."""

from __future__ import annotations

from functools import partial
from typing import Any

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
from robomorph.bench.records import Record
from robomorph.bench.sections.section import Job, Records, Section, TableData, show_error
from robomorph.bench.session import Session
from robomorph.planning.plan import Plan

NAME = "paper"
_ROBOT = "atlas"
OURS_NATIVE, PAPER = "ours, native", "the paper's, IPOPT"
_PARTS = ("values", "gradients", "hessians", "filling", "solver")  # as `plan.split` has them
_MOST = 150  # iterations of IPOPT, which need not end where there are kinks
_ROUNDS = 3
# The paper's table 3: IPOPT's iterations and ms in double precision on its best GPU, without cost.
_PRINTED = {"squat": "14 in 426", "feet": "12 in 496", "kick": "16 in 766"}


def _jobs(session: Session) -> list[Job]:
    if Ipopt not in session.present:
        session.note(f"paper: ours alone. IPOPT is absent: {session.absent.get(Ipopt.name)}")
    costs = (NO_COST,) if session.quick else (NO_COST, JERK)
    return [
        Job(f"{scenario}, cost {cost}", partial(_run, session, scenario, cost))
        for scenario in SCENARIOS
        for cost in costs
    ]


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
        figures |= _split(plan)
        if not own:
            figures["polynomials"] = polynomial_error(motion, plan)
        if not plan.success:
            session.note(f"{where}: {plan.reason}")
        out.append(
            record(NAME, case.robot, f"{case.scenario}, {cost}", how, figures, timing, threads=threads)
        )
    return out


def _split(plan: Plan) -> dict[str, float]:
    return {f"{part}_s": plan.split[part] for part in _PARTS if part in plan.split}


def _tables(records: Records) -> list[TableData]:
    rows = []
    for r in records:
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
                _printed(r),
            )
        )
    columns = (
        "scenario, cost", "method", "constraints", "iterations", "ms", *_PARTS, "violation", "polynomials",
        "the paper printed",
    )  # fmt: skip
    caption = (
        "Atlas; ms of the whole solve (median), then of its parts in one of them. Violation: at 10 kHz by "
        f"Pinocchio, scaled (none: below {ALLOWED:g}). Polynomials: the largest error of the paper's Taylor "
        f"polynomials along its plan, scaled. With a cost the paper's method is ended after {_MOST} "
        "iterations. Printed: iterations and ms on the paper's best GPU in double precision, for HRP-2."
    )
    return [TableData("the paper's method beside ours", columns, rows, left=2, caption=caption)]


def _printed(r: Record) -> str:
    scenario, _, cost = r.case.rpartition(", ")
    return _PRINTED.get(scenario, "-") if cost == NO_COST and r.how == PAPER else "-"


SECTION = Section(NAME, _jobs, _tables)
