"""The method of Chretien, Escande and Kheddar, for comparison: over every piece a function is taken for its
Taylor polynomial of degree 5 about the middle, and its least and largest value there, found analytically, are
the rows. Their error is not accounted for, and the rows have kinks where the extremum jumps.

The paper carries degree K + 2 = 7 through positions so that speeds and accelerations have degree K = 5: that
is the Taylor polynomial of degree 5 of whatever is held. Its coefficients come from values at 15 nodes, whose
own error is far below the truncation's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from robomorph.planning import nodes
from robomorph.planning.evaluate import AnyFunctions, Evaluator, Long, Point
from robomorph.planning.pieces import Piece, make_pieces
from robomorph.planning.problem import Array, Bools, Ints, Problem

DEGREE = 5
_NODES = 15
_TINY = 1e-9  # share of a polynomial's leading coefficient below which it has a lower degree


@cache
def taylor(rate: int) -> Array:
    """(DEGREE + 1, nodes): values at nodes -> coefficients of x^0 .. x^5 of the `rate`-th derivative by x."""
    rows = [nodes.at_points(_NODES - 1, (0.0,), rate + k)[0] / math.factorial(k) for k in range(DEGREE + 1)]
    return np.stack(rows)


@cache
def _power_of_bernstein(degree: int) -> Array:
    """(DEGREE + 1, degree + 1): Bernstein coefficients over [-1, 1] -> those of x^0 .. x^5."""
    points = nodes.lobatto(max(1, degree))[: degree + 1]
    u = (1.0 + points) / 2.0
    values = np.stack(
        [math.comb(degree, k) * u**k * (1 - u) ** (degree - k) for k in range(degree + 1)], axis=-1
    )
    out = np.zeros((DEGREE + 1, degree + 1))
    out[: degree + 1] = np.linalg.solve(np.vander(points, degree + 1, increasing=True), values)
    return out


def extremes(coefficients: Array) -> tuple[Array, Array]:
    """Places (k, 2) in [-1, 1] of the least and the largest value of polynomials (k, DEGREE + 1)."""
    slope = coefficients[:, 1:] * np.arange(1, DEGREE + 1)
    size = np.abs(slope).max(axis=1, keepdims=True)
    flat = size[:, 0] == 0.0
    slope = slope / np.where(flat[:, None], 1.0, size)
    lead = np.where(np.abs(slope[:, -1]) < _TINY, _TINY, slope[:, -1])
    companion = np.zeros((len(slope), DEGREE - 1, DEGREE - 1))
    companion[:, np.arange(1, DEGREE - 1), np.arange(DEGREE - 2)] = 1.0
    companion[:, :, -1] = -slope[:, :-1] / lead[:, None]
    roots = np.linalg.eigvals(companion)
    real = np.where(np.abs(roots.imag) < 1e-7 * np.maximum(1.0, np.abs(roots)), roots.real, 1.0)
    ends = np.tile([-1.0, 1.0], (len(slope), 1))
    spots = np.concatenate([ends, np.clip(real, -1.0, 1.0)], axis=1)
    values = np.einsum("kd,kpd->kp", coefficients, spots[..., None] ** np.arange(DEGREE + 1))
    at = np.arange(len(slope))
    places = np.stack([spots[at, values.argmin(axis=1)], spots[at, values.argmax(axis=1)]], axis=-1)
    return places, np.stack([values.min(axis=1), values.max(axis=1)], axis=-1)


@dataclass(frozen=True)
class Sides:
    """One-sided rows of entries: which entry (rows,), and the side: 0 its least, 1 its largest value."""

    entry: Ints
    side: Ints


class PaperEvaluator(Evaluator):
    """Rows are extremes of polynomials: for every entry the least value, if it has a lower bound, and the
    largest, if it has an upper one. `problem` has whole matrices of Bernstein coefficients."""

    def __init__(self, problem: Problem, functions: AnyFunctions, pieces: list[Piece]) -> None:
        knot = problem.seconds / (len(problem.control) - problem.width + 1)
        super().__init__(replace(problem, pieces=make_pieces(pieces, knot, _NODES)), functions)
        lower = np.concatenate([problem.rows.lower, problem.spline_rows.lower])
        upper = np.concatenate([problem.rows.upper, problem.spline_rows.upper])
        entry, side = np.nonzero(np.stack([np.isfinite(lower), np.isfinite(upper)], axis=-1))
        self.sides = Sides(entry.astype(np.int32), side.astype(np.int32))
        self.count = len(entry) + (problem.duration is not None)
        self._bounds = np.stack([lower, upper], axis=-1)[entry, side]
        self.scale = np.concatenate([problem.rows.scale, problem.spline_rows.scale])[entry]
        self.rate = np.concatenate([problem.rows.rate, problem.spline_rows.rate])[entry]

    def bounds(self, margins: Array | None = None) -> tuple[Array, Array]:
        scaled = self._bounds / self.scale
        low = np.where(self.sides.side == 0, scaled, -np.inf)
        high = np.where(self.sides.side == 1, scaled, np.inf)
        sigma = self.problem.duration
        return (low, high) if sigma is None else (np.append(low, sigma[0]), np.append(high, sigma[1]))

    def margins(self, x: Array) -> Array:
        """None: the method has none."""
        return np.zeros(len(self.problem.rows.piece))

    @cached_property
    def node_matrices(self) -> Array:
        """(R, DEGREE + 1, nodes): to the polynomial of every entry of Rows, x from -1 to 1 in its piece."""
        rows, seconds = self.problem.rows, self.problem.pieces.seconds
        out = np.zeros((len(rows.piece), DEGREE + 1, _NODES))
        for i, (piece, rate, matrix) in enumerate(zip(rows.piece, rows.rate, rows.matrix, strict=True)):
            single = self._edge(int(matrix), int(rate))
            own = taylor(int(rate)) if single is None else single
            out[i] = own * (2.0 / seconds[piece]) ** int(rate)
        return out

    def _edge(self, matrix: int, rate: int) -> Array | None:
        """An instant is the value at an end of its piece: a polynomial of degree 0."""
        given = self.problem.matrices[matrix]
        if len(given) > 1:
            return None
        end = 1.0 if abs(given[0, -1]) > abs(given[0, 0]) else -1.0
        out = np.zeros((DEGREE + 1, _NODES))
        out[0] = nodes.at_points(_NODES - 1, (end,), rate)[0]
        return out

    @cached_property
    def spline_matrices(self) -> Array:
        """(S, DEGREE + 1, W): to the polynomial of every entry of SplineRows."""
        tables = [_power_of_bernstein(len(m) - 1) @ m for m in self.problem.spline_matrices]
        shape = (len(self.problem.spline_rows.first), DEGREE + 1, self.problem.width)
        return np.array([tables[k] for k in self.problem.spline_rows.matrix]).reshape(shape)

    def polynomials(self, at: Point) -> Array:
        """(entries, DEGREE + 1), those of spline rows behind."""
        rows, splines = self.problem.rows, self.problem.spline_rows
        parts = [np.zeros((0, DEGREE + 1))]
        if len(rows.piece):
            values = self.node_values(at)[rows.piece, :, rows.function]
            parts.append(np.einsum("kdn,kn->kd", self.node_matrices, values))
        if len(splines.first):
            points = at.control[
                splines.first[:, None] + np.arange(self.problem.width), splines.joint[:, None]
            ]
            parts.append(np.einsum("kdw,kw->kd", self.spline_matrices, points))
        return np.concatenate(parts)

    def node_values(self, at: Point) -> Array:
        """(E, nodes, C or C + nv)."""
        if not self.problem.torque:
            return at.channels[0]
        return np.concatenate([at.channels[0], at.torque.tau], axis=-1)

    def rows(self, x: Array) -> Array:
        at = self.at(x)
        _, values = extremes(self.polynomials(at))
        own = values[self.sides.entry, self.sides.side] / (self.scale * at.sigma**self.rate)
        return own if self.problem.duration is None else np.append(own, at.sigma)


class PaperJacobian:
    """`row` and `column` (nonzeros,), dense over the control points of each piece as in the paper."""

    def __init__(self, evaluator: PaperEvaluator) -> None:
        self.evaluator, problem = evaluator, evaluator.problem
        self._split = len(problem.rows.piece)
        of_nodes = evaluator.sides.entry < self._split
        self._nodes, self._splines = np.flatnonzero(of_nodes), np.flatnonzero(~of_nodes)
        entry = evaluator.sides.entry
        own = entry[self._nodes]
        points = problem.pieces.first[problem.rows.piece[own]][:, None] + np.arange(problem.width)
        block = problem.block_of[points]
        self._mask: Bools = np.repeat((block >= 0)[..., None], problem.nv, axis=-1)
        self._mask &= problem.pattern[problem.rows.function[own]][:, None, :]
        place = block[..., None] * problem.nv + np.arange(problem.nv)
        rows = [np.broadcast_to(self._nodes[:, None, None], self._mask.shape)[self._mask]]
        columns = [place[self._mask]]
        other = entry[self._splines] - self._split
        points = problem.spline_rows.first[other][:, None] + np.arange(problem.width)
        block = problem.block_of[points]
        self._spline_mask: Bools = block >= 0
        rows.append(np.broadcast_to(self._splines[:, None], block.shape)[self._spline_mask])
        columns.append((block * problem.nv + problem.spline_rows.joint[other][:, None])[self._spline_mask])
        if problem.duration is not None:
            rows.append(np.arange(evaluator.count))
            columns.append(np.full(evaluator.count, problem.variables - 1))
        self.row: Long = np.concatenate(rows).astype(np.int64)
        self.column: Long = np.concatenate(columns).astype(np.int64)

    def values(self, x: Array) -> Array:
        """At the place of the extremum: how it moves does not matter, as the polynomial is level there."""
        evaluator = self.evaluator
        at, sides = evaluator.at(x), evaluator.sides
        places, _ = extremes(evaluator.polynomials(at))
        powers = places[sides.entry, sides.side][:, None] ** np.arange(DEGREE + 1)
        weight = 1.0 / (evaluator.scale * at.sigma**evaluator.rate)
        nodes_part, by_sigma = self._of_nodes(at, powers[self._nodes] * weight[self._nodes, None])
        matrices = evaluator.spline_matrices[sides.entry[self._splines] - self._split]
        own = np.einsum("kd,kdw->kw", powers[self._splines] * weight[self._splines, None], matrices)
        parts = [nodes_part[self._mask], own[self._spline_mask]]
        if evaluator.problem.duration is not None:
            slope = -evaluator.rate / at.sigma * evaluator.rows(x)[:-1]
            slope[self._nodes] += by_sigma
            parts.append(np.append(slope, 1.0))
        return np.concatenate(parts)

    def _of_nodes(self, at: Point, powers: Array) -> tuple[Array, Array]:
        """(k, W, nv), and by sigma (k,)."""
        evaluator, problem = self.evaluator, self.evaluator.problem
        entry = evaluator.sides.entry[self._nodes]
        piece, function = problem.rows.piece[entry], problem.rows.function[entry]
        weights = np.einsum("kd,kdn->kn", powers, evaluator.node_matrices[entry])
        out = np.zeros((len(entry), problem.width, problem.nv))
        by_sigma = np.zeros(len(entry))
        kinds = function < problem.channels
        for order, table in enumerate(self._slopes(at)):
            own = np.flatnonzero(kinds) if order == 3 else np.flatnonzero(~kinds)
            shift, d = (0, 0) if order == 3 else (problem.channels, order)
            basis = problem.pieces.basis[piece[own], d] / at.sigma**d
            slopes = table[piece[own], :, function[own] - shift]
            out[own] += np.einsum("kn,knw,knj->kwj", weights[own], basis, slopes, optimize=True)
            if d:
                moves = at.at_nodes[d][piece[own]]
                by_sigma[own] -= d / at.sigma * np.einsum("kn,knj,knj->k", weights[own], slopes, moves)
        return out, by_sigma

    def _slopes(self, at: Point) -> list[Array]:
        """Of torques by q, qd, qdd (if there are any), then of channels by q."""
        empty = np.zeros((*at.at_nodes.q.shape[:2], 0, self.evaluator.problem.nv))
        torques = (
            [at.torque.dtau_dq, at.torque.dtau_dqd, at.torque.mass]
            if self.evaluator.problem.torque
            else [empty] * 3
        )
        return [*torques, at.channels[1]]
