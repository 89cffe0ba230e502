"""Splines as models: the motion in pieces of time, exact but for bounded rounding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.ir.chebyshev import Models
from robomorph.ir.chebyshev.rounding import TINY, enlarged, gamma
from robomorph.ir.chebyshev.tables import bernstein_of_powers, chebyshev_of_powers, substituted

Array = npt.NDArray[np.float64]
Exact = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Piece:
    """From `begin` to `end` (s), within one knot span: control points `first` to `first + degree` decide."""

    begin: Fraction
    end: Fraction
    first: int

    def halves(self) -> tuple[Piece, Piece]:
        middle = (self.begin + self.end) / 2
        return Piece(self.begin, middle, self.first), Piece(middle, self.end, self.first)


@dataclass(frozen=True, eq=False)
class Spline:
    """A motion: control (C, nv) rad or m, knots (C + degree + 1,) s, exact numbers, rising.

    It lives from knots[degree] to knots[C], and is there what the recurrence of B-splines makes of these
    numbers in exact arithmetic.
    """

    control: Array
    knots: tuple[Fraction, ...]
    degree: int = 3

    def __post_init__(self) -> None:
        control = np.array(self.control, dtype=np.float64)
        if control.ndim != 2 or not np.isfinite(control).all():
            raise ArgumentError(
                f"control points: expected finite numbers (C, nv), found shape {control.shape}"
            )
        if len(self.knots) != len(control) + self.degree + 1:
            raise ArgumentError(
                f"knots: expected {len(control) + self.degree + 1} for {len(control)} control points of "
                f"degree {self.degree}, found {len(self.knots)}"
            )
        if any(a > b for a, b in pairwise(self.knots)) or self.start >= self.stop:
            raise ArgumentError("knots: expected numbers that rise")
        inner = [k for k in self.knots if self.start < k < self.stop]
        if len(set(inner)) != len(inner):
            raise ArgumentError("knots: expected each inner one once, so that the motion has no jumps")
        control.setflags(write=False)
        object.__setattr__(self, "control", control)

    @staticmethod
    def uniform(control: npt.ArrayLike, seconds: float | Fraction, degree: int = 3) -> Spline:
        """Equally long spans over `seconds`, as many as there are control points beyond `degree`."""
        points = np.array(control, dtype=np.float64)
        span = Fraction(seconds) / max(1, len(points) - degree)
        return Spline(points, tuple(span * k for k in range(-degree, len(points) + 1)), degree)

    @property
    def start(self) -> Fraction:
        return self.knots[self.degree]

    @property
    def stop(self) -> Fraction:
        return self.knots[len(self.control)]

    def pieces(self, edges: Sequence[Fraction] = ()) -> list[Piece]:
        """The whole motion, cut at knots and at `edges`."""
        spans = range(self.degree, len(self.control))
        cuts = sorted({self.start, self.stop, *self.knots, *edges})
        inside = [t for t in cuts if self.start <= t <= self.stop]
        out = []
        for a, b in pairwise(inside):
            span = next(i for i in spans if self.knots[i] <= a and b <= self.knots[i + 1])
            out.append(Piece(a, b, span - self.degree))
        return out

    def at(self, t: Fraction) -> Piece:
        """The instant `t` as a piece without length."""
        span = next(i for i in range(self.degree, len(self.control)) if t <= self.knots[i + 1])
        return Piece(t, t, span - self.degree)

    def models(self, pieces: Sequence[Piece], order: int) -> Models:
        """The `order`-th time derivative: models (degree + 1, nv, pieces)."""
        matrices = np.stack([_rounded(self._place(piece, order)) for piece in pieces])
        points = np.stack([self.control[p.first : p.first + self.degree + 1] for p in pieces])
        coefficients = np.einsum("pkw,pwj->kjp", matrices, points)
        sizes = np.einsum("pkw,pwj->kjp", np.abs(matrices), np.abs(points))
        off = gamma(self.degree + 4) * sizes.sum(axis=0)
        return Models.of(coefficients, enlarged(off + np.where(off > 0.0, TINY, 0.0)))

    def chebyshev(self, piece: Piece, order: int) -> Exact:
        """(degree + 1, degree + 1): control points -> Chebyshev coefficients over the piece."""
        return _chebyshev(self._place(piece, order))

    def bernstein(self, piece: Piece, order: int) -> Exact:
        """(degree + 1, degree + 1): control points -> Bernstein coefficients over the piece."""
        return tuple(zip(*(bernstein_of_powers(p) for p in _powers(self._place(piece, order))), strict=True))

    def _place(self, piece: Piece, order: int) -> _Place:
        span = piece.first + self.degree
        begin, length = self.knots[span], self.knots[span + 1] - self.knots[span]
        near = self.knots[span - self.degree + 1 : span + self.degree + 1]
        return _Place(
            tuple((k - begin) / length for k in near),
            (piece.begin - begin) / length,
            (piece.end - piece.begin) / length,
            length,
            order,
        )


class _Place(NamedTuple):
    """A piece of a span: all that its matrices depend on. Spans of one shape share them."""

    knots: tuple[Fraction, ...]  # the 2 degree ones about the span, which is from 0 to 1
    shift: Fraction
    scale: Fraction
    length: Fraction  # of the span (s)
    order: int


def _powers(place: _Place) -> list[list[Fraction]]:
    """Per control point, coefficients of powers of u = 0 .. 1 over the piece."""
    unit = place.length**place.order
    return [
        [x / unit for x in substituted(_derived(list(powers), place.order), place.shift, place.scale)]
        for powers in _span_powers(place.knots, len(place.knots) // 2)
    ]


@lru_cache(maxsize=4096)
def _chebyshev(place: _Place) -> Exact:
    columns = []
    for powers in _powers(place):
        on_piece = substituted(powers, Fraction(1, 2), Fraction(1, 2))  # u = (1 + x) / 2
        to_chebyshev = chebyshev_of_powers(len(powers) - 1)
        columns.append(
            [
                sum((a * row[k] for a, row in zip(on_piece, to_chebyshev, strict=True)), Fraction(0))
                for k in range(len(powers))
            ]
        )
    return tuple(zip(*columns, strict=True))


@lru_cache(maxsize=4096)
def _rounded(place: _Place) -> Array:
    return np.array([[float(x) for x in row] for row in _chebyshev(place)])


def _derived(powers: list[Fraction], order: int) -> list[Fraction]:
    for _ in range(order):
        powers = [*(k * x for k, x in enumerate(powers) if k), Fraction(0)]
    return powers


@lru_cache(maxsize=4096)
def _span_powers(knots: tuple[Fraction, ...], degree: int) -> Exact:
    """Per control point, coefficients of powers of s over the span from 0 to 1; `knots` are the 2 degree ones
    about it. The recurrence of B-splines on polynomials."""
    rows: list[list[Fraction]] = [[Fraction(1)]]
    for d in range(1, degree + 1):
        after = [[Fraction(0)] * (d + 1) for _ in range(d + 1)]
        for i, row in enumerate(rows):  # row i belongs to the function that begins at knots[low]
            low, high = knots[degree - d + i], knots[degree + i]
            for power, x in enumerate(row):
                share = x / (high - low)
                after[i + 1][power + 1] += share
                after[i + 1][power] -= low * share
                after[i][power] += high * share
                after[i][power + 1] -= share
        rows = after
    return tuple(tuple(row) for row in rows)
