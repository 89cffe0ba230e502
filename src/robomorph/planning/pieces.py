"""The time axis in pieces: cut at knots, within intervals (`refine`) and at the edges of windows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from robomorph.planning import nodes
from robomorph.planning.problem import Array, Pieces
from robomorph.planning.spline import WIDTH, basis

NODES = 8  # of a piece: polynomials of degree 7
# Edges of windows this close to a knot (in intervals) are the knot: rounding of what the caller computed.
_SNAP = 1e-9
# Windows (in intervals) that keep a piece however their edges are moved.
SHORTEST_WINDOW = 1e-8


@dataclass(frozen=True)
class Piece:
    """From `begin` to `end` (0 to 1) of the knot interval `interval`."""

    interval: int
    begin: float
    end: float

    def times(self, knot: float) -> tuple[float, float]:
        """From when to when (s), for knots so many seconds apart."""
        return (self.interval + self.begin) * knot, (self.interval + self.end) * knot


def cut(intervals: int, refine: int, edges: Iterable[float]) -> list[Piece]:
    """Pieces in the order of time. edges: further cuts, in intervals from the start."""
    inner: list[set[float]] = [{k / refine for k in range(refine + 1)} for _ in range(intervals)]
    for edge in edges:
        interval = min(int(edge), intervals - 1)
        place = edge - interval
        if all(abs(place - known) > _SNAP for known in inner[interval]):
            inner[interval].add(place)
    return [
        Piece(i, begin, end)
        for i, places in enumerate(inner)
        for begin, end in zip(sorted(places), sorted(places)[1:], strict=False)
    ]


def same_time(a: float, b: float) -> bool:
    """Are two times (in intervals) the same edge of a piece?"""
    return abs(a - b) <= 2 * _SNAP


def within(piece: Piece, begin: float, end: float) -> bool:
    """Is all of a piece in a window (in intervals from the start) that was among the edges?"""
    return piece.interval + piece.begin >= begin - 2 * _SNAP and piece.interval + piece.end <= end + 2 * _SNAP


def starts_at(piece: Piece, edge: float) -> bool:
    return same_time(piece.interval + piece.begin, edge)


def ends_at(piece: Piece, edge: float) -> bool:
    return same_time(piece.interval + piece.end, edge)


def make_pieces(pieces: list[Piece], knot: float, count: int = NODES) -> Pieces:
    """Where functions are evaluated in each piece, `count` nodes."""
    degree = count - 1
    coarse = nodes.lobatto(degree)
    between = nodes.lobatto(2 * degree)[1::2]
    length = np.array([piece.end - piece.begin for piece in pieces])
    return Pieces(
        first=np.array([piece.interval for piece in pieces], np.int32),
        start=np.array([piece.times(knot)[0] for piece in pieces]),
        seconds=length * knot,
        basis=_basis(pieces, knot, coarse),
        between=_basis(pieces, knot, between),
        quadrature=np.outer(length * (knot / 2.0), nodes.quadrature(degree)),
    )


def _basis(pieces: list[Piece], knot: float, points: Array) -> Array:
    """(E, 3, points, WIDTH)."""
    begin = np.array([piece.begin for piece in pieces])[:, None]
    end = np.array([piece.end for piece in pieces])[:, None]
    u = begin * ((1.0 - points) / 2.0) + end * ((1.0 + points) / 2.0)
    out = [basis(u, order) / knot**order for order in range(3)]
    return np.stack(out, axis=1).reshape(len(pieces), 3, len(points), WIDTH)
