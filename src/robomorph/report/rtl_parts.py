"""What is known of an accelerator, each part as plain data: sparsity, ranges, errors, cycles, synthesis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from robomorph.accelerators.accuracy import error_report, format_sweep, signals_to_widen
from robomorph.accelerators.sparsity import SparsityFigure, TransformUnit, sparsity_figure
from robomorph.compiler.states import described_bounds
from robomorph.ir.ops import INPUT
from robomorph.targets.rtl import simulate
from robomorph.targets.rtl.accelerator import Accelerator
from robomorph.targets.rtl.chip import Chip
from robomorph.targets.rtl.measure import measure
from robomorph.targets.rtl.synthesis import (
    Synthesis,
    synthesise_cells,
    synthesise_ecp5,
    synthesise_ultrascale,
)

_ERROR_STATES = 2000


def sparsity(accelerator: Accelerator) -> dict[str, Any]:
    """The papers' figure, in the description's frames and in chosen ones."""
    model = accelerator.source.specialiser.model
    return {
        "as_given": _figure(sparsity_figure(model, fitted=False)),
        "chosen_frames": _figure(sparsity_figure(model, fitted=True)),
    }


def _figure(figure: SparsityFigure) -> dict[str, Any]:
    def unit(u: TransformUnit) -> dict[str, float]:
        return {"multipliers": u.multipliers, "adders": u.adders}

    return {
        "joints": [unit(u) for u in figure.joints],
        "none": unit(figure.dense),
        "robot_agnostic": unit(figure.agnostic),
        "superposed": unit(figure.superposed),
        "average": unit(figure.average),
        "kept": figure.kept,
        "kept_beyond_agnostic": figure.kept_beyond_agnostic,
    }


def ranges(accelerator: Accelerator) -> dict[str, Any]:
    """Magnitudes of signals by proof and by profile, what the proof is for, and what it assumes."""
    o, program = accelerator.options, accelerator.chip
    read = {int(node.value) for node in program.nodes if node.op is INPUT}
    starts = accumulate((port.size for port in program.inputs), initial=0)
    ports = [
        p for p, k in zip(program.inputs, starts, strict=False) if not read.isdisjoint(range(k, k + p.size))
    ]
    stated, assumed = described_bounds(ports, speed=o.speed, acceleration=o.acceleration)
    proven = np.array(accelerator.proven)
    profile = np.array(accelerator.profile)
    finite = np.isfinite(proven)
    return {
        "signals": len(profile),
        "largest_profiled": float(np.max(profile)),
        "largest_proven": float(np.max(proven[finite])) if np.any(finite) else None,
        "without_proven_bound": int(np.count_nonzero(~finite)),
        "proven_for": stated,
        "assumed": assumed,
        "formats_from": "one format" if o.format is not None else o.ranges,
    }


def errors(accelerator: Accelerator) -> dict[str, Any]:
    report = error_report(accelerator, accelerator.sample(_ERROR_STATES, seed=11))
    return {**asdict(report), "widen": [asdict(s) for s in signals_to_widen(accelerator, 5)]}


def lint(accelerator: Accelerator) -> str:
    return simulate.lint(accelerator.design)


def simulated(accelerator: Accelerator, states: int) -> dict[str, Any]:
    found = measure(accelerator, accelerator.sample(states, seed=5))
    return {**asdict(found), "exact": found.exact}


def sweep(accelerator: Accelerator, bits: list[int]) -> dict[str, Any]:
    """Errors at word widths, with formats per signal and with the best single format."""
    arguments = accelerator.sample(_ERROR_STATES, seed=11)
    return {
        "per_signal": [asdict(r) for r in format_sweep(accelerator, arguments, bits, uniform=False)],
        "single_format": [asdict(r) for r in format_sweep(accelerator, arguments, bits, uniform=True)],
    }


def synthesis(design: Chip, name: str, liberty: str | None) -> Callable[[], dict[str, Any]]:
    def job() -> dict[str, Any]:
        made: Synthesis
        if name == "ultrascale":
            made = synthesise_ultrascale(design)
        elif name == "ecp5":
            made = synthesise_ecp5(design)
        else:
            made = synthesise_cells(design, Path(liberty) if liberty else None)
        return asdict(made)

    return job
