"""Cost against degrees of freedom: serial chains of 7 to 100 joints, run time, compile time and memory."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from robomorph.bench.cold_start import measure_in_child
from robomorph.bench.functions import INVERSE_DYNAMICS, INVERSE_DYNAMICS_GRADIENT, Function
from robomorph.bench.ours import our_contestant
from robomorph.bench.records import OURS, Record, first, select, speedup
from robomorph.bench.sections.section import Job, Section, TableData, show_ns, show_ratio, show_seconds
from robomorph.bench.session import Session
from robomorph.bench.subject import Subject
from robomorph.errors import TargetError
from robomorph.runtime.environment import cache_folder

NAME = "chains"
BATCH = 128
LENGTHS = (7, 10, 15, 25, 50, 75, 100)
_QUICK_LENGTHS = (7, 15)


def _jobs(session: Session) -> list[Job]:
    return [
        Job(f"{n} joints, {f.name}", partial(_run, session, n, f))
        for f in (INVERSE_DYNAMICS, INVERSE_DYNAMICS_GRADIENT)
        for n in (_QUICK_LENGTHS if session.quick else LENGTHS)
    ]


def _run(session: Session, joints: int, function: Function) -> list[Record]:
    source = f"chain:{joints}"
    with tempfile.TemporaryDirectory(prefix="robomorph-bench-") as folder:
        try:
            compiled = measure_in_child(source, function.name, BATCH, Path(folder))
        except TargetError as error:
            session.note(f"chains: {error}")
            return []
        with cache_folder(folder):  # what the child compiled serves here too
            subject = Subject(source)
            contestants = [our_contestant(subject, function, BATCH)]
            contestants += session.theirs(subject, function, BATCH, reference_only=True)[:1]
            records = session.contest(NAME, subject, function, contestants)
    figures = {**records[0].figures, **compiled}
    return [replace(records[0], figures=figures), *records[1:]]


def _tables(records: Sequence[Record]) -> list[TableData]:
    rows = []
    for ours in select(records, who=OURS):
        same = select(records, robot=ours.robot, function=ours.function)
        theirs = next((r for r in same if r.who != OURS), None)
        rows.append(
            (
                ours.function,
                f"{ours.figures['dofs']:.0f}",
                show_ns(ours.best_ns),
                show_ns(None if theirs is None else theirs.best_ns),
                show_ratio(speedup(ours, theirs)),
                f"{ours.error:.1e}" if ours.error is not None else "-",
                show_seconds(ours.figures["total_s"]),
                f"{ours.figures['peak_mb']:.0f} MB",
            )
        )
    columns = ("function", "joints", "time", "pinocchio", "faster", "error", "compile", "peak memory")
    caption = (
        "serial chains (chain:N), batch of 128, one thread; compile: from load to the first result, nothing "
        "cached, in a process of its own, whose peak memory is shown"
    )
    return [TableData("cost against degrees of freedom", columns, rows, 1, caption)]


def chain_record(records: Sequence[Record], joints: int, function: Function) -> Record | None:
    """Our record of one chain."""
    return first(records, section=NAME, robot=f"chain:{joints}", function=function.name, who=OURS)


CHAINS = Section(NAME, "chains of 7 to 100 joints: run time, compile time, memory", _jobs, _tables)
