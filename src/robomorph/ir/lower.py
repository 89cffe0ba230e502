"""From a real program to one in fixed point: a format for every node, constants rounded for their use."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from robomorph.errors import ArgumentError, TargetError
from robomorph.ir.cordic import cordic
from robomorph.ir.fixed import MAX_FRAC, MIN_FRAC, FixedProgram, Format, check_fixed
from robomorph.ir.ops import ADD, CONST, COS, MUL, NEG, NOT_IN_FIXED_POINT, RECIP, SIN, SUB
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

    @property
    def word_bits(self) -> int:
        return self.uniform.bits if self.uniform else self.bits

    def signal_frac(self, size: float) -> int:
        """Fraction bits of a signal whose magnitude is at most `size`."""
        if self.uniform is not None:
            return self.uniform.frac
        if not math.isfinite(size):
            raise ArgumentError(
                "formats per signal: a signal has no finite bound; use profiled ranges of slower states, or "
                "give one format"
            )
        frac = (self.bits - 1 - self.guard - whole_bits(size)) // self.step * self.step
        return max(MIN_FRAC, min(frac, self.bits + 8, MAX_FRAC))

    def factor_frac(self, values: Sequence[float]) -> int:
        """Fraction bits of constant factors that share a format: enough for the significant bits of the
        largest, no trailing zeros, none below the point if all are whole."""
        bits = self.word_bits
        whole = max(whole_bits(v) for v in values)
        if whole > bits - 1:
            raise ArgumentError(f"constant {max(values, key=abs):g} does not fit a word of {bits} bits")
        frac = min(max(0, min(self.constant_bits, bits - 1) - whole), 2 * MAX_FRAC)
        words = [round(v * 2.0**frac) for v in values]
        while frac > 0 and all(w % 2 == 0 for w in words):
            words, frac = [w // 2 for w in words], frac - 1
        return frac


def whole_bits(size: float) -> int:
    """Bits in front of the binary point for a magnitude (negative for small ones)."""
    return -(2 * MAX_FRAC) if size == 0.0 else math.floor(math.log2(abs(size))) + 1


def require_fixed_point(program: Program) -> None:
    """Refuse, by name, a program with operations that fixed point has no form for."""
    found = sorted({node.op.name for node in program.nodes if node.op in NOT_IN_FIXED_POINT})
    if found:
        raise TargetError(
            f"{program.name}: fixed point, and so hardware, has no {', '.join(found)}: use another target, "
            "or leave that part off the chip"
        )


def lower(program: Program, numbers: Numbers, magnitudes: Sequence[float]) -> FixedProgram:
    """The program in fixed point. `magnitudes` (one per node) decide formats unless one is for all."""
    require_fixed_point(program)
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
        return Format(self.numbers.word_bits, self.numbers.signal_frac(size))

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
        elif node.op in (SIN, COS):
            most = cordic(wanted.bits, fracs[0]).inner
        return Format(wanted.bits, min(wanted.frac, most))

    def _operand(self, user: Node, index: int, wanted: Format) -> int:
        node = self.program.nodes[index]
        if node.op is not CONST:
            return self.place[index]
        if user.op is MUL:
            frac = self.numbers.factor_frac([node.value])
            return self._constant(node.value, Format(self.numbers.word_bits, frac))
        fits = wanted.bits - 1 - whole_bits(node.value)
        other = [self.formats[self.place[a]].frac for a in user.args if a != index]
        # No finer than the sum, no further from the other operand than 64-bit alignment allows.
        frac = max(min(wanted.frac, fits), max(other) - MAX_FRAC)
        return self._constant(node.value, Format(wanted.bits, frac))

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
        fits = wanted.bits - 1 - whole_bits(node.value)
        return self._constant(node.value, Format(wanted.bits, min(wanted.frac, fits)))
