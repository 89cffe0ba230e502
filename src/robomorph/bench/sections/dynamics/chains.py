"""Cost against degrees of freedom: serial chains of 7 to 100 joints, run time, compile time and memory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from robomorph.bench.charts import COLOURS
from robomorph.bench.cold_start import measure_in_child
from robomorph.bench.functions import INVERSE_DYNAMICS, INVERSE_DYNAMICS_GRADIENT, Function
from robomorph.bench.goals import Goal
from robomorph.bench.ours import our_contestant
from robomorph.bench.records import OURS, Record, first, select, speedup
from robomorph.bench.sections.section import (
    Job,
    Records,
    Section,
    TableData,
    show_ns,
    show_ratio,
    show_seconds,
)
from robomorph.bench.session import Session
from robomorph.bench.subject import Subject
from robomorph.errors import TargetError
from robomorph.report.figures import Curve, Figure, Panel
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


def _tables(records: Records) -> list[TableData]:
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


def _figures(records: Records) -> list[Figure]:
    """Run time, compile time and memory over the number of joints."""
    times, compiles, memory = (list[Curve]() for _ in range(3))
    for function, colour in zip(dict.fromkeys(r.function for r in records), ("one", "third"), strict=False):
        mine, name, colour = select(records, function=function), function.replace("_", " "), COLOURS[colour]
        ours, theirs = select(mine, who=OURS), [r for r in mine if r.who != OURS]
        joints = _dofs(ours)
        times.append(Curve(joints, [r.best_ns / 1e3 for r in ours], name, colour))
        if theirs:
            label = f"{name}, {theirs[0].who}"
            times.append(Curve(_dofs(theirs), [r.best_ns / 1e3 for r in theirs], label, colour, "s--"))
        compiles.append(Curve(joints, [r.figures["total_s"] for r in ours], None, colour))
        memory.append(Curve(joints, [r.figures["peak_mb"] for r in ours], None, colour))
    ticks = sorted(set(_dofs(records)))
    panels = [
        Panel(times, "time per evaluation (us)", "joints", log="xy", ticks=ticks, legend="inside"),
        Panel(compiles, "compile time (s)", "joints", log="xy", ticks=ticks),
        Panel(memory, "peak memory of the compilation (MB)", "joints", ticks=ticks),
    ]
    return [Figure(NAME, panels, (13.5, 3.4))]


def _dofs(records: Records) -> list[float]:
    return [r.figures["dofs"] for r in records]


def _longest(function: Function, figure: str, scale: float = 1.0) -> Callable[[Records], float | None]:
    """A figure of the longest chain."""

    def value(records: Records) -> float | None:
        record = first(records, robot=f"chain:{LENGTHS[-1]}", function=function.name, who=OURS)
        return None if record is None else record.figures[figure] * scale

    return value


SECTION = Section(
    NAME,
    _jobs,
    _tables,
    (
        Goal(
            "chain:100, inverse dynamics compiles",
            3.0,
            " s",
            _longest(INVERSE_DYNAMICS, "total_s"),
            at_least=False,
        ),
        Goal(
            "chain:100, its gradient compiles",
            60.0,
            " s",
            _longest(INVERSE_DYNAMICS_GRADIENT, "total_s"),
            at_least=False,
        ),
        Goal(
            "chain:100, memory to compile its gradient",
            3.0,
            " GB",
            _longest(INVERSE_DYNAMICS_GRADIENT, "peak_mb", 1 / 1024),
            at_least=False,
        ),
    ),
    _figures,
)
