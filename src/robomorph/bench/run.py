"""Running sections one after the other, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from robomorph.bench.goals import Verdict, judge
from robomorph.bench.machine import describe_machine
from robomorph.bench.records import Record, first, speedup
from robomorph.bench.sections import SECTIONS
from robomorph.bench.sections.section import TableData
from robomorph.bench.session import Session
from robomorph.errors import ArgumentError
from robomorph.model.naming import hint

DEFAULT_ROBOTS = ("iiwa14", "hyq", "atlas")
_BUSY_LOAD = 0.7
_UNSTEADY = 1.25


class Progress(Protocol):
    """A display of the jobs, used as a context."""

    def __enter__(self) -> Any: ...

    def __exit__(self, *exception: object) -> None: ...

    def step(self, name: str) -> None:
        """The next job begins."""


@dataclass(frozen=True)
class Outcome:
    """All that one run found."""

    machine: dict[str, Any]
    settings: dict[str, Any]
    records: list[Record]
    verdicts: list[Verdict]
    notes: list[str]

    def tables(self) -> list[TableData]:
        """The tables of every section that has records."""
        found = []
        for name in self.settings["sections"]:
            mine = [r for r in self.records if r.section == name]
            if mine:
                found += SECTIONS[name].tables(mine)
        return [table for table in found if table.rows]


def chosen_sections(only: Sequence[str] | None) -> list[str]:
    """Names of sections, checked; None for all."""
    if not only:
        return list(SECTIONS)
    for name in only:
        if name not in SECTIONS:
            raise ArgumentError(f"--only: unknown section {name!r}: {hint(name, list(SECTIONS))}")
    return [name for name in SECTIONS if name in only]


def disturbances(load: float | None, records: Sequence[Record]) -> list[str]:
    """What says that other programs ran at the same time, so that these figures are not to be quoted."""
    found = []
    if load is not None and load > _BUSY_LOAD:
        found.append(
            f"the load average was {load:.1f} when this run began: other programs took part of the machine, "
            "so no figure here is fit to be quoted, least of all those of several threads"
        )
    timed = [r.timing for r in records if r.timing is not None]
    unsteady = sum(t.median_ns > _UNSTEADY * t.best_ns for t in timed)
    if timed and unsteady > len(timed) / 10:
        found.append(
            f"{unsteady} of {len(timed)} medians are over {_UNSTEADY:g} times the best: unsteady machine"
        )
    return found + _threads_that_lost(records)


def _threads_that_lost(records: Sequence[Record]) -> list[str]:
    """Where several threads were slower than one. Why is not known here: a busy machine does it to anybody,
    on a quiet one it is a loss."""
    lost: dict[tuple[str, str, str], list[str]] = {}
    for record in records:
        same = {
            name: getattr(record, name) for name in ("section", "robot", "function", "who", "how", "batch")
        }
        ratio = speedup(record, first(records, threads=1, **same))
        if record.threads > 1 and ratio is not None and ratio < 1.0:
            place = f"{record.robot} {record.function} {record.batch} ({ratio:.2f}x)"
            lost.setdefault((record.section, record.who, record.how), []).append(place)
    return [
        f"{section}: several threads of {who} ({how}) were slower than one: {', '.join(places)}; "
        "on a busy machine that tells of the machine, not of the library"
        for (section, who, how), places in lost.items()
    ]


def run_bench(session: Session, only: Sequence[str], progress: Callable[[int], Progress]) -> Outcome:
    """Run sections by name. `progress(total)` makes the display; each job is announced to it."""
    start = time.perf_counter()
    machine = describe_machine(session)
    jobs = [(name, job) for name in only for job in SECTIONS[name].jobs(session)]
    records: list[Record] = []
    with progress(len(jobs)) as display:
        for name, job in jobs:
            display.step(f"{name}: {job.label}")
            records += job.run()
    session.notes.extend(disturbances(machine["load_average"], records))
    robots = [subject.name for subject in session.subjects]
    settings = {
        "sections": list(only),
        "robots": robots,
        "quick": session.quick,
        "rounds": session.effort.rounds,
        "sample_s": session.effort.sample_s,
        "seconds": time.perf_counter() - start,
    }
    return Outcome(machine, settings, records, judge(records, only, robots), session.notes)
