"""What the order of operations and the cuts of the program cost."""

from __future__ import annotations

from functools import partial

from robomorph.bench.functions import FORWARD_DYNAMICS_GRADIENT
from robomorph.bench.measuring import measure
from robomorph.bench.records import OURS, Record
from robomorph.bench.schedules import schedule_contestants
from robomorph.bench.sections.section import Job, Records, Section, TableData, show_ns
from robomorph.bench.session import Session
from robomorph.bench.subject import Subject

NAME = "schedule"
BATCH = 128


def _jobs(session: Session) -> list[Job]:
    return [Job(s.name, partial(_run, session, s)) for s in session.some]


def _run(session: Session, subject: Subject) -> list[Record]:
    contestants = schedule_contestants(subject, BATCH)
    timings = measure(contestants, session.effort)
    function = FORWARD_DYNAMICS_GRADIENT.name
    return [
        Record(NAME, subject.name, function, OURS, c.how, "float64", BATCH, 1, timing)
        for c, timing in zip(contestants, timings, strict=True)
    ]


def _tables(records: Records) -> list[TableData]:
    rows = [(r.robot, r.how, show_ns(r.best_ns)) for r in records]
    caption = "forward-dynamics gradient, float64, batch of 128, one thread"
    return [TableData("order and cuts", ("robot", "order, cuts", "time"), rows, 2, caption)]


SECTION = Section(NAME, _jobs, _tables)
