"""From a real program to one in fixed point: a format for every node, constants rounded for their use."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from robomorph.errors import ArgumentError
from robomorph.ir.fixed import MAX_FRAC, MIN_FRAC, FixedProgram, Format, check_fixed
from robomorph.ir.ops import ADD, CONST, MUL, NEG, RECIP, SUB
from robomorph.ir.program import Node, Program


@dataclass(frozen=True, slots=True)
class Numbers:
    """How numbers are kept: `uniform` for all signals, or per signal in words of `bits` bits with at least
    `guard` spare bits above the largest magnitude, fraction bits in multiples of `step` (fewer kinds of
    shift to share units by). Constant factors keep `constant_bits` significant bits."""

    bits: int = 32
    uniform: Format | None = None
    guard: int = 1
    step: int = 2
    constant_bits: int = 20

    @property
    def name(self) -> str:
        return self.uniform.name if self.uniform else f"{self.bits}-bit words, format per signal"


def lower(program: Program, numbers: Numbers, magnitudes: Sequence[float]) -> FixedProgram:
    """The program in fixed point. `magnitudes` (one per node) decide formats unless one is for all."""
    build = _Lowering(program, numbers, magnitudes)
    fixed = build.run()
    check_fixed(fixed)
    return fixed


class _Lowering:
    def __init__(self, program: Program, numbers: Numbers, magnitudes: Sequence[float]) -> None:
        self.program, self.numbers, self.magnitudes = program, numbers, magnitudes
        self.nodes: list[Node] = []
        self.formats: list[Format] = []
        self.place: dict[int, int] = {}
        self._constants: dict[tuple[float, Format], int] = {}

    def run(self) -> FixedProgram:
        for i, node in enumerate(self.program.nodes):
            if node.op is CONST:
                continue
            wanted = self._wanted(self.magnitudes[i])
            args = tuple(self._operand(node, a, wanted) for a in node.args)
            self.place[i] = self._emit(Node(node.op, args, node.value), self._legal(node, args, wanted))
        results = [self._result(r) for r in self.program.results]
        return FixedProgram(self.program.with_nodes(self.nodes, results), tuple(self.formats))

    def _emit(self, node: Node, form: Format) -> int:
        self.nodes.append(node)
        self.formats.append(form)
        return len(self.nodes) - 1

    def _wanted(self, size: float) -> Format:
        n = self.numbers
        if n.uniform is not None:
            return n.uniform
        if not math.isfinite(size):
            raise ArgumentError(
                "formats per signal: a signal has no finite bound; profile it or give one format"
            )
        frac = n.bits - 1 - n.guard - _whole_bits(size)
        return Format(n.bits, _clamp(frac // n.step * n.step, n.bits))

    def _legal(self, node: Node, args: tuple[int, ...], wanted: Format) -> Format:
        """The wanted format, without fraction bits that the operands cannot fill."""
        fracs = [self.formats[a].frac for a in args]
        most = wanted.frac
        if node.op is MUL:
            most = fracs[0] + fracs[1]
        elif node.op in (ADD, SUB, NEG):
            most = max(fracs)
        elif node.op is RECIP:
            most = 60 - fracs[0]
        return Format(wanted.bits, min(wanted.frac, most))

    def _operand(self, user: Node, index: int, wanted: Format) -> int:
        node = self.program.nodes[index]
        if node.op is not CONST:
            return self.place[index]
        if user.op is MUL:
            return self._constant(node.value, self._factor_format(node.value))
        fits = wanted.bits - 1 - _whole_bits(node.value)
        other = [self.formats[self.place[a]].frac for a in user.args if a != index]
        # No finer than the sum, no further from the other operand than 64-bit alignment allows.
        frac = max(min(wanted.frac, fits), max(other) - MAX_FRAC)
        return self._constant(node.value, Format(wanted.bits, frac))

    def _factor_format(self, value: float) -> Format:
        """Enough fraction bits for the significant ones, no trailing zeros, none below the point if whole."""
        bits = self.numbers.uniform.bits if self.numbers.uniform else self.numbers.bits
        whole = _whole_bits(value)
        if whole > bits - 1:
            raise ArgumentError(f"constant {value:g} does not fit a word of {bits} bits")
        frac = min(max(0, min(self.numbers.constant_bits, bits - 1) - whole), 2 * MAX_FRAC)
        word = round(value * 2.0**frac)
        while frac > 0 and word % 2 == 0:
            word, frac = word // 2, frac - 1
        return Format(bits, frac)

    def _constant(self, value: float, form: Format) -> int:
        key = (value, form)
        if key not in self._constants:
            self._constants[key] = self._emit(Node(CONST, (), value), form)
        return self._constants[key]

    def _result(self, index: int) -> int:
        node = self.program.nodes[index]
        if node.op is not CONST:
            return self.place[index]
        # A result that is constant never raises a flag: it must fit, even where one format is for all.
        wanted = self._wanted(abs(node.value))
        fits = wanted.bits - 1 - _whole_bits(node.value)
        return self._constant(node.value, Format(wanted.bits, min(wanted.frac, fits)))


def _whole_bits(size: float) -> int:
    """Bits in front of the binary point for a magnitude (negative for small ones)."""
    return -(2 * MAX_FRAC) if size == 0.0 else math.floor(math.log2(abs(size))) + 1


def _clamp(frac: int, bits: int) -> int:
    return max(MIN_FRAC, min(frac, bits + 8, MAX_FRAC))
