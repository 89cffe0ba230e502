"""From `load` to the first gradient, in fresh processes: nothing cached, then cached."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from robomorph.bench.cold_start import measure_in_child
from robomorph.bench.functions import FORWARD_DYNAMICS_GRADIENT
from robomorph.bench.goals import Goal
from robomorph.bench.records import OURS, Record, first
from robomorph.bench.sections.section import Job, Records, Section, TableData, show_seconds
from robomorph.bench.session import Session
from robomorph.bench.subject import Subject

NAME = "compile"
FRESH = "nothing cached"
CACHED = "cached"
_SINGLE, _BATCH = 1, 128
_SECONDS = {"iiwa14": (1.0, 0.15), "atlas": (6.0, 0.5)}  # at most: nothing cached, cached


def _jobs(session: Session) -> list[Job]:
    return [
        Job(f"{s.name}, {'one call' if n == 1 else f'batch {n}'}", partial(_run, s, n))
        for s in session.some
        for n in (_SINGLE, _BATCH)
    ]


def _run(subject: Subject, batch: int) -> list[Record]:
    function = FORWARD_DYNAMICS_GRADIENT.name
    with tempfile.TemporaryDirectory(prefix="robomorph-bench-") as folder:
        found = {
            how: measure_in_child(subject.source, function, batch, Path(folder)) for how in (FRESH, CACHED)
        }
    return [
        Record(NAME, subject.name, function, OURS, how, batch=batch, figures=figures)
        for how, figures in found.items()
    ]


def _tables(records: Records) -> list[TableData]:
    rows = [
        (
            r.robot,
            "one call" if r.batch == 1 else f"batch of {r.batch}",
            r.how,
            show_seconds(r.figures["load_s"]),
            show_seconds(r.figures["first_s"]),
            show_seconds(r.figures["total_s"]),
            f"{r.figures['peak_mb']:.0f} MB",
        )
        for r in records
    ]
    columns = ("robot", "what", "cache", "load", "first result", "together", "peak memory")
    caption = (
        "forward-dynamics gradient with all its outputs, each row a process of its own; imports not counted"
    )
    return [TableData("from load to the first gradient", columns, rows, 3, caption)]


def _goals() -> tuple[Goal, ...]:
    return tuple(
        Goal(
            f"{robot}, from load to the first gradient, {how}",
            value,
            " s",
            _total(robot, how),
            at_least=False,
            robot=robot,
        )
        for robot, limits in _SECONDS.items()
        for how, value in zip((FRESH, CACHED), limits, strict=True)
    )


def _total(robot: str, how: str) -> Callable[[Records], float | None]:
    def seconds(records: Records) -> float | None:
        record = first(records, robot=robot, how=how, batch=_SINGLE)
        return None if record is None else record.figures["total_s"]

    return seconds


SECTION = Section(NAME, _jobs, _tables, _goals())
