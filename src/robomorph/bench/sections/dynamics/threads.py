"""Persistent threads against threads launched for every call, and two threads against one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from robomorph.bench.functions import FORWARD_DYNAMICS_GRADIENT
from robomorph.bench.ours import LAUNCHING, PERSISTENT, our_contestant
from robomorph.bench.records import Record, first, select, speedup
from robomorph.bench.sections.section import Job, Section, TableData, robots_of, show_ns, show_ratio
from robomorph.bench.session import Session
from robomorph.bench.subject import Subject

NAME = "threads"
COUNTS = (16, 32, 64, 128)
TWO = 2


def _jobs(session: Session) -> list[Job]:
    if session.cpus < TWO:
        session.note("threads: this process may use one CPU only, so threads were not compared")
        return []
    return [Job(f"{s.name}, N = {n}", partial(_run, session, s, n)) for s in session.first for n in COUNTS]


def _run(session: Session, subject: Subject, count: int) -> list[Record]:
    function = FORWARD_DYNAMICS_GRADIENT
    ways = [(1, PERSISTENT), (TWO, PERSISTENT), (TWO, LAUNCHING)]
    contestants = [our_contestant(subject, function, count, threads=n, how=how) for n, how in ways]
    return session.contest(NAME, subject, function, contestants)


def _tables(records: Sequence[Record]) -> list[TableData]:
    rows = []
    for robot in robots_of(records):
        for count in COUNTS:
            chosen = select(records, robot=robot, batch=count)
            one = first(chosen, threads=1)
            two, launched = (first(chosen, threads=TWO, how=how) for how in (PERSISTENT, LAUNCHING))
            times = (None if r is None else r.best_ns * count for r in (one, two, launched))
            rows.append(
                (
                    robot,
                    str(count),
                    *(show_ns(t) for t in times),
                    show_ratio(speedup(two, one)),
                    show_ratio(speedup(two, launched)),
                )
            )
    columns = (
        "robot",
        "N",
        "1 thread",
        "2 persistent",
        "2 launched",
        "two over one",
        "persistent over launched",
    )
    caption = (
        "time of all N forward-dynamics gradients; launched: threads are started for the call and joined"
    )
    return [TableData("threads", columns, rows, 1, caption)]


THREADS = Section(NAME, "persistent threads against launching them, two threads against one", _jobs, _tables)
