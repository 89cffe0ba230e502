"""Prove obligations on a finished motion, at every instant; bisect what is not proven at once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from robomorph.errors import ArgumentError
from robomorph.ir.chebyshev import Bounds, Models, bounds, run_models
from robomorph.planning.certificate.joints import prove_joints
from robomorph.planning.certificate.obligations import Function, Obligation
from robomorph.planning.certificate.proofs import Certificate, Enclosure, Proof
from robomorph.planning.certificate.rates import MOTION
from robomorph.planning.certificate.splines import Array, Piece, Spline

_LARGEST = 40  # degree of models


def certify(
    spline: Spline, obligations: Sequence[Obligation], degree: int = 7, deepest: int = 8, parts: int = 8
) -> Certificate:
    """Prove what can be proven.

    degree: of the models. Pieces in which something is not proven are halved, `deepest` times at most, with
    models of up to twice the degree. parts: into how many the polynomial of a piece is cut before that, to
    see its range more closely.
    """
    if not spline.degree <= degree <= _LARGEST:
        raise ArgumentError(f"degree: expected {spline.degree} to {_LARGEST}, found {degree!r}")
    for one in obligations:
        if not (spline.start <= one.window[0] and one.window[1] <= spline.stop):
            raise ArgumentError(
                f"{one.name}: expected a window within the motion, {float(spline.start):g} to "
                f"{float(spline.stop):g} s, found {float(one.window[0]):g} to {float(one.window[1]):g}"
            )
    found: dict[int, list[Enclosure]] = {i: [] for i in range(len(obligations))}
    runs = 0
    for members in _groups(obligations):
        first = obligations[members[0]]
        if first.function is None:
            found |= prove_joints(spline, {i: obligations[i] for i in members})
            continue
        runs += _prove(spline, first.function, obligations, members, found, (degree, deepest, parts))
    proofs = tuple(
        Proof(one, tuple(sorted(found[i], key=lambda piece: piece.begin)))
        for i, one in enumerate(obligations)
    )
    return Certificate(spline, proofs, degree, runs)


def _groups(obligations: Sequence[Obligation]) -> list[list[int]]:
    """Obligations that one program answers."""
    groups: dict[tuple[int, int], list[int]] = {}
    for i, one in enumerate(obligations):
        groups.setdefault((id(one.function), one.order), []).append(i)
    return list(groups.values())


def _prove(
    spline: Spline,
    function: Function,
    obligations: Sequence[Obligation],
    members: list[int],
    found: dict[int, list[Enclosure]],
    effort: tuple[int, int, int],
) -> int:
    degree, deepest, parts = effort
    edges = [t for i in members for t in obligations[i].window]
    instants = {t for i in members for t in obligations[i].window if len(set(obligations[i].window)) == 1}
    open_ = {p: [i for i in members if _within(p, obligations[i])] for p in spline.pieces(edges)}
    open_ |= {spline.at(t): [i for i in members if set(obligations[i].window) == {t}] for t in instants}
    open_, runs = {p: own for p, own in open_.items() if own}, 0
    for depth in range(deepest + 1):
        pieces = list(open_)
        if not pieces:
            break
        runs += len(pieces)
        order = obligations[members[0]].order
        models = _models(spline, function, order, pieces, min(degree + 2 * depth, 2 * degree))
        left: dict[Piece, list[int]] = {}
        for p, piece in enumerate(pieces):
            own = models.take([obligations[i].index for i in open_[piece]])
            single = Models(own.coefficients[:, :, p], own.remainder[:, p], own.size[:, p])
            last = depth == deepest or piece.begin == piece.end
            waiting = _judge(piece, single, obligations, open_[piece], found, parts, last)
            if waiting:
                left |= dict.fromkeys(piece.halves(), waiting)
        open_ = left
    return runs


def _within(piece: Piece, one: Obligation) -> bool:
    return one.window[0] <= piece.begin and piece.end <= one.window[1] and one.window[0] < one.window[1]


def _models(spline: Spline, function: Function, order: int, pieces: list[Piece], degree: int) -> Models:
    program, sorted_ = function.rate(order)
    inputs: dict[str, Models | Sequence[float]] = dict(function.numbers)
    for port in program.inputs:
        if port.name in MOTION:
            inputs[port.name] = spline.models(pieces, MOTION.index(port.name))
    return run_models(program, inputs, degree, sorted_)


def _judge(
    piece: Piece,
    models: Models,
    obligations: Sequence[Obligation],
    members: list[int],
    found: dict[int, list[Enclosure]],
    parts: int,
    last: bool,
) -> list[int]:
    """Write down what is proven on this piece, and what is known of the rest if this is the last attempt;
    returns those that want a closer look."""
    lower = np.array([obligations[i].lower for i in members])
    upper = np.array([obligations[i].upper for i in members])
    low, high = (side[0] for side in bounds(models))
    closer: Bounds | None = None
    waiting = []
    for k, i in enumerate(members):
        if low[k] >= lower[k] and high[k] <= upper[k]:
            found[i].append(Enclosure(piece.begin, piece.end, float(low[k]), float(high[k]), True))
            continue
        closer = closer or bounds(models, parts)
        in_parts = _in_parts(piece, closer.low[:, k], closer.high[:, k], obligations[i])
        broken = (
            (closer.low[:, k] > upper[k]) | (closer.high[:, k] < lower[k])
        ).any()  # certainly, somewhere
        if last or broken or all(part.proven for part in in_parts):
            found[i] += in_parts
        else:
            waiting.append(i)
    return waiting


def _in_parts(piece: Piece, low: Array, high: Array, one: Obligation) -> list[Enclosure]:
    """An enclosure for each of equal parts of a piece; one for all if they are proven."""
    proven = (low >= one.lower) & (high <= one.upper)
    if proven.all() or piece.begin == piece.end:
        return [Enclosure(piece.begin, piece.end, float(low.min()), float(high.max()), bool(proven.all()))]
    edges = [piece.begin + (piece.end - piece.begin) * Fraction(k, len(low)) for k in range(len(low) + 1)]
    return [
        Enclosure(edges[k], edges[k + 1], float(low[k]), float(high[k]), bool(proven[k]))
        for k in range(len(low))
    ]
