"""Batch sizes from one to 65,536."""

from __future__ import annotations

import os
from functools import partial

from robomorph.bench.charts import by_threads
from robomorph.bench.functions import FORWARD_DYNAMICS_GRADIENT
from robomorph.bench.ours import our_contestant
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
from robomorph.report.figures import Curve, Figure, Panel

NAME = "batches"
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096, 16384, 65536)
_QUICK_SIZES = (1, 16, 128, 1024, 4096)
# A loop over states costs the same per state however many there are, and larger batches repeat these states.
_MOST_OF_THEIRS = 1024


def _jobs(session: Session) -> list[Job]:
    sizes = _QUICK_SIZES if session.quick else SIZES
    return [Job(f"{s.name}, batch {n}", partial(_run, session, s, n)) for s in session.some for n in sizes]


def _run(session: Session, subject: Subject, size: int) -> list[Record]:
    function = FORWARD_DYNAMICS_GRADIENT
    if not _fits(subject, size):
        session.note(f"batches: {subject.name} at {size} left out, its results need too much memory here")
        return []
    contestants = [our_contestant(subject, function, size)]
    if session.cpus > 1 and size > 1:
        contestants.append(our_contestant(subject, function, size, threads=session.cpus))
    contestants += session.theirs(subject, function, min(size, _MOST_OF_THEIRS), reference_only=True)[:1]
    records = session.contest(NAME, subject, function, contestants, batch=size)
    if size > _MOST_OF_THEIRS:
        subject.forget(size)
    return records


def _fits(subject: Subject, size: int) -> bool:
    """Two sets of results must fit into a good half of the memory that is free."""
    needed = 2 * size * (subject.nv + 2 * subject.nv**2) * 8
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        free = 2**32
    return needed < 0.6 * free


def _tables(records: Records) -> list[TableData]:
    rows = []
    for robot in robots_of(records):
        mine = select(records, robot=robot)
        for size in dict.fromkeys(r.batch for r in mine):
            chosen = select(mine, batch=size)
            one, many, theirs = one_many_theirs(chosen)
            times = (None if r is None else r.best_ns for r in (one, many, theirs))
            faster = (show_ratio(speedup(r, theirs)) for r in (one, many))
            rows.append((robot, f"{size:,}", *(show_ns(t) for t in times), *faster))
    columns = ("robot", "batch", *ONE_MANY_THEIRS)
    caption = "forward-dynamics gradient, float64, time per evaluation"
    return [TableData("batch sizes", columns, rows, 1, caption)]


def _figures(records: Records) -> list[Figure]:
    """Time per evaluation over the batch size, one panel per robot."""
    robots = robots_of(records)
    panels = []
    for robot in robots:
        curves = [
            Curve([r.batch for r in mine], [r.best_ns / 1e3 for r in mine], label, colour)
            for label, (mine, colour) in by_threads(select(records, robot=robot)).items()
        ]
        label, legend = ("time per gradient (us)", "inside") if robot == robots[0] else ("", "")
        panels.append(Panel(curves, robot, "batch size", label, log="xy", legend=legend))
    return [Figure(NAME, panels, (4.2 * len(robots), 3.4))]


SECTION = Section(NAME, _jobs, _tables, figures=_figures)
