"""Fixed point: formats, programs in fixed point, and their interpreter, which defines every bit.

A number is a signed word `raw` of `bits` bits that stands for raw / 2**frac. Every operation computes
exactly, rounds once to the format of its result (halves upwards) and saturates; a saturation raises the
state's overflow flag. What hardware makes of a program must agree with `interpret_fixed` bit by bit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError, ProgramError
from robomorph.ir.cordic import cordic, cos_sin_words
from robomorph.ir.ops import ADD, CONST, COS, INPUT, MUL, NEG, RECIP, SIN, SUB, Op
from robomorph.ir.program import Program

Array = npt.NDArray[Any]
MIN_BITS, MAX_BITS = 8, 32
# Words are carried in 64-bit integers: operands may differ by so many fraction bits before they are added.
MAX_FRAC, MIN_FRAC = 30, -16


@dataclass(frozen=True, slots=True, order=True)
class Format:
    """A signed word of `bits` bits, the last `frac` of them behind the binary point."""

    bits: int
    frac: int

    def __post_init__(self) -> None:
        if not MIN_BITS <= self.bits <= MAX_BITS:
            raise ArgumentError(f"format: expected {MIN_BITS} to {MAX_BITS} bits, found {self.bits}")
        if not MIN_FRAC <= self.frac <= 2 * MAX_FRAC:
            raise ArgumentError(
                f"format: expected {MIN_FRAC} to {2 * MAX_FRAC} fraction bits, found {self.frac}"
            )

    @classmethod
    def parse(cls, text: str) -> Format:
        """From a name such as Q16.16: integer bits (the sign among them) and fraction bits."""
        match = re.fullmatch(r"[Qq](\d+)\.(\d+)", text.strip())
        if match is None:
            raise ArgumentError(f"format: expected a name such as 'Q16.16', found {text!r}")
        whole, frac = int(match[1]), int(match[2])
        return cls(whole + frac, frac)

    @property
    def name(self) -> str:
        return f"Q{self.bits - self.frac}.{self.frac}"

    @property
    def top(self) -> int:
        """The largest word; the smallest is -top - 1."""
        return (1 << (self.bits - 1)) - 1

    @property
    def ulp(self) -> float:
        return 2.0**-self.frac

    def to_words(self, values: Array) -> tuple[Array, Array]:
        """Words nearest to real values, saturated; and where that was necessary. NaNs saturate to the end
        that their sign names, as those of float32 words do."""
        values = np.asarray(values, np.float64)
        values = np.where(np.isnan(values), np.copysign(np.inf, values), values)
        with np.errstate(over="ignore"):
            scaled = np.floor(values * 2.0**self.frac + 0.5)
        clipped = np.clip(scaled, -self.top - 1, self.top)
        return clipped.astype(np.int64), clipped != scaled

    def holds(self, value: float) -> bool:
        """Is there a word within half a last place, or (at the upper end) within a whole one?"""
        return abs(value) <= (self.top + 1) * self.ulp

    def to_reals(self, words: Array) -> Array:
        return np.asarray(words, np.float64) * self.ulp


@dataclass(frozen=True, slots=True)
class FixedProgram:
    """A program and the format of every node. Constants have one format each (see `lower`)."""

    program: Program
    formats: tuple[Format, ...]

    @property
    def input_formats(self) -> dict[int, Format]:
        """The format of every input entry that the program reads."""
        pairs = zip(self.program.nodes, self.formats, strict=True)
        return {int(node.value): form for node, form in pairs if node.op is INPUT}

    @property
    def output_formats(self) -> tuple[Format, ...]:
        return tuple(self.formats[r] for r in self.program.results)

    def constant_word(self, index: int) -> int:
        """The word of a constant node."""
        return int(self.formats[index].to_words(np.asarray(self.program.nodes[index].value))[0])


@dataclass(frozen=True)
class FixedResult:
    """Words (..., output_size) of one run, and per state whether any operation saturated."""

    words: Array
    overflow: Array


def check_fixed(fixed: FixedProgram) -> None:
    """Raise ProgramError if some node's format breaks the rules that keep every step within 64 bits, and
    ArgumentError if a constant does not fit: no flag would tell of its saturation."""
    nodes, formats = fixed.program.nodes, fixed.formats
    for i, node in enumerate(nodes):
        if node.op is CONST and not formats[i].holds(node.value):
            raise ArgumentError(
                f"format {formats[i].name}: cannot hold the constant {node.value:g}: expected more whole bits"
            )
        out, args = formats[i].frac, [formats[a].frac for a in node.args]
        exact = None
        if node.op is MUL:
            exact = args[0] + args[1]
        elif node.op in (ADD, SUB, NEG):
            exact = max(args)
        if exact is not None and not 0 <= exact - out <= 62:
            raise ProgramError(f"node %{i} ({node.op.name}): {out} fraction bits from an exact {exact}")
        if node.op in (ADD, SUB) and abs(args[0] - args[1]) > MAX_FRAC:
            raise ProgramError(f"node %{i} ({node.op.name}): operands {args} fraction bits apart")
        if node.op is RECIP and not 0 <= args[0] + out <= 60:
            raise ProgramError(f"node %{i} (recip): {args[0]} + {out} fraction bits, expected 0 to 60")
        if node.op in (SIN, COS) and out > (most := cordic(formats[node.args[0]].bits, args[0]).inner):
            raise ProgramError(f"node %{i} ({node.op.name}): {out} fraction bits, expected {most} at most")


def interpret_fixed(fixed: FixedProgram, words: Array) -> FixedResult:
    """Run on input words (..., input_size)."""
    words = np.asarray(words, np.int64)
    columns = [words[..., k] for k in range(words.shape[-1])]
    results, overflow = interpret_columns(fixed, columns)
    out = np.empty((*words.shape[:-1], fixed.program.output_size), np.int64)
    for k, result in enumerate(results):
        out[..., k] = result
    return FixedResult(out, np.broadcast_to(overflow, words.shape[:-1]).copy())


def interpret_columns(fixed: FixedProgram, columns: Sequence[Any]) -> tuple[list[Any], Any]:
    """Run on words entry by entry: arrays that broadcast, or numbers. Results likewise, and the flags."""
    program, formats = fixed.program, fixed.formats
    overflow: Any = np.zeros((), bool)
    values: list[Any] = [None] * len(program.nodes)
    for i, node in enumerate(program.nodes):
        if node.op is INPUT:
            values[i] = columns[int(node.value)]
        elif node.op is CONST:
            values[i] = np.asarray(fixed.constant_word(i), np.int64)
        else:
            operands = [(values[a], formats[a]) for a in node.args]
            values[i], saturated = _EVALUATE[node.op](formats[i], *operands)
            overflow = overflow | saturated
    return [values[r] for r in program.results], overflow


def input_columns(program: Program, arguments: Mapping[str, Array]) -> Array:
    """Real arguments (..., *shape) by port name side by side: (..., input_size)."""
    columns: list[Array] = []
    for port in program.inputs:
        value = np.asarray(arguments[port.name], np.float64)
        columns.append(value.reshape((*value.shape[: value.ndim - len(port.shape)], port.size)))
    return np.concatenate(columns, axis=-1)


def input_words(fixed: FixedProgram, arguments: Mapping[str, Array]) -> tuple[Array, Array]:
    """Real arguments (..., *shape) as words (..., input_size), and per state whether one did not fit. Entries
    that the program does not read stay zero."""
    values = input_columns(fixed.program, arguments)
    words = np.zeros(values.shape, np.int64)
    clipped = np.zeros(values.shape[:-1], bool)
    for k, form in fixed.input_formats.items():
        words[..., k], lost = form.to_words(values[..., k])
        clipped |= lost
    return words, clipped


def output_arrays(program: Program, flat: Array) -> dict[str, Array]:
    """Values (..., output_size) as arrays (..., *shape) by port name."""
    results: dict[str, Array] = {}
    start = 0
    for port in program.outputs:
        results[port.name] = flat[..., start : start + port.size].reshape((*flat.shape[:-1], *port.shape))
        start += port.size
    return results


def output_reals(fixed: FixedProgram, words: Array) -> dict[str, Array]:
    """Output words (..., output_size) as real arrays (..., *shape) by port name."""
    return output_arrays(fixed.program, words * np.array([f.ulp for f in fixed.output_formats]))


Word = tuple[Any, Format]


def saturate(value: Any, out: Format) -> tuple[Any, Any]:
    clipped = np.minimum(np.maximum(value, -out.top - 1), out.top)  # np.clip takes twice as long
    return clipped, clipped != value


def round_shift(value: Any, shift: int) -> Any:
    """value / 2**shift, rounded to the nearest whole number, halves upwards."""
    return value if shift == 0 else (value + (1 << (shift - 1))) >> shift


def _aligned(a: Word, b: Word) -> tuple[Any, Any, int]:
    frac = max(a[1].frac, b[1].frac)
    return a[0] << (frac - a[1].frac), b[0] << (frac - b[1].frac), frac


def _add(out: Format, a: Word, b: Word) -> tuple[Any, Any]:
    x, y, frac = _aligned(a, b)
    return saturate(round_shift(x + y, frac - out.frac), out)


def _sub(out: Format, a: Word, b: Word) -> tuple[Any, Any]:
    x, y, frac = _aligned(a, b)
    return saturate(round_shift(x - y, frac - out.frac), out)


def _mul(out: Format, a: Word, b: Word) -> tuple[Any, Any]:
    return saturate(round_shift(a[0] * b[0], a[1].frac + b[1].frac - out.frac), out)


def _neg(out: Format, a: Word) -> tuple[Any, Any]:
    return saturate(round_shift(-a[0], a[1].frac - out.frac), out)


def _recip(out: Format, a: Word) -> tuple[Any, Any]:
    """2**(fa + fr) / a, the magnitude rounded to the nearest; the reciprocal of zero saturates upwards."""
    size = np.abs(a[0])
    zero = size == 0
    twice = (1 << (a[1].frac + out.frac + 1)) // np.where(zero, 1, size)
    quotient = (twice + 1) >> 1
    value, saturated = saturate(np.where(a[0] < 0, -quotient, quotient), out)
    return np.where(zero, out.top, value), saturated | zero


def _cos(out: Format, a: Word) -> tuple[Any, Any]:
    return _trig(out, a, 0)


def _sin(out: Format, a: Word) -> tuple[Any, Any]:
    return _trig(out, a, 1)


def _trig(out: Format, a: Word, which: int) -> tuple[Any, Any]:
    word, frac = cos_sin_words(a[0], a[1].bits, a[1].frac)
    return saturate(round_shift(word[which], frac - out.frac), out)


_EVALUATE: dict[Op, Callable[..., tuple[Any, Any]]] = {
    ADD: _add,
    SUB: _sub,
    MUL: _mul,
    NEG: _neg,
    RECIP: _recip,
    COS: _cos,
    SIN: _sin,
}
