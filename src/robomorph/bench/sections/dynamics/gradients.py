"""The forward-dynamics gradient against every library: a batch of 128, and one call."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from robomorph.bench.functions import FORWARD_DYNAMICS_GRADIENT
from robomorph.bench.goals import Goal
from robomorph.bench.ours import INTO_OUT, NEW_ARRAYS, our_contestant
from robomorph.bench.peers.pinocchio import CALLS, PINOCCHIO
from robomorph.bench.ratios import over_pinocchio
from robomorph.bench.records import OURS, Record, first, select, speedup
from robomorph.bench.sections.section import (
    Job,
    Records,
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
_OVER_PINOCCHIO = {"iiwa14": (26.0, 5.5), "hyq": (36.0, 6.0), "atlas": (15.0, 4.5)}  # batch, one call


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


def _tables(records: Records) -> list[TableData]:
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


def _goals() -> tuple[Goal, ...]:
    goals = []
    for robot, (batch, call) in _OVER_PINOCCHIO.items():
        for what, size, value in (("batch of 128", BATCH, batch), ("one call with out=", 1, call)):
            title = f"{robot}, forward-dynamics gradient over Pinocchio, {what}"
            ratio = over_pinocchio(robot, FORWARD_DYNAMICS_GRADIENT.name, size)
            goals.append(Goal(title, value, "x", ratio, robot=robot))
        title = f"{robot}, float32 over float64, batch of 128"
        goals.append(Goal(title, 1.8, "x", _narrow_over_wide(robot), robot=robot))
    return tuple(goals)


def _narrow_over_wide(robot: str) -> Callable[[Records], float | None]:
    def ratio(records: Records) -> float | None:
        common = {"robot": robot, "batch": BATCH, "who": OURS, "how": INTO_OUT}
        narrow, wide = (first(records, **common, dtype=dtype) for dtype in ("float32", "float64"))
        return speedup(narrow, wide)

    return ratio


SECTION = Section(NAME, _jobs, _tables, _goals())
