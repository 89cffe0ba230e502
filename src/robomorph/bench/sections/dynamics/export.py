"""The exported header's single evaluation beside the in-process kernel's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from robomorph.bench.exported import HEADER, KERNEL, export_contestants
from robomorph.bench.functions import FORWARD_DYNAMICS_GRADIENT
from robomorph.bench.goals import Goal
from robomorph.bench.records import Record, first, speedup
from robomorph.bench.sections.section import (
    Job,
    Records,
    Section,
    TableData,
    robots_of,
    show_error,
    show_ns,
    show_ratio,
)
from robomorph.bench.session import Session
from robomorph.bench.subject import Subject
from robomorph.errors import TargetError

NAME = "export"


def _jobs(session: Session) -> list[Job]:
    return [Job(f"{s.name}, exported header", partial(_run, session, s)) for s in session.some]


def _run(session: Session, subject: Subject) -> list[Record]:
    function = FORWARD_DYNAMICS_GRADIENT
    try:
        contestants = export_contestants(subject, function)
    except TargetError as error:
        session.note(f"export: {subject.name} not measured: {error}")
        return []
    return session.contest(NAME, subject, function, contestants)


def _tables(records: Records) -> list[TableData]:
    rows = []
    for robot in robots_of(records):
        header, kernel = (first(records, robot=robot, how=how) for how in (HEADER, KERNEL))
        if header is None or kernel is None:
            continue
        times = (show_ns(r.best_ns) for r in (header, kernel))
        rows.append((robot, *times, show_ratio(speedup(header, kernel)), show_error(header.error)))
    columns = ("robot", "exported header", "in-process kernel", "header is faster", "error")
    caption = "forward-dynamics gradient with all its outputs, one state, both called from one C loop"
    return [TableData("the exported C++ header", columns, rows, 1, caption)]


def _header(robot: str) -> Callable[[Records], float | None]:
    def ratio(records: Records) -> float | None:
        header, kernel = (first(records, robot=robot, how=how) for how in (HEADER, KERNEL))
        return speedup(header, kernel)

    return ratio


_GOALS = tuple(
    Goal(f"{robot}, exported header over the in-process kernel", 1.0, "x", _header(robot), robot=robot)
    for robot in ("iiwa14", "hyq", "atlas")
)
SECTION = Section(NAME, _jobs, _tables, _GOALS)
