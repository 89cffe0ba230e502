"""Matrices between values at nodes, Chebyshev and Bernstein coefficients; conversions come from fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np

from robomorph.ir.chebyshev.rounding import Array

Exact = list[list[Fraction]]


@cache
def powers_of_chebyshev(degree: int) -> Exact:
    """Row k: coefficients of x^0 .. x^degree of T_k."""
    rows = [[Fraction(int(i == k)) for i in range(degree + 1)] for k in range(2)]
    for _ in range(2, degree + 1):
        last, before = rows[-1], rows[-2]
        rows.append([(2 * last[i - 1] if i else 0) - before[i] for i in range(degree + 1)])
    return rows[: degree + 1]


@cache
def chebyshev_of_powers(degree: int) -> Exact:
    """Row k: Chebyshev coefficients 0 .. degree of x^k."""
    rows = [[Fraction(int(i == 0)) for i in range(degree + 1)]]
    for _ in range(degree):
        last, row = rows[-1], [Fraction(0)] * (degree + 1)
        for i, value in enumerate(last):  # x T_i = (T_(i+1) + T_|i-1|) / 2
            if value:
                for j in (i + 1, abs(i - 1)):
                    row[j] += value / 2
        rows.append(row)
    return rows


def substituted(powers: list[Fraction], shift: Fraction, scale: Fraction) -> list[Fraction]:
    """Coefficients of p(shift + scale y) in powers of y from those of p in powers of x."""
    out = [Fraction(0)] * len(powers)
    for value in reversed(powers):  # Horner's rule on polynomials
        stepped = [Fraction(0), *(scale * x for x in out[:-1])]
        out = [shift * x + y for x, y in zip(out, stepped, strict=True)]
        out[0] += value
    return out


def bernstein_of_powers(powers: list[Fraction]) -> list[Fraction]:
    """Bernstein coefficients over [0, 1] from coefficients of powers."""
    degree = len(powers) - 1
    return [
        sum((Fraction(math.comb(k, j), math.comb(degree, j)) * powers[j] for j in range(k + 1)), Fraction(0))
        for k in range(degree + 1)
    ]


@cache
def bernstein_matrices(degree: int, parts: int) -> Array:
    """(parts, degree + 1, degree + 1): Chebyshev coefficients over [-1, 1] -> Bernstein coefficients over
    each of so many equal parts; every entry is rounded once."""
    rows = powers_of_chebyshev(degree)
    out = np.empty((parts, degree + 1, degree + 1))
    for part in range(parts):
        begin, length = Fraction(2 * part, parts) - 1, Fraction(2, parts)
        for k, powers in enumerate(rows):
            out[part, :, k] = [float(x) for x in bernstein_of_powers(substituted(powers, begin, length))]
    return out


@cache
def node_values(degree: int) -> Array:
    """(degree + 1, degree + 1): Chebyshev coefficients -> values at the nodes cos(pi j / degree). Entries
    are off by less than 8 u."""
    angle = np.outer(np.arange(degree + 1), np.arange(degree + 1)) % (2 * degree)
    return np.asarray(np.cos(angle * (np.pi / degree)))


@cache
def node_coefficients(degree: int) -> Array:
    """(degree + 1, degree + 1): values at these nodes -> Chebyshev coefficients; rows add up to at most 2 in
    size. Entries are off by less than 12 u of themselves and of 2 / degree."""
    half = np.ones(degree + 1)
    half[[0, -1]] = 0.5
    return np.asarray(half[:, None] * node_values(degree) * half * (2.0 / degree))
