"""What the words of a fixed-point program can be: bounds that hold for all inputs, before and after each
operation saturates. Whoever computes with words leaves out what cannot happen, and knows how wide to compute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robomorph.ir.cordic import cordic
from robomorph.ir.fixed import FixedProgram, Format
from robomorph.ir.ops import ADD, CONST, COS, INPUT, MUL, NEG, SIN, SUB
from robomorph.ir.program import Node


@dataclass(frozen=True, slots=True)
class WordRange:
    """`low` and `high` bound the rounded value of a node before it saturates to [least, most]; `bits` is what
    a signed integer needs to hold it and everything on the way there (0: nothing is on the way)."""

    low: int
    high: int
    least: int
    most: int
    bits: int = 0

    @property
    def too_low(self) -> bool:
        """May it saturate downwards?"""
        return self.low < self.least

    @property
    def too_high(self) -> bool:
        return self.high > self.most

    @property
    def word(self) -> tuple[int, int]:
        """Bounds of the node's word."""
        clipped = (min(max(x, self.least), self.most) for x in (self.low, self.high))
        return next(clipped), next(clipped)


def word_ranges(fixed: FixedProgram) -> list[WordRange]:
    """The range of every node, for inputs that are words of their formats."""
    found: list[WordRange] = []
    for i, (node, form) in enumerate(zip(fixed.program.nodes, fixed.formats, strict=True)):
        if node.op is INPUT:
            found.append(_of(form, -form.top - 1, form.top))
        elif node.op is CONST:
            word = fixed.constant_word(i)
            found.append(_of(form, word, word))
        else:
            args = [(*found[a].word, fixed.formats[a]) for a in node.args]
            found.append(_operation(node, form, args))
    return found


Operand = tuple[int, int, Format]


def _operation(node: Node, out: Format, args: Sequence[Operand]) -> WordRange:
    if node.op in (ADD, SUB):
        return _sum(out, args, negate=node.op is SUB)
    if node.op is MUL:
        return _product(out, args, same=node.args[0] == node.args[1])
    if node.op is NEG:
        low, high, form = args[0]
        return _shifted(out, -high, -low, form.frac - out.frac)
    if node.op in (SIN, COS):
        return _trigonometry(out, args[0][2])
    # A reciprocal: of zero, and of what is near it, it saturates.
    return _of(out, -out.top - 2, out.top + 1, 64)


def _sum(out: Format, args: Sequence[Operand], *, negate: bool) -> WordRange:
    frac = max(form.frac for _, _, form in args)
    (a, b), (c, d) = ((low << frac - form.frac, high << frac - form.frac) for low, high, form in args)
    low, high = (a - d, b - c) if negate else (a + c, b + d)
    return _shifted(out, low, high, frac - out.frac, a, b, c, d)


def _product(out: Format, args: Sequence[Operand], *, same: bool) -> WordRange:
    (a, b, left), (c, d, right) = args
    corners = [x * y for x in (a, b) for y in (c, d)]
    low = 0 if same and a <= 0 <= b else min(a * a, b * b) if same else min(corners)
    return _shifted(out, low, max(corners), left.frac + right.frac - out.frac)


def _trigonometry(out: Format, angle: Format) -> WordRange:
    """Turning adds at most a few last bits to a length of one: far less than another one."""
    inner = cordic(angle.bits, angle.frac).inner
    return _shifted(out, -2 << inner, 2 << inner, inner - out.frac)


def _shifted(out: Format, low: int, high: int, shift: int, *way: int) -> WordRange:
    """A value rounded to the format `out`; `way`: what was computed on the way to it."""
    half = 1 << shift - 1 if shift > 0 else 0
    sizes = (low, high, low + half, high + half, half, *way)
    return _of(out, (low + half) >> shift, (high + half) >> shift, max(_bits(x) for x in sizes))


def _of(form: Format, low: int, high: int, bits: int = 0) -> WordRange:
    return WordRange(low, high, -form.top - 1, form.top, bits)


def _bits(value: int) -> int:
    """Of the smallest signed integer that holds the value."""
    return (value if value >= 0 else ~value).bit_length() + 1
