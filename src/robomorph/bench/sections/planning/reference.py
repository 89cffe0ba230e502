"""The machine's speed in a figure that every run of the benchmark knows: iiwa14's gradient."""

from __future__ import annotations

from functools import partial

from robomorph.bench.functions import FORWARD_DYNAMICS_GRADIENT
from robomorph.bench.ours import our_contestant
from robomorph.bench.records import Record
from robomorph.bench.sections.section import Job, Records, Section, TableData, show_error, show_ns
from robomorph.bench.session import Session
from robomorph.bench.subject import Subject

NAME = "reference"
BATCH = 128
NANOSECONDS = 104.0  # of a quiet machine, for the times in docs/benchmarks.md


def _jobs(session: Session) -> list[Job]:
    return [Job("iiwa14's gradient", partial(_run, session))]


def _run(session: Session) -> list[Record]:
    subject = Subject("iiwa14")
    ours = our_contestant(subject, FORWARD_DYNAMICS_GRADIENT, BATCH)
    return session.contest(NAME, subject, FORWARD_DYNAMICS_GRADIENT, [ours])


def _tables(records: Records) -> list[TableData]:
    rows = [
        (r.robot, show_ns(r.best_ns), f"{r.best_ns / NANOSECONDS:.2f}", show_error(r.error)) for r in records
    ]
    return [
        TableData(
            f"the machine: forward-dynamics gradient, batch of {BATCH}, one thread",
            ("robot", "per evaluation", f"over {NANOSECONDS:.0f} ns", "error"),
            rows,
            caption="Times below may be divided by the ratio to compare machines.",
        )
    ]


SECTION = Section(NAME, _jobs, _tables)
