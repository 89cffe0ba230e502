"""One computation split in its three steps, as the papers show it: v, a, f; dc'/du; M^-1."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from robomorph.bench.functions import (
    FORWARD_DYNAMICS_GRADIENT,
    INVERSE_DYNAMICS,
    INVERSE_DYNAMICS_GRADIENT,
    MASS_MATRIX_INVERSE,
)
from robomorph.bench.ours import our_contestant
from robomorph.bench.records import Record, select
from robomorph.bench.sections.section import Job, Section, TableData, robots_of, show_ns
from robomorph.bench.session import Session
from robomorph.bench.subject import Subject

NAME = "steps"
_PARTS = (INVERSE_DYNAMICS, INVERSE_DYNAMICS_GRADIENT, MASS_MATRIX_INVERSE, FORWARD_DYNAMICS_GRADIENT)


def _jobs(session: Session) -> list[Job]:
    return [Job(f"{s.name}, one computation", partial(_run, session, s)) for s in session.subjects]


def _run(session: Session, subject: Subject) -> list[Record]:
    records = []
    for function in _PARTS:
        contestants = [our_contestant(subject, function, 1)]
        contestants += session.theirs(subject, function, 1, reference_only=True)[:1]
        records += session.contest(NAME, subject, function, contestants)
    return records


def split(records: Sequence[Record]) -> dict[str, float]:
    """Nanoseconds of each step for one contestant. The gradient's function begins with the v, a, f of its
    own; what it takes beyond a call for these alone is the step dc'/du."""
    times = {record.function: record.best_ns for record in records}
    forces = times[INVERSE_DYNAMICS.name]
    return {
        "v, a, f": forces,
        "dc'/du": max(0.0, times[INVERSE_DYNAMICS_GRADIENT.name] - forces),
        "M^-1": times[MASS_MATRIX_INVERSE.name],
        "all in one function": times[FORWARD_DYNAMICS_GRADIENT.name],
    }


def _tables(records: Sequence[Record]) -> list[TableData]:
    rows = []
    for robot in robots_of(records):
        for who in dict.fromkeys(r.who for r in select(records, robot=robot)):
            parts = split(select(records, robot=robot, who=who))
            rows.append((robot, who, *(show_ns(time) for time in parts.values())))
    columns = ("robot", "who", "v, a, f", "dc'/du", "M^-1", "all in one function")
    caption = (
        "dc'/du: the inverse-dynamics gradient less its v, a, f. The last column also multiplies the two."
    )
    return [TableData("one computation in its three steps (single calls)", columns, rows, 2, caption)]


STEPS = Section(NAME, "one computation split in three steps (the papers' figure)", _jobs, _tables)
