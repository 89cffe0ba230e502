"""Running sections one after the other, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from robomorph.bench.goals import Verdict, judge
from robomorph.bench.machine import describe_machine
from robomorph.bench.records import OURS, REFUSED, Record, first, select, speedup
from robomorph.bench.sections.section import Section, TableData
from robomorph.bench.session import Session
from robomorph.errors import ArgumentError
from robomorph.report.figures import Figure

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
    sections: Sequence[Section]
    records: list[Record]
    verdicts: list[Verdict]
    notes: list[str]

    def tables(self) -> list[TableData]:
        """The tables of every section that has records."""
        found = [table for section, mine in self._measured() for table in section.tables(mine)]
        return [table for table in found if table.rows]

    def figures(self) -> list[Figure]:
        """The figures of every section that has records."""
        return [figure for section, mine in self._measured() for figure in section.figures(mine)]

    def _measured(self) -> list[tuple[Section, list[Record]]]:
        pairs = [(section, select(self.records, section=section.name)) for section in self.sections]
        return [(section, mine) for section, mine in pairs if mine]

    @property
    def refused(self) -> int:
        """Results that we claimed and an independent check refused."""
        return int(sum(r.figures.get(REFUSED, 0.0) for r in self.records if r.who == OURS))


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
            name: getattr(record, name)
            for name in ("section", "robot", "function", "who", "how", "batch", "case")
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


def _of_section(name: str, records: list[Record]) -> list[Record]:
    """The same records; those of another name would be measured and never shown."""
    for record in records:
        if record.section != name:
            raise ArgumentError(
                f"section {name!r}: expected records of its own, found one of {record.section!r}"
            )
    return records


def run_bench(
    session: Session, group: str, sections: Sequence[Section], progress: Callable[[int], Progress]
) -> Outcome:
    """Run sections of a group. `progress(total)` makes the display; each job is announced to it."""
    start = time.perf_counter()
    machine = describe_machine(session)
    jobs = [(section.name, job) for section in sections for job in section.jobs(session)]
    records: list[Record] = []
    with progress(len(jobs)) as display:
        for name, job in jobs:
            display.step(f"{name}: {job.label}")
            records += _of_section(name, job.run())
    session.notes.extend(disturbances(machine["load_average"], records))
    robots = [subject.name for subject in session.subjects]
    settings = {
        "group": group,
        "sections": [section.name for section in sections],
        "robots": robots,
        "quick": session.quick,
        "seconds": time.perf_counter() - start,
    }
    if robots:  # contests are about robots; what is measured otherwise says its rounds itself
        settings |= {"rounds": session.effort.rounds, "sample_s": session.effort.sample_s}
    verdicts = [v for s in sections for v in judge(s.name, s.goals, records, robots)]
    return Outcome(machine, settings, sections, records, verdicts, session.notes)
