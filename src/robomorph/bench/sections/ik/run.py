"""`robomorph bench ik`: all sections of it, one after the other."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from robomorph.bench.cpus import available_cpus, load_average
from robomorph.bench.document import goals_as_json
from robomorph.bench.sections.ik.arms import run_arms, run_nearest
from robomorph.bench.sections.ik.paper import run_paper
from robomorph.bench.sections.ik.single import run_single
from robomorph.bench.solution_check import IkOutcome
from robomorph.errors import ArgumentError
from robomorph.model.naming import hint
from robomorph.targets.cpu.host import host

IK_SECTIONS: dict[str, Callable[[IkOutcome, Any], None]] = {
    "paper": run_paper,
    "single": run_single,
    "arms": run_arms,
    "nearest": run_nearest,
}
_BUSY = 0.7


def run_ik_bench(only: Sequence[str] | None, *, quick: bool, step: Callable[[str], None]) -> IkOutcome:
    """Run sections by name (None: all). `step` is told what begins."""
    for name in only or ():
        if name not in IK_SECTIONS:
            raise ArgumentError(f"--only: unknown section {name!r}: {hint(name, list(IK_SECTIONS))}")
    outcome = IkOutcome(quick)
    begin, load = time.perf_counter(), load_average()
    outcome.figures["machine"] = {
        "cpu": host().cpu,
        "cores": available_cpus(),
        "vector_bits": host().vector_bits,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "load_average": load,
    }
    if load is not None and load > _BUSY:
        outcome.notes.append(
            f"the load average was {load:.1f} at the start: no time here is fit to be quoted"
        )
    for name, run in IK_SECTIONS.items():
        if not only or name in only:
            run(outcome, step)
    outcome.figures["seconds"] = time.perf_counter() - begin
    return outcome


def ik_as_json(outcome: IkOutcome) -> dict[str, Any]:
    """Everything that was found, as one document."""
    return {
        "figures": outcome.figures,
        "goals": goals_as_json(outcome.verdicts),
        "notes": outcome.notes,
        "tables": [
            {"title": t.title, "columns": t.columns, "rows": list(t.rows), "caption": t.caption}
            for t in outcome.tables
        ],
    }
