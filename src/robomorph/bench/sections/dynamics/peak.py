"""The fraction of the core's peak arithmetic that the gradient reaches."""

from __future__ import annotations

from functools import partial

from robomorph.bench.functions import FORWARD_DYNAMICS_GRADIENT
from robomorph.bench.goals import Goal
from robomorph.bench.measuring import measure
from robomorph.bench.ours import INTO_OUT, make_kernel, our_contestant
from robomorph.bench.peak import peak_contestant
from robomorph.bench.records import OURS, Record, first
from robomorph.bench.sections.section import Job, Records, Section, TableData, show_ns
from robomorph.bench.session import Session
from robomorph.bench.subject import Subject

NAME = "peak"
BATCH = 128


def _jobs(session: Session) -> list[Job]:
    return [
        Job(f"{s.name}, {dtype}", partial(_run, session, s, dtype))
        for s in session.some
        for dtype in ("float64", "float32")
    ]


def _run(session: Session, subject: Subject, dtype: str) -> list[Record]:
    function = FORWARD_DYNAMICS_GRADIENT
    flops = make_kernel(subject, function, dtype).stats.flops
    kernel, loop = our_contestant(subject, function, BATCH, dtype=dtype), peak_contestant(dtype)
    ours, peak = measure([kernel, loop], session.effort)
    figures = {
        "flops": float(flops),
        "gflops": flops / ours.best_ns,
        "peak_gflops": 1.0 / peak.best_ns,
        "fraction": flops / ours.best_ns * peak.best_ns,
    }
    return [Record(NAME, subject.name, function.name, OURS, INTO_OUT, dtype, BATCH, 1, ours, figures=figures)]


def _tables(records: Records) -> list[TableData]:
    rows = [
        (
            r.robot,
            r.dtype,
            f"{r.figures['flops']:,.0f}",
            show_ns(r.best_ns),
            f"{r.figures['gflops']:.1f}",
            f"{r.figures['peak_gflops']:.1f}",
            f"{r.figures['fraction']:.1%}",
        )
        for r in records
    ]
    columns = ("robot", "dtype", "operations", "time", "Gop/s", "peak Gop/s", "fraction of peak")
    caption = (
        "forward-dynamics gradient, batch of 128, one thread; a fused multiply-add counts two, a sine, "
        "cosine or reciprocal one; peak: a loop of independent multiply-adds in the same run"
    )
    return [TableData("arithmetic", columns, rows, 2, caption)]


def _fraction(records: Records) -> float | None:
    record = first(records, robot="iiwa14", dtype="float64")
    return None if record is None else 100.0 * record.figures["fraction"]


_GOAL = "iiwa14, fraction of the core's peak arithmetic, batch of 128"
SECTION = Section(NAME, _jobs, _tables, (Goal(_GOAL, 35.0, "%", _fraction, robot="iiwa14"),))
