"""A compiled program in fixed point: real numbers in and out, and per state whether anything saturated."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.ir.fixed import FixedProgram, FixedResult
from robomorph.ir.program import Port
from robomorph.runtime.kernel import KernelStats, Recipe
from robomorph.runtime.values import UnitPart
from robomorph.targets.cpu.fixed.emit import emit_fixed, word_bits
from robomorph.targets.cpu.host import host
from robomorph.targets.cpu.kernel import Kernel
from robomorph.targets.cpu.writer import Emitted

Array = npt.NDArray[Any]
FLAG = Port("overflow", ())


class WordsKernel(Kernel):
    """``kernel(*arguments)``: the results of `fixed`, and 1.0 where an argument or an operation saturated,
    else 0.0. `run` does the same from words to words, as `interpret_fixed` defines it."""

    def __init__(
        self,
        fixed: FixedProgram,
        *,
        key: str | None,
        threads: int = 0,
        check_finite: bool = False,
        units: tuple[UnitPart, ...] = (),
    ) -> None:
        program = fixed.program
        recipe = Recipe(
            name=program.name,
            inputs=program.inputs,
            outputs=(*program.outputs, FLAG),
            dtype="float64",
            program=lambda: program,
            stats=lambda: fixed_stats(fixed),
            key=key,
            units=units,
        )
        lanes = host().vector_bits // word_bits(fixed)
        super().__init__(recipe, threads=threads, check_finite=check_finite, lanes=lanes)
        self.fixed = fixed

    def _emitted(self, lanes: int) -> Emitted:
        return emit_fixed(self.fixed, lanes, vector_bits=host().vector_bits)

    def run(self, words: Array) -> FixedResult:
        """Output words (..., output_size) of input words (..., input_size), and the flags. Words and reals
        stand for each other exactly, so that the same code serves both."""
        words = np.asarray(words, np.int64)
        program, reals = self.fixed.program, np.zeros(words.shape)
        for k, form in self.fixed.input_formats.items():
            column = words[..., k]
            if column.size and not -form.top - 1 <= column.min() <= column.max() <= form.top:
                raise ArgumentError(f"words: column {k} has words that format {form.name} does not have")
            reals[..., k] = form.to_reals(column)
        parts = np.split(reals, np.cumsum([port.size for port in program.inputs])[:-1], axis=-1)
        lead = words.shape[:-1]
        *results, flags = self(
            *(part.reshape((*lead, *p.shape)) for part, p in zip(parts, program.inputs, strict=True))
        )
        return FixedResult(words_of(self.fixed, results), np.asarray(flags != 0.0))


def words_of(fixed: FixedProgram, results: list[Array]) -> Array:
    """Output words (..., output_size) of results (..., *shape), one per port."""
    scale = np.array([2.0**form.frac for form in fixed.output_formats])
    words: Array = (flat_results(fixed.program.outputs, results) * scale).astype(np.int64)
    return words


def flat_results(ports: tuple[Port, ...], results: list[Array]) -> Array:
    """Results (..., *shape) side by side: (..., output_size)."""
    pairs = zip(results, ports, strict=True)
    return np.concatenate([r.reshape((*r.shape[: r.ndim - len(p.shape)], p.size)) for r, p in pairs], axis=-1)


def fixed_stats(fixed: FixedProgram) -> KernelStats:
    """What a program costs, operation by operation: nothing is fused."""
    program = fixed.program
    return KernelStats(
        algorithm=program.name,
        formulation="",
        candidates={},
        operations=program.counts(),
        flops=program.cost(),
        depth=program.depth(),
        nonzeros=program.nonzeros(),
    )
