"""What words on an accelerator's streams mean: fixed point as the chip computes in, or float32 that it
converts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from robomorph.ir.fixed import (
    FixedProgram,
    FixedResult,
    input_columns,
    input_words,
    interpret_fixed,
    output_arrays,
    output_reals,
)
from robomorph.ir.floats import fixed_to_float, float_to_fixed, float_values, float_words

Array = npt.NDArray[Any]


# From the program's input words to its output words and flags.
Compute = Callable[[Array], FixedResult]


class Boundary(Protocol):
    """The host's side of both streams, and what the chip makes of the one for the other."""

    def encode(self, arguments: Mapping[str, Array]) -> tuple[Array, Array]:
        """Stream words (n, input_size) of real arguments (n, *shape), and per state whether the host
        saturated one: the chip cannot know of that."""

    def run(self, words: Array, compute: Compute | None = None) -> FixedResult:
        """Stream words (n, output_size) of stream words (n, input_size), bit by bit, with the flags that the
        chip raises. The interpreter computes, or whoever is given and does the same."""

    def decode(self, words: Array) -> dict[str, Array]:
        """Results (n, *shape) from stream words (n, output_size)."""


@dataclass(frozen=True)
class FixedBoundary:
    """Words in the chip's formats: the host converts."""

    fixed: FixedProgram

    def encode(self, arguments: Mapping[str, Array]) -> tuple[Array, Array]:
        return input_words(self.fixed, arguments)

    def run(self, words: Array, compute: Compute | None = None) -> FixedResult:
        return interpret_fixed(self.fixed, words) if compute is None else compute(words)

    def decode(self, words: Array) -> dict[str, Array]:
        return output_reals(self.fixed, words)


@dataclass(frozen=True)
class FloatBoundary:
    """Float32 patterns: the chip converts, and its flag tells of arguments that do not fit as well."""

    fixed: FixedProgram

    def encode(self, arguments: Mapping[str, Array]) -> tuple[Array, Array]:
        words = float_words(input_columns(self.fixed.program, arguments))
        return words, np.zeros(words.shape[:-1], bool)

    def run(self, words: Array, compute: Compute | None = None) -> FixedResult:
        inner = np.zeros_like(words)
        lost = np.zeros(words.shape[:-1], bool)
        for k, form in self.fixed.input_formats.items():
            inner[..., k], beyond = float_to_fixed(words[..., k], form)
            lost |= beyond
        result = interpret_fixed(self.fixed, inner) if compute is None else compute(inner)
        columns = [fixed_to_float(result.words[..., k], f) for k, f in enumerate(self.fixed.output_formats)]
        return FixedResult(np.stack(columns, axis=-1), result.overflow | lost)

    def decode(self, words: Array) -> dict[str, Array]:
        return output_arrays(self.fixed.program, float_values(words))


# What words outside are: sign-extended fixed point, or IEEE float32 that the chip converts.
BOUNDARIES: dict[str, type[FixedBoundary] | type[FloatBoundary]] = {
    "fixed": FixedBoundary,
    "float32": FloatBoundary,
}
