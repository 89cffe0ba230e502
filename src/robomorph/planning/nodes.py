"""Polynomials from values at Chebyshev-Lobatto nodes: matrices to coefficients, derivatives, integrals.

Nodes go from -1 to 1. Conversions between bases are made in fractions, products in extended precision; every
matrix is rounded once.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Exact = list[list[Fraction]]
_Long = npt.NDArray[np.longdouble]
_PI = np.longdouble("3.14159265358979323846264338327950288")


@cache
def lobatto(degree: int) -> Array:
    """(degree + 1,) nodes from -1 to 1."""
    nodes: Array = -np.cos(_PI * np.arange(degree + 1) / degree).astype(np.float64)
    return np.asarray((nodes - nodes[::-1]) / 2.0)  # exactly symmetric


@cache
def _chebyshev(degree: int) -> _Long:
    """(degree + 1, degree + 1): values at the nodes -> Chebyshev coefficients."""
    k = np.arange(degree + 1)
    half = np.where((k == 0) | (k == degree), np.longdouble(0.5), np.longdouble(1.0))
    # At the node -cos(pi n / K) the polynomial T_k is (-1)^k cos(pi k n / K).
    values = np.cos(_PI * ((np.outer(k, k)) % (2 * degree)) / degree) * (-1.0) ** k[:, None]
    return np.asarray(values * half[:, None] * half * (np.longdouble(2.0) / degree))


def chebyshev(degree: int) -> Array:
    """(degree + 1, degree + 1): values at the nodes -> Chebyshev coefficients."""
    return np.asarray(_chebyshev(degree).astype(np.float64))


@cache
def _power_of_chebyshev(degree: int) -> Exact:
    """Row k: coefficients of x^0 .. x^degree of T_k."""
    rows = [[Fraction(int(i == k)) for i in range(degree + 1)] for k in range(2)]
    for _ in range(2, degree + 1):
        last, before = rows[-1], rows[-2]
        rows.append([(2 * last[i - 1] if i else 0) - before[i] for i in range(degree + 1)])
    return rows[: degree + 1]


@cache
def bernstein_of_chebyshev(degree: int) -> Exact:
    """(degree + 1, degree + 1): Chebyshev coefficients -> Bernstein coefficients over [-1, 1], exact."""
    columns = [_bernstein_of_powers(row) for row in _power_of_chebyshev(degree)]
    return [list(row) for row in zip(*columns, strict=True)]


def _bernstein_of_powers(powers: list[Fraction]) -> list[Fraction]:
    """Bernstein coefficients over [-1, 1] of a polynomial in x: by x = 2 u - 1, then those of powers of u."""
    degree = len(powers) - 1
    in_u = [Fraction(0)] * (degree + 1)
    for i, a in enumerate(powers):
        for j in range(i + 1):
            in_u[j] += a * math.comb(i, j) * 2**j * (-1) ** (i - j)
    return [
        sum((Fraction(math.comb(k, j), math.comb(degree, j)) * in_u[j] for j in range(k + 1)), Fraction(0))
        for k in range(degree + 1)
    ]


@cache
def derivative_of_chebyshev(degree: int) -> Exact:
    """(degree, degree + 1): Chebyshev coefficients -> those of the derivative by x, exact."""
    out = [[Fraction(0)] * (degree + 1) for _ in range(degree)]
    for k in range(1, degree + 1):
        for j in range(k - 1, -1, -2):
            out[j][k] = Fraction(k if j == 0 else 2 * k)
    return out


def _long(rows: Exact) -> _Long:
    wide = [[np.longdouble(x.numerator) / np.longdouble(x.denominator) for x in row] for row in rows]
    return np.array(wide, dtype=np.longdouble).reshape(len(rows), -1)


@cache
def coefficients(degree: int, order: int) -> Array:
    """(degree + 1 - order, degree + 1): values at the nodes -> Chebyshev coefficients of the `order`-th
    derivative by x of their interpolant."""
    return np.asarray(_derivative(degree, order).astype(np.float64))


def _derivative(degree: int, order: int) -> _Long:
    matrix = _chebyshev(degree)
    for k in range(order):
        matrix = _long(derivative_of_chebyshev(degree - k)) @ matrix
    return matrix


@cache
def bernstein(degree: int, order: int) -> Array:
    """(degree + 1 - order, degree + 1): values at the nodes -> Bernstein coefficients of the `order`-th
    derivative by x of their interpolant over [-1, 1]."""
    matrix = (_long(bernstein_of_chebyshev(degree - order)) @ _derivative(degree, order)).astype(np.float64)
    if order == 0:  # the outer ones are the values there, without rounding
        matrix[[0, -1]] = np.eye(degree + 1)[[0, -1]]
    return np.asarray(matrix)


@cache
def quadrature(degree: int) -> Array:
    """(degree + 1,) Clenshaw-Curtis weights over [-1, 1], exact for polynomials of this degree."""
    integrals = [
        np.longdouble(0 if k % 2 else 2) / np.longdouble(1 - k * k if k != 1 else 1)
        for k in range(degree + 1)
    ]
    return np.asarray((np.array(integrals) @ _chebyshev(degree)).astype(np.float64))


@cache
def at_points(degree: int, points: tuple[float, ...], order: int) -> Array:
    """(len(points), degree + 1): values at the nodes -> the `order`-th derivative by x at other points."""
    x = np.array(points, dtype=np.longdouble)
    count = degree + 1 - order
    angles = np.arccos(np.clip(x, -1, 1))[:, None] * np.arange(count)
    return np.asarray((np.cos(angles) @ _derivative(degree, order)).astype(np.float64))
