"""Constraints at points of every interval, as most planners have them, against every instant."""

from __future__ import annotations

from functools import partial

from robomorph.bench.goals import Goal
from robomorph.bench.planning.motion_check import ALLOWED, MotionCheck
from robomorph.bench.planning.pinocchio_motion import SplineMotion
from robomorph.bench.planning.problems import Case, installed
from robomorph.bench.planning.solving import (
    figures_of,
    measured,
    median_ns,
    record,
    show_ms,
    show_violation,
    threads_of,
    timed,
)
from robomorph.bench.records import Record, first
from robomorph.bench.sections.section import Job, Records, Section, TableData
from robomorph.bench.session import Session

NAME = "grids"
POINTS = (2, 3, 5, 8)
EVERY_INSTANT = "every instant"
FAST = "swing"
_CASES = (Case(FAST, "iiwa14"), Case("arm", "panda"), Case("kick", "atlas"))
_ROUNDS = 3
_BROKEN = 5.0  # % of the torque limit that a grid of five points breaks in the fast motion


def _jobs(session: Session) -> list[Job]:
    cases = _CASES[:1] if session.quick else _CASES
    return [Job(case.label, partial(_run, session, case)) for case in installed(cases, session.note)]


def how(points: int) -> str:
    return f"grid, {points} points"


def _run(session: Session, case: Case) -> list[Record]:
    scenario = case.load()
    motion, check, threads = scenario.motion(), MotionCheck(scenario), threads_of(session)
    ways = [(how(n), {"method": "grid", "points": n}) for n in POINTS]
    out = []
    for name, options in [*ways, (EVERY_INSTANT, {})]:
        plan, timing = timed(motion, scenario.cost, _ROUNDS, solver="native", threads=threads, **options)
        where = f"{case.label}, {name}"
        figures = figures_of(plan) | measured(session, where, check, plan, claims=not options)
        if "torque" in scenario.tables.get("limits", {}):
            figures["torque"] = check.torque_excess(SplineMotion(plan.control, plan.seconds)).scaled
        if not plan.success:
            session.note(f"{where}: {plan.reason}")
        out.append(record(NAME, case.robot, case.scenario, name, figures, timing, threads=threads))
    return out


def _tables(records: Records) -> list[TableData]:
    rows = [
        (
            r.robot,
            r.case,
            r.how if r.figures["solved"] else f"{r.how} (failed)",
            f"{r.figures['seconds']:.4f}",
            f"{r.figures['constraints']:,.0f}",
            show_ms(median_ns(r)),
            _torque(r),
            show_violation(r),
        )
        for r in records
    ]
    columns = (
        "robot", "scenario", "constraints held at", "duration, s", "constraints", "ms",
        "torque beyond its limit", "violation",
    )  # fmt: skip
    caption = (
        "Points per interval. Both columns at the right: the largest at 10 kHz by Pinocchio; the first as a "
        f"share of the limit, the second of any constraint, scaled (none: below {ALLOWED:g})."
    )
    return [TableData("grids against every instant", columns, rows, left=3, caption=caption)]


def _torque(r: Record) -> str:
    found = r.figures.get("torque")
    return "-" if found is None else "none" if found <= ALLOWED else f"{found:.1%}"


def _broken(name: str, records: Records) -> float | None:
    found = first(records, case=FAST, how=name)
    return None if found is None or not found.figures["solved"] else 100.0 * max(0.0, found.figures["torque"])


_GOALS = (
    Goal(f"{FAST}: torque beyond its limit, grid of 5", _BROKEN, "%", partial(_broken, how(5))),
    Goal(
        f"{FAST}: torque beyond its limit, every instant", 100.0 * ALLOWED, "%",
        partial(_broken, EVERY_INSTANT), False,
    ),
)  # fmt: skip
SECTION = Section(NAME, _jobs, _tables, _GOALS)
