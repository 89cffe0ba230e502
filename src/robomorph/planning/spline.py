"""Uniform cubic B-splines: joint motions from control points.

Between two knots, u = 0 to 1, four control points decide the value: [1 u u^2 u^3] B p. Every matrix here is
made in fractions and rounded once.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Exact = list[list[Fraction]]
DEGREE = 3
WIDTH = DEGREE + 1  # control points that decide what happens between two knots

# Rows: coefficients of u^0 .. u^3, columns: control points; times 6.
_POWERS = ((1, 4, 1, 0), (-3, 0, 3, 0), (3, -6, 3, 0), (-1, 3, -3, 1))


def power_matrix(order: int) -> Exact:
    """(WIDTH - order, WIDTH): coefficients of u^0 .. of the `order`-th derivative by u."""
    rows = [[Fraction(x, 6) for x in row] for row in _POWERS]
    for _ in range(order):
        rows = [[k * x for x in row] for k, row in enumerate(rows)][1:]
    return rows


@cache
def _rounded(order: int) -> Array:
    return np.array(power_matrix(order), dtype=np.float64)


def basis(u: npt.ArrayLike, order: int) -> Array:
    """(..., WIDTH): the `order`-th derivative by u (0 to 3) of the four control points' shares at u (...).

    Entry by entry in one order, so that a time gives the same bits alone and among others."""
    at = np.asarray(u, dtype=np.float64)[..., None]
    rows = _rounded(order)
    out = np.broadcast_to(rows[-1], (*at.shape[:-1], WIDTH))
    for row in rows[-2::-1]:
        out = out * at + row
    return np.array(out)


def bernstein_rows(begin: float, end: float, order: int) -> Exact:
    """(WIDTH - order, WIDTH): exact Bernstein coefficients of the `order`-th derivative by u in [begin, end].

    The coefficient k of a polynomial of degree d is its blossom at begin (d - k times) and end (k times)."""
    rows = power_matrix(order)
    degree = len(rows) - 1
    a, b = Fraction(begin), Fraction(end)
    out: Exact = []
    for k in range(degree + 1):
        weights = _symmetric([a] * (degree - k) + [b] * k)
        out.append(
            [
                sum((w * row[c] for w, row in zip(weights, rows, strict=True)), Fraction(0))
                for c in range(WIDTH)
            ]
        )
    return out


@lru_cache(maxsize=1024)
def bernstein_matrix(begin: float, end: float, order: int) -> Array:
    """The same, rounded."""
    out = np.array(bernstein_rows(begin, end, order), dtype=np.float64)
    out.flags.writeable = False
    return out


def _symmetric(arguments: list[Fraction]) -> list[Fraction]:
    """What u^0 .. u^d become in a blossom: elementary symmetric functions over their number of terms."""
    sums = [Fraction(1)]
    for x in arguments:
        sums = [
            (sums[k] if k < len(sums) else 0) + (x * sums[k - 1] if k else Fraction(0))
            for k in range(len(sums) + 1)
        ]
    count = [Fraction(1)]
    for k in range(len(arguments)):
        count.append(count[-1] * (len(arguments) - k) / (k + 1))
    return [s / c for s, c in zip(sums, count, strict=True)]


@dataclass(frozen=True)
class Spline:
    """Joint motions. control (N + 3, nv): over `seconds` in N equal intervals."""

    control: Array
    seconds: float

    @property
    def intervals(self) -> int:
        return len(self.control) - DEGREE

    @property
    def knot(self) -> float:
        """Seconds between two knots."""
        return self.seconds / self.intervals

    def __call__(self, t: npt.ArrayLike, order: int = 0) -> Array:
        """(..., nv): the `order`-th time derivative (0 to 3) at times t (...), held within the motion."""
        times = np.clip(np.asarray(t, dtype=np.float64), 0.0, self.seconds) / self.knot
        index = np.minimum(times.astype(np.int64), self.intervals - 1)
        shares = basis(times - index, order) / self.knot**order
        points = self.control[index[..., None] + np.arange(WIDTH)]
        # Not by einsum, which adds in an order that depends on how many times there are.
        first, *others = (shares[..., w, None] * points[..., w, :] for w in range(WIDTH))
        return np.asarray(sum(others, start=first))


def end_points(state: Array, knot: float) -> Array:
    """(3, nv): the three control points about a knot at which the motion has the state q, qd, qdd (3, nv)."""
    q, qd, qdd = state
    middle = q - qdd * (knot * knot / 6.0)
    bend = middle + qdd * (knot * knot / 2.0)
    return np.stack([bend - qd * knot, middle, bend + qd * knot])


def smoothness(points: int, knot: float) -> Array:
    """(P - 3, P) R: |R p|^2 is the integral of the squared third derivative over time, one joint."""
    out = np.zeros((points - DEGREE, points))
    for i in range(points - DEGREE):
        out[i, i : i + WIDTH] = np.array([-1.0, 3.0, -3.0, 1.0]) / knot**2.5
    return out
