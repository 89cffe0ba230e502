"""Programs in exact rational arithmetic, with a bound on what rounding may do to each result."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from robomorph.ir.ops import ADD, CONST, FMA, FMS, FNMA, INPUT, MUL, NEG, SUB, Op
from robomorph.ir.program import Program

UNIT = Fraction(1, 2**53)  # of a rounding, relative
TINY = Fraction(1, 2**1074)  # of a rounding among subnormal numbers
TRIG_UNITS = 4  # a library's sines may be off by more than a rounding
LARGEST_BITS = 6000  # exact numbers grow with every product
LARGEST_ANGLE = 16
LARGEST = Fraction(1.7e308)


@dataclass(frozen=True)
class Value:
    """A real number, how far rounding may take a computed one from it, and, if it is a sum, the sizes of its
    terms, what rounding may have done to those, and how many there are."""

    exact: Fraction
    bound: Fraction = Fraction(0)
    sizes: Fraction = Fraction(0)
    inherited: Fraction = Fraction(0)
    terms: int = 0

    @property
    def size(self) -> Fraction:
        """No computed value is larger."""
        return abs(self.exact) + self.bound


Known = Value | None  # None: rounding decides (a selection), it does not exist, or it is too long


def exact_results(program: Program, inputs: Sequence[float], *, any_order: bool) -> list[Known]:
    """The results on one row of finite inputs. any_order: sums may be joined in another order."""
    values: list[Known] = []
    for node in program.nodes:
        if node.op is CONST or node.op is INPUT:
            number = node.value if node.op is CONST else inputs[int(node.value)]
            values.append(Value(Fraction(number)))
            continue
        args = [values[a] for a in node.args]
        known = [a for a in args if a is not None]
        made = _apply(node.op, known, any_order) if len(known) == len(args) else None
        too_long = made is not None and made.exact.denominator.bit_length() > LARGEST_BITS
        values.append(None if too_long else made)
    return [values[r] for r in program.results]


def _apply(op: Op, args: list[Value], any_order: bool) -> Known:
    if op in (ADD, SUB):
        return _sum(args[0], args[1], -1 if op is SUB else 1, any_order)
    if op in (FMA, FMS, FNMA):
        product = _product(args[0], args[1])
        pair = (args[2], product) if op is FNMA else (product, args[2])
        return _sum(*pair, 1 if op is FMA else -1, any_order)
    if op is NEG:
        (x,) = args
        return Value(-x.exact, x.bound, x.sizes, x.inherited, x.terms)
    return _product(*args) if op is MUL else _OTHERS[op.name](*args)


def _rounded(exact: Fraction, bound: Fraction, units: int = 1) -> Value:
    return Value(exact, _up(bound + units * UNIT * (abs(exact) + bound) + TINY))


def _sum(a: Value, b: Value, sign: int, any_order: bool) -> Known:
    exact = a.exact + sign * b.exact
    if not any_order:
        return _rounded(exact, a.bound + b.bound)
    parts = [(x.sizes, x.inherited, x.terms) if x.terms else (x.size, x.bound, 1) for x in (a, b)]
    sizes, inherited, terms = parts[0][0] + parts[1][0], parts[0][1] + parts[1][1], parts[0][2] + parts[1][2]
    if sizes > LARGEST:  # another order may overflow
        return None
    grown = (terms - 1) * UNIT / (1 - (terms - 1) * UNIT)
    return Value(exact, _up(inherited + grown * sizes), _up(sizes), _up(inherited), terms)


def _product(a: Value, b: Value) -> Value:
    return _rounded(a.exact * b.exact, a.size * b.size - abs(a.exact * b.exact))


def _reciprocal(x: Value) -> Known:
    least = abs(x.exact) - x.bound
    return _rounded(1 / x.exact, x.bound / (abs(x.exact) * least)) if least > 0 else None


def _root(x: Value) -> Known:
    if x.exact - x.bound <= 0:
        return Value(Fraction(0)) if x.exact == x.bound == 0 else None
    top, bottom = x.exact.numerator, x.exact.denominator
    half = max(0, 400 + bottom.bit_length() - top.bit_length()) // 2 + 1
    root = Fraction(math.isqrt((top << 2 * half) // bottom), 1 << half)
    return _rounded(root, x.bound / root)


def _short(x: Fraction, bits: int = 1200) -> Fraction:
    """A number that differs by less than anything float64 can show, and has few digits."""
    return Fraction((x.numerator << bits) // x.denominator, 1 << bits)


def _up(x: Fraction) -> Fraction:
    """A bound of few digits, no smaller."""
    shift = x.denominator.bit_length() - x.numerator.bit_length() + 64
    scaled = x * Fraction(2) ** shift
    return Fraction(-(-scaled.numerator // scaled.denominator)) / Fraction(2) ** shift


def _turn(x: Value, quarter: int) -> Known:
    """sin x, or cos x with a quarter."""
    if x.size > LARGEST_ANGLE:
        return None
    angle, total = _short(x.exact), Fraction(0)
    term = Fraction(1) if quarter else angle
    for k in range(1 - quarter, 120, 2):
        total += term
        term = _short(-term * angle * angle / ((k + 1) * (k + 2)))
    return _rounded(total, x.bound, TRIG_UNITS)


def _extreme(a: Value, b: Value, exact: Fraction) -> Value:
    return Value(exact, max(a.bound, b.bound))


def _choice(x: Value, a: Value, b: Value) -> Known:
    if x.bound and abs(x.exact) <= x.bound:
        return None
    chosen = a if x.exact >= 0 else b
    return Value(chosen.exact, chosen.bound)


_OTHERS: dict[str, Callable[..., Known]] = {
    "recip": _reciprocal,
    "sqrt": _root,
    "sin": lambda x: _turn(x, 0),
    "cos": lambda x: _turn(x, 1),
    "min": lambda a, b: _extreme(a, b, min(a.exact, b.exact)),
    "max": lambda a, b: _extreme(a, b, max(a.exact, b.exact)),
    "select": _choice,
}


def computed_results(program: Program, inputs: Sequence[float]) -> list[float]:
    """The results as a target computes them: fused operations round once."""
    values: list[float] = []
    for node in program.nodes:
        if node.op is CONST or node.op is INPUT:
            values.append(node.value if node.op is CONST else float(inputs[int(node.value)]))
            continue
        args = [values[a] for a in node.args]
        if node.op in (FMA, FMS, FNMA) and all(map(math.isfinite, args)):
            values.append(_fused(node.op, *map(Fraction, args)))
        else:
            assert node.op.evaluate is not None
            with np.errstate(all="ignore"):
                values.append(float(node.op.evaluate(*map(np.float64, args))))
    return [values[r] for r in program.results]


def _fused(op: Op, a: Fraction, b: Fraction, c: Fraction) -> float:
    exact = {FMA: a * b + c, FMS: a * b - c, FNMA: c - a * b}[op]
    try:
        return float(exact)  # correctly rounded
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
