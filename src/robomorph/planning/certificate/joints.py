"""Joints themselves and their rates: polynomials whose range is seen at once, in floating point with bounded
rounding, and in rational arithmetic where that is not enough."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise

import numpy as np

from robomorph.ir.chebyshev import bounds
from robomorph.planning.certificate.obligations import Obligation
from robomorph.planning.certificate.proofs import Enclosure
from robomorph.planning.certificate.splines import Piece, Spline

_DEEPEST = 16  # bisections of one piece


def prove_joints(spline: Spline, obligations: Mapping[int, Obligation]) -> dict[int, list[Enclosure]]:
    """Enclosures by number of the obligation; all are of one order of derivative."""
    order = next(iter(obligations.values())).order
    edges = [t for one in obligations.values() for t in one.window]
    pieces = spline.pieces(edges)
    low, high = (side[0] for side in bounds(spline.models(pieces, order)))  # (nv, pieces)
    found: dict[int, list[Enclosure]] = {i: [] for i in obligations}
    for i, one in obligations.items():
        for piece, quick_low, quick_high in _during(spline, pieces, one, low, high):
            proven = quick_low >= one.lower and quick_high <= one.upper
            if proven:
                found[i].append(Enclosure(piece.begin, piece.end, quick_low, quick_high, True))
            else:
                found[i] += _exactly(spline, piece, one)
    return found


def _during(
    spline: Spline,
    pieces: list[Piece],
    one: Obligation,
    low: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    high: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> list[tuple[Piece, float, float]]:
    """The pieces of its window with what is known of them."""
    begin, end = one.window
    if begin == end:
        return [(spline.at(begin), -math.inf, math.inf)]
    return [
        (piece, float(low[one.index, p]), float(high[one.index, p]))
        for p, piece in enumerate(pieces)
        if begin <= piece.begin and piece.end <= end
    ]


def _exactly(spline: Spline, piece: Piece, one: Obligation) -> list[Enclosure]:
    points = [Fraction(float(x)) for x in spline.control[piece.first :, one.index][: spline.degree + 1]]
    rows = spline.bernstein(piece, one.order)
    coefficients = [sum((a * x for a, x in zip(row, points, strict=True)), Fraction(0)) for row in rows]
    return _bisected(piece, coefficients, one, _DEEPEST)


def _bisected(piece: Piece, coefficients: list[Fraction], one: Obligation, deepest: int) -> list[Enclosure]:
    """Bernstein coefficients enclose a polynomial; those of the halves more tightly (de Casteljau)."""
    least, most = min(coefficients), max(coefficients)
    proven = least >= one.lower and most <= one.upper  # fractions against floats: exact
    ends = (coefficients[0], coefficients[-1])
    broken = min(ends) < one.lower or max(ends) > one.upper
    if proven or broken or deepest == 0:
        return [Enclosure(piece.begin, piece.end, _below(least), _above(most), proven)]
    left, right, row = [coefficients[0]], [coefficients[-1]], coefficients
    while len(row) > 1:
        row = [(a + b) / 2 for a, b in pairwise(row)]
        left.append(row[0])
        right.append(row[-1])
    halves = zip(piece.halves(), (left, right[::-1]), strict=True)
    return [found for half, own in halves for found in _bisected(half, own, one, deepest - 1)]


def _below(x: Fraction) -> float:
    near = float(x)
    return near if near <= x else math.nextafter(near, -math.inf)


def _above(x: Fraction) -> float:
    near = float(x)
    return near if near >= x else math.nextafter(near, math.inf)
