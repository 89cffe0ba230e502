"""N = 16, 32, 64, 128 time steps end to end, as the papers show it: every overhead included."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from robomorph.bench.functions import FORWARD_DYNAMICS_GRADIENT
from robomorph.bench.ours import our_contestant
from robomorph.bench.peers.pinocchio import COPIES, PINOCCHIO
from robomorph.bench.records import OURS, Record, first, select, speedup
from robomorph.bench.sections.section import Job, Section, TableData, robots_of, show_ns, show_ratio
from robomorph.bench.session import Session
from robomorph.bench.subject import Subject

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


def _tables(records: Sequence[Record]) -> list[TableData]:
    rows = []
    for robot in robots_of(records):
        for count in COUNTS:
            chosen = select(records, robot=robot, batch=count)
            one = first(chosen, who=OURS, threads=1)
            many = next((r for r in chosen if r.who == OURS and r.threads > 1), None)
            theirs = next((r for r in chosen if r.who != OURS), None)
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
    columns = (
        "robot",
        "N",
        "one thread",
        "all threads",
        "pinocchio",
        "faster, one thread",
        "faster, all threads",
    )
    caption = "time of all N forward-dynamics gradients; Pinocchio with its results copied into arrays"
    return [TableData("N time steps end to end", columns, rows, 1, caption)]


TIMESTEPS = Section(NAME, "N = 16 to 128 time steps end to end (the papers' figure)", _jobs, _tables)
