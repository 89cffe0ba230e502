"""N = 16, 32, 64, 128 time steps end to end, as the papers show it: every overhead included."""

from __future__ import annotations

from functools import partial

from robomorph.bench.charts import bars_over_batch, by_threads
from robomorph.bench.functions import FORWARD_DYNAMICS_GRADIENT
from robomorph.bench.ours import our_contestant
from robomorph.bench.peers.pinocchio import COPIES, PINOCCHIO
from robomorph.bench.records import Record, one_many_theirs, select, speedup
from robomorph.bench.sections.section import (
    ONE_MANY_THEIRS,
    Job,
    Records,
    Section,
    TableData,
    robots_of,
    show_ns,
    show_ratio,
)
from robomorph.bench.session import Session
from robomorph.bench.subject import Subject
from robomorph.report.figures import Figure, Panel

NAME = "timesteps"
COUNTS = (16, 32, 64, 128)


def _jobs(session: Session) -> list[Job]:
    return [Job(f"{s.name}, N = {n}", partial(_run, session, s, n)) for s in session.some for n in COUNTS]


def _run(session: Session, subject: Subject, count: int) -> list[Record]:
    function = FORWARD_DYNAMICS_GRADIENT
    contestants = [our_contestant(subject, function, count)]
    if session.cpus > 1:
        contestants.append(our_contestant(subject, function, count, threads=session.cpus))
    theirs = session.theirs(subject, function, count, reference_only=True)
    contestants += [c for c in theirs if c.who != PINOCCHIO or c.how == COPIES]
    return session.contest(NAME, subject, function, contestants)


def _tables(records: Records) -> list[TableData]:
    rows = []
    for robot in robots_of(records):
        for count in COUNTS:
            chosen = select(records, robot=robot, batch=count)
            one, many, theirs = one_many_theirs(chosen)
            best = many or one
            rows.append(
                (
                    robot,
                    str(count),
                    *(show_ns(None if r is None else r.best_ns * count) for r in (one, many, theirs)),
                    show_ratio(speedup(one, theirs)),
                    show_ratio(speedup(best, theirs)),
                )
            )
    columns = ("robot", "N", *ONE_MANY_THEIRS)
    caption = "time of all N forward-dynamics gradients; Pinocchio with its results copied into arrays"
    return [TableData("N time steps end to end", columns, rows, 1, caption)]


def _figures(records: Records) -> list[Figure]:
    """Grouped bars over N: all time steps end to end."""
    robots = robots_of(records)
    panels = []
    for robot in robots:
        groups = by_threads(select(records, robot=robot)).items()
        first = robot == robots[0]
        panels.append(
            Panel(
                [bars_over_batch(label, mine, colour, COUNTS) for label, (mine, colour) in groups],
                robot,
                x_label="N",
                y_label="N gradients, end to end (us)" if first else "",
                categories=[str(n) for n in COUNTS],
                log="y",
                legend="inside" if first else "",
            )
        )
    return [Figure(NAME, panels, (4.2 * len(robots), 3.4))]


SECTION = Section(NAME, _jobs, _tables, figures=_figures)
