"""How far an accelerator's results are from float64, format by format, and which signals cause it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.ir.fixed import Format
from robomorph.ir.ops import CONST
from robomorph.ir.sensitivity import answers, sensitivities
from robomorph.ir.text import entry_names
from robomorph.targets.rtl.accelerator import Accelerator, make_accelerator

Array = npt.NDArray[Any]
_FED = 3  # outputs named beside a signal


@dataclass(frozen=True, slots=True)
class OutputError:
    """Of one output over all states: the largest and the root mean square error, and the largest value."""

    name: str
    worst: float
    typical: float
    largest: float


@dataclass(frozen=True)
class ErrorReport:
    """Errors of all outputs in one number format; `overflows` counts states in which something saturated."""

    format: str
    states: int
    overflows: int
    outputs: tuple[OutputError, ...]

    @property
    def worst(self) -> float:
        return max(output.worst for output in self.outputs)


@dataclass(frozen=True, slots=True)
class Signal:
    """A value whose rounding matters: its share of the estimated error variance of all outputs, and the
    entries of the outputs that answer most to it, the strongest first."""

    name: str
    format: str
    share: float
    feeds: tuple[str, ...]


def error_report(accelerator: Accelerator, arguments: Mapping[str, Array]) -> ErrorReport:
    """Against float64, over states (n, *shape)."""
    found, result = accelerator.interpret(arguments)
    true = accelerator.reference(arguments)
    outputs = []
    for name, value in found.items():
        error = value - true[name]
        typical = float(np.sqrt(np.mean(np.square(error))))
        outputs.append(
            OutputError(name, float(np.max(np.abs(error))), typical, float(np.max(np.abs(true[name]))))
        )
    overflows = int(np.count_nonzero(result.overflow))
    return ErrorReport(accelerator.options.numbers.name, len(result.overflow), overflows, tuple(outputs))


def format_sweep(
    accelerator: Accelerator, arguments: Mapping[str, Array], word_bits: Sequence[int], *, uniform: bool
) -> list[ErrorReport]:
    """The errors at every word width; with `uniform`, each in its best single format, if there is one."""
    reports = []
    for bits in word_bits:
        choices = [None] if not uniform else _uniform_formats(accelerator, bits)
        tried = []
        for choice in choices:
            options = replace(
                accelerator.options, bits=bits, format=choice.name if choice else None, constant_bits=None
            )
            other = make_accelerator(accelerator.source, options)
            with suppress(ArgumentError):  # a format that does not hold the robot's constants is no candidate
                tried.append(error_report(other, arguments))
        if tried:
            reports.append(min(tried, key=lambda report: (report.overflows, report.worst)))
    return reports


def _uniform_formats(accelerator: Accelerator, bits: int) -> list[Format]:
    """Formats of a width around the one that just holds the largest signal."""
    largest = max(size for size in accelerator.profile if np.isfinite(size))
    whole = max(2, int(np.floor(np.log2(largest))) + 2)
    return [Format(bits, bits - w) for w in sorted({min(w, bits) for w in range(whole - 1, whole + 2)})]


def signals_to_widen(accelerator: Accelerator, count: int = 10) -> list[Signal]:
    """The values whose rounding contributes most, by first-order sensitivities over the sampled states."""
    fixed = accelerator.fixed
    program = fixed.program
    gains = sensitivities(program, accelerator.samples)
    ulps = np.array([f.ulp for f in fixed.formats])
    rounds = np.array([node.op is not CONST for node in program.nodes])
    power = np.where(rounds, np.square(gains * ulps), 0.0)
    total = float(np.sum(power)) or 1.0
    names = _names(accelerator)
    order = np.argsort(-power)[:count]
    return [
        Signal(names[i], fixed.formats[i].name, float(power[i]) / total, _fed(accelerator, int(i)))
        for i in order
    ]


def _fed(accelerator: Accelerator, node: int) -> tuple[str, ...]:
    """The output entries with the largest derivatives by a node's value, over the sampled states."""
    program = accelerator.fixed.program
    strength = answers(program, accelerator.samples, node)
    entries = entry_names(program.outputs)
    return tuple(entries[k] for k in np.argsort(-strength, kind="stable")[:_FED] if strength[k] > 0)


def _names(accelerator: Accelerator) -> list[str]:
    """A name for every node: inputs and results by theirs, the others by operation and number."""
    program = accelerator.fixed.program
    inputs = entry_names(program.inputs)
    names = [
        inputs[int(node.value)] if node.op.name == "input" else f"{node.op.name} n{i}"
        for i, node in enumerate(program.nodes)
    ]
    for name, r in zip(entry_names(program.outputs), program.results, strict=True):
        names[r] = f"{name} (n{r})"
    return names
