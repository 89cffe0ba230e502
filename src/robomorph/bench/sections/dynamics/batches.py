"""Batch sizes from one to 65,536, into given arrays and into new ones."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from robomorph.bench.charts import by_threads
from robomorph.bench.functions import FORWARD_DYNAMICS_GRADIENT
from robomorph.bench.goals import Goal
from robomorph.bench.measuring import Contestant
from robomorph.bench.ours import INTO_OUT, NEW_ARRAYS, our_contestant
from robomorph.bench.records import OURS, REFUSED, Record, first, one_many_theirs, select, speedup
from robomorph.bench.sections.section import (
    ONE_MANY_THEIRS,
    Job,
    Records,
    Section,
    TableData,
    robots_of,
    show_error,
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
_LARGEST = 65536
_SMALL = 128  # what every cache holds
_KEPT = 4096  # the batch that new arrays are judged at
_MEMORY = "memory_ns"  # of a state: what writing zeros over its results takes


def _jobs(session: Session) -> list[Job]:
    sizes = _QUICK_SIZES if session.quick else SIZES
    return [Job(f"{s.name}, batch {n}", partial(_run, session, s, n)) for s in session.some for n in sizes]


def _run(session: Session, subject: Subject, size: int) -> list[Record]:
    function = FORWARD_DYNAMICS_GRADIENT
    if not _fits(subject, size):
        session.note(f"batches: {subject.name} at {size} left out, its results need too much memory here")
        return []
    contestants = [our_contestant(subject, function, size)]
    if size > 1:
        contestants.append(our_contestant(subject, function, size, how=NEW_ARRAYS))
    if session.cpus > 1 and size > 1:
        contestants.append(our_contestant(subject, function, size, threads=session.cpus))
    contestants += session.theirs(subject, function, min(size, _MOST_OF_THEIRS), reference_only=True)[:1]
    records = session.contest(NAME, subject, function, contestants, batch=size)
    if size > _MOST_OF_THEIRS:
        records = [_judged(r, c) for r, c in zip(records, contestants, strict=True)]
        subject.forget(size)
    memory = _memory_ns(subject, size)
    return [replace(r, figures={**r.figures, _MEMORY: memory}) for r in records]


def _memory_ns(subject: Subject, size: int) -> float:
    """What the C library takes to write zeros over as many bytes as the results have, per state: without
    computing anything a thread cannot be faster."""
    results = np.ones(size * (subject.nv + 2 * subject.nv**2))
    times = []
    for _ in range(5):
        start = time.perf_counter_ns()
        ctypes.memset(results.ctypes.data, 0, results.nbytes)
        times.append(time.perf_counter_ns() - start)
    return min(times) / size


def _judged(record: Record, contestant: Contestant) -> Record:
    """The record with the number of rows of ours that have other bits than the first ones of the same states:
    only those first ones have been compared with another library's."""
    if contestant.who != OURS or contestant.results is None:
        return record
    differ = np.zeros(record.batch, dtype=bool)
    for found in contestant.results().values():
        rows = found.reshape(record.batch, -1).view(np.uint64)
        for start in range(0, record.batch, _MOST_OF_THEIRS):
            part = rows[start : start + _MOST_OF_THEIRS]
            differ[start : start + len(part)] |= (part != rows[: len(part)]).any(axis=1)
    return replace(record, figures={**record.figures, REFUSED: float(differ.sum())})


def _fits(subject: Subject, size: int) -> bool:
    """Two given sets of results, new ones and a copy must fit into a good half of the memory that is free."""
    needed = 4 * size * (subject.nv + 2 * subject.nv**2) * 8
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
            one, many, theirs = one_many_theirs([r for r in chosen if r.how != NEW_ARRAYS])
            new = first(chosen, how=NEW_ARRAYS)
            times = (None if r is None else r.best_ns for r in (one, many, theirs))
            faster = (show_ratio(speedup(r, theirs)) for r in (one, many))
            fresh = (show_ns(None if new is None else new.best_ns), show_ratio(speedup(one, new)))
            error = show_error(None if one is None else one.error)
            zeros = show_ns(None if one is None else one.figures.get(_MEMORY))
            rows.append((robot, f"{size:,}", *(show_ns(t) for t in times), *faster, *fresh, zeros, error))
    columns = ("robot", "batch", *ONE_MANY_THEIRS, "new arrays", "over out=", "zeros", "error")
    caption = (
        "forward-dynamics gradient, float64, out= given, time per evaluation; new arrays: one thread; zeros: "
        "what the C library takes to write zeros over as many bytes, on one thread: a floor"
    )
    return [TableData("batch sizes", columns, rows, 1, caption)]


def _figures(records: Records) -> list[Figure]:
    """Time per evaluation over the batch size, one panel per robot."""
    robots = robots_of(records)
    panels = []
    for robot in robots:
        curves = [
            Curve([r.batch for r in mine], [r.best_ns / 1e3 for r in mine], label, colour)
            for label, (mine, colour) in by_threads(_into_given(records, robot)).items()
        ]
        label, legend = ("time per gradient (us)", "inside") if robot == robots[0] else ("", "")
        panels.append(Panel(curves, robot, "batch size", label, log="xy", legend=legend))
    return [Figure(NAME, panels, (4.2 * len(robots), 3.4))]


def _into_given(records: Records, robot: str) -> list[Record]:
    return [r for r in select(records, robot=robot) if r.how != NEW_ARRAYS]


def _over_theirs(robot: str) -> Callable[[Records], float | None]:
    """The largest batch on one thread against the other library."""

    def ratio(records: Records) -> float | None:
        one, _, theirs = one_many_theirs(select(_into_given(records, robot), batch=_LARGEST))
        return speedup(one, theirs)

    return ratio


def _over_small(robot: str) -> Callable[[Records], float | None]:
    """What a state takes in the largest batch, times what it takes where the caches hold everything: of this
    machine's lanes and clock nothing is left in it."""

    def ratio(records: Records) -> float | None:
        mine = select(_into_given(records, robot), threads=1)
        return speedup(first(mine, who=OURS, batch=_SMALL), first(mine, who=OURS, batch=_LARGEST))

    return ratio


def _new_over_given(records: Records) -> float | None:
    """What new arrays cost, times the time with out=: the worst robot's."""
    chosen = select(records, batch=_KEPT, threads=1)
    pairs = [[first(chosen, robot=r, how=how) for how in (INTO_OUT, NEW_ARRAYS)] for r in robots_of(chosen)]
    ratios = [speedup(given, new) for given, new in pairs]
    return max((ratio for ratio in ratios if ratio is not None), default=None)


SECTION = Section(
    NAME,
    _jobs,
    _tables,
    (
        Goal("iiwa14, 65,536 states over pinocchio", 42.0, "x", _over_theirs("iiwa14"), robot="iiwa14"),
        Goal("hyq, 65,536 states over pinocchio", 38.0, "x", _over_theirs("hyq"), robot="hyq"),
        Goal("iiwa14, 65,536 over 128", 1.29, "x", _over_small("iiwa14"), at_least=False, robot="iiwa14"),
        Goal("hyq, 65,536 over 128", 1.63, "x", _over_small("hyq"), at_least=False, robot="hyq"),
        Goal("new arrays over out= at 4,096 states", 1.3, "x", _new_over_given, at_least=False),
    ),
    _figures,
)
