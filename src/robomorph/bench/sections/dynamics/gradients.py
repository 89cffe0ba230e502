"""The forward-dynamics gradient against every library: a batch of 128, and one call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from robomorph.bench.functions import FORWARD_DYNAMICS_GRADIENT
from robomorph.bench.ours import INTO_OUT, NEW_ARRAYS, our_contestant
from robomorph.bench.peers.pinocchio import CALLS, PINOCCHIO
from robomorph.bench.records import OURS, Record, first, select, speedup
from robomorph.bench.sections.section import (
    Job,
    Section,
    TableData,
    robots_of,
    show_error,
    show_ns,
    show_ratio,
    show_seconds,
)
from robomorph.bench.session import Session
from robomorph.bench.subject import Subject

NAME = "gradients"
BATCH = 128


def _jobs(session: Session) -> list[Job]:
    jobs = []
    for subject in session.subjects:
        jobs.append(Job(f"{subject.name}, batch {BATCH}", partial(_run, session, subject, BATCH)))
        jobs.append(Job(f"{subject.name}, one call", partial(_run, session, subject, 1)))
    return jobs


def _run(session: Session, subject: Subject, batch: int) -> list[Record]:
    function = FORWARD_DYNAMICS_GRADIENT
    ours = [our_contestant(subject, function, batch, how=how) for how in (INTO_OUT, NEW_ARRAYS)]
    if batch > 1 and (not session.quick or subject in session.first):
        ours.append(our_contestant(subject, function, batch, dtype="float32"))
    return session.contest(NAME, subject, function, ours + session.theirs(subject, function, batch))


def _tables(records: Sequence[Record]) -> list[TableData]:
    columns = ("who", "how", "dtype", "best", "median", "warm-up", "error", "robomorph is faster")
    tables = []
    for robot in robots_of(records):
        for batch in (BATCH, 1):
            chosen = select(records, robot=robot, batch=batch)
            ours = first(chosen, who=OURS, how=INTO_OUT, dtype="float64")
            rows = [_row(record, ours) for record in chosen]
            what = f"a batch of {batch}, time per evaluation" if batch > 1 else "one call"
            title = f"forward-dynamics gradient, {robot}: {what}"
            caption = (
                f"outputs qdd, dqdd_dq, dqdd_dqd; one thread; errors against {chosen[0].reference}"
                if chosen
                else None
            )
            tables.append(TableData(title, columns, rows, left=3, caption=caption))
    return tables


def _row(record: Record, ours: Record | None) -> tuple[str, ...]:
    assert record.timing is not None
    t = record.timing
    faster = "-" if record is ours else show_ratio(speedup(ours, record))
    head = record.how == CALLS and record.who == PINOCCHIO
    return (
        record.who,
        record.how,
        record.dtype,
        show_ns(t.best_ns),
        show_ns(t.median_ns),
        show_seconds(t.warmup_s),
        show_error(record.error),
        f"{faster} *" if head else faster,
    )


GRADIENTS = Section(
    NAME, "forward-dynamics gradient against every library, batch and single call", _jobs, _tables
)
