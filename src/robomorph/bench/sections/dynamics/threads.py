"""Persistent threads against threads launched for every call, and two threads against one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from robomorph.bench.charts import COLOURS, bars_over_batch
from robomorph.bench.functions import FORWARD_DYNAMICS_GRADIENT
from robomorph.bench.goals import Goal
from robomorph.bench.ours import LAUNCHING, PERSISTENT, our_contestant
from robomorph.bench.records import Record, first, select, speedup
from robomorph.bench.sections.section import Job, Records, Section, TableData, robots_of, show_ns, show_ratio
from robomorph.bench.session import Session
from robomorph.bench.subject import Subject
from robomorph.report.figures import Figure, Panel

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


def _tables(records: Records) -> list[TableData]:
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


def _figures(records: Records) -> list[Figure]:
    """Grouped bars over N: one thread, two persistent, two launched for the call."""
    groups = (
        ("1 thread", select(records, threads=1), "one"),
        ("2 persistent threads", select(records, threads=TWO, how=PERSISTENT), "many"),
        ("2 threads launched per call", select(records, threads=TWO, how=LAUNCHING), "third"),
    )
    panel = Panel(
        [bars_over_batch(label, mine, COLOURS[colour], COUNTS) for label, mine, colour in groups if mine],
        records[0].robot,
        x_label="N",
        y_label="N gradients, end to end (us)",
        categories=[str(n) for n in COUNTS],
        legend="inside",
    )
    return [Figure(NAME, [panel], (4.6, 3.4))]


def _over(batch: int, threads: int, how: str) -> Callable[[Records], float | None]:
    """Two persistent threads over another way."""

    def ratio(records: Records) -> float | None:
        common = {"robot": "iiwa14", "batch": batch}
        two = first(records, **common, threads=TWO, how=PERSISTENT)
        return speedup(two, first(records, **common, threads=threads, how=how))

    return ratio


def _goal(what: str, value: float, ratio: Callable[[Records], float | None]) -> Goal:
    return Goal(f"iiwa14, {what}", value, "x", ratio, robot="iiwa14")


SECTION = Section(
    NAME,
    _jobs,
    _tables,
    (
        _goal("two threads over one, N = 128", 1.8, _over(128, 1, PERSISTENT)),
        _goal("two threads over one, N = 16", 1.3, _over(16, 1, PERSISTENT)),
        _goal("persistent threads over launching them, N = 16", 1.9, _over(16, TWO, LAUNCHING)),
    ),
    _figures,
)
