"""Is a polynomial, give or take a remainder, between two numbers? By its Bernstein coefficients, which
enclose it, and more tightly those of its halves."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import comb
from typing import Any

from robomorph.checker.balls import Ball, flint
from robomorph.checker.motion import Polynomial

_DEEPEST = 10


@cache
def _rows(degree: int) -> list[list[Fraction]]:
    """Powers of x over [-1, 1] -> Bernstein coefficients over it."""
    out = []
    for k in range(degree + 1):
        row = []
        for power in range(degree + 1):
            # x^power = (2 u - 1)^power; u^j has the coefficient comb(k, j) / comb(degree, j).
            terms = [
                Fraction(comb(power, j) * 2**j * (-1) ** (power - j) * comb(k, j), comb(degree, j))
                for j in range(min(k, power) + 1)
            ]
            row.append(sum(terms, Fraction(0)))
        out.append(row)
    return out


def bernstein(powers: Sequence[Any], convert: Any) -> list[Any]:
    """Of a polynomial in x = -1 .. 1; `convert` makes a number of the powers' kind from a fraction."""
    return [
        sum(
            (convert(share) * value for share, value in zip(row, powers, strict=True) if share),
            start=0 * powers[0],
        )
        for row in _rows(len(powers) - 1)
    ]


def halves(coefficients: list[Any], half: Any) -> tuple[list[Any], list[Any]]:
    left, right, row = [coefficients[0]], [coefficients[-1]], coefficients
    while len(row) > 1:
        row = [(row[i] + row[i + 1]) * half for i in range(len(row) - 1)]
        left.append(row[0])
        right.append(row[-1])
    return left, right[::-1]


def holds(powers: list[Ball], remainder: Ball, radius: Fraction, lower: Ball, upper: Ball) -> bool | None:
    """True: between the bounds for all |s| <= radius. False: certainly not at some place. None: unknown."""
    arb = flint().arb
    size, scale = arb(flint().fmpq(radius.numerator, radius.denominator)), arb(1)
    on_unit = []
    for value in powers:
        on_unit.append(arb(value) * scale)
        scale *= size
    slack = (abs(arb(remainder)) * scale).upper()
    around = arb(0, slack)
    coefficients = [
        c + around for c in bernstein(on_unit, lambda f: arb(flint().fmpq(f.numerator, f.denominator)))
    ]
    return _between(coefficients, arb(0.5), lower, upper, _DEEPEST)


def holds_exactly(polynomial: Polynomial, radius: Fraction, lower: float, upper: float) -> bool | None:
    """The same for a polynomial of fractions, about the middle."""
    on_unit = [value * radius**k for k, value in enumerate(polynomial)]
    return _between(bernstein(on_unit, lambda f: f), Fraction(1, 2), lower, upper, _DEEPEST)


def _between(coefficients: list[Any], half: Any, lower: Any, upper: Any, deepest: int) -> bool | None:
    if all(lower <= c and c <= upper for c in coefficients):
        return True
    ends = (coefficients[0], coefficients[-1])
    if any(c < lower or c > upper for c in ends):
        return False
    if deepest == 0:
        return None
    found = [_between(part, half, lower, upper, deepest - 1) for part in halves(coefficients, half)]
    return False if False in found else None if None in found else True
