"""The exact Hessian of the Lagrangian: cost_factor * cost + multipliers . rows, lower triangle, sparse by
blocks of control points that share a piece."""

from __future__ import annotations

from typing import Any

import numpy as np

from robomorph.planning.evaluate import Evaluator, Point
from robomorph.planning.jacobian import collect, scatter
from robomorph.planning.problem import Array


class Hessian:
    """`row` and `column` (nonzeros,) with row >= column, and at any point the values (nonzeros,)."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator, problem = evaluator, evaluator.problem
        nv, width = problem.nv, problem.width
        pairs = sorted(
            {
                (max(a, b), min(a, b))
                for c in range(len(problem.block_of))
                for d in range(min(width, len(problem.block_of) - c))
                if (a := int(problem.block_of[c])) >= 0 and (b := int(problem.block_of[c + d])) >= 0
            }
        )
        self._index = {pair: k for k, pair in enumerate(pairs)}
        i, j = np.divmod(np.arange(nv * nv), nv)
        blocks = np.array(pairs).reshape(-1, 2)
        row = blocks[:, :1] * nv + i
        column = blocks[:, 1:] * nv + j
        self._mask = row >= column
        self.row, self.column = row[self._mask], column[self._mask]
        if problem.duration is not None:
            last = problem.variables - 1
            self.row = np.append(self.row, np.full(last + 1, last))
            self.column = np.append(self.column, np.arange(last + 1))
        self._targets = self._plan()

    def _plan(self) -> list[tuple[int, int, int, bool]]:
        """(control point, distance, block pair, transposed) for every pair of control points that vary."""
        block = self.evaluator.problem.block_of
        out = []
        for c in range(len(block)):
            for d in range(min(self.evaluator.problem.width, len(block) - c)):
                a, b = int(block[c]), int(block[c + d])
                if a >= 0 and b >= 0:
                    out.append((c, d, self._index[max(a, b), min(a, b)], b < a))
        return out

    def values(self, x: Array, multipliers: Array, cost_factor: float = 1.0) -> Array:
        problem, at = self.evaluator.problem, self.evaluator.at(x)
        # band[c, d]: control point c + d (rows) by control point c (columns)
        band = np.zeros((len(problem.block_of), problem.width, problem.nv, problem.nv))
        border = np.zeros((len(problem.block_of), problem.nv))
        corner = 0.0
        for part in (self._jerk, self._splines, self._channels, self._torques):
            corner += part(at, multipliers, cost_factor, band, border)
        flat = np.zeros((len(self._index), problem.nv, problem.nv))
        for c, d, k, transposed in self._targets:
            flat[k] += band[c, d].T if transposed else band[c, d]
            if d and self._same(c, d):  # a block with itself, at a distance: both triangles
                flat[k] += band[c, d].T
        values = flat.reshape(len(self._index), -1)[self._mask]
        if problem.duration is None:
            return np.asarray(values)
        return np.concatenate([values, collect(self.evaluator, border, corner)])

    def _same(self, c: int, d: int) -> bool:
        block = self.evaluator.problem.block_of
        return bool(block[c] == block[c + d])

    # --- parts: each adds to the band and the border, and returns its share of the corner ------------

    def _jerk(self, at: Point, multipliers: Array, factor: float, band: Array, border: Array) -> float:
        problem, cost = self.evaluator.problem, self.evaluator.problem.cost
        if not cost.jerk:
            return 0.0
        weight = 2.0 * factor * cost.jerk / at.sigma**5
        for d in range(band.shape[1]):
            count = len(band) - d
            line = (cost.smoothness[:, d:] * cost.smoothness[:, :count]).sum(axis=0)
            band[:count, d] += weight * line[:, None, None] * np.diag(cost.joint_weight)
        border -= 5.0 * factor / at.sigma**6 * problem.jerk_slope(at.control)
        return 30.0 * factor / at.sigma**7 * problem.jerk_cost(at.control)

    def _splines(self, at: Point, multipliers: Array, factor: float, band: Array, border: Array) -> float:
        corner = 0.0
        for own in self.evaluator.spline_groups:
            if own.rate and self.evaluator.problem.duration is not None:
                pull = multipliers[own.rows] @ own.matrix / own.scale[:, None]  # (k, W)
                slope = -own.rate / at.sigma ** (own.rate + 1) * pull
                np.add.at(border, (own.points, own.joint[:, None]), slope)
                value = float((pull * at.control[own.points, own.joint[:, None]]).sum())
                corner += own.rate * (own.rate + 1) / at.sigma ** (own.rate + 2) * value
        return corner

    def node_weights(self, at: Point, multipliers: Array, torque: bool) -> dict[int, Array]:
        """Per rate, the weight (E, N, C or nv) of every node's value in multipliers . rows at sigma = 1."""
        problem = self.evaluator.problem
        shape = (*problem.pieces.basis.shape[:1], problem.pieces.basis.shape[2])
        out: dict[int, Array] = {}
        for group in self.evaluator.groups:
            if group.torque == torque:
                size = problem.nv if torque else problem.channels
                table = out.setdefault(group.rate, np.zeros((*shape, size)))
                pull = multipliers[group.rows] @ group.matrix / group.scale[:, None]  # (k, N)
                where: Any = (group.piece, slice(None), group.function)
                np.add.at(table, where, pull)
        return out

    def _channels(self, at: Point, multipliers: Array, factor: float, band: Array, border: Array) -> float:
        weights = self.node_weights(at, multipliers, False)
        if not weights:
            return 0.0
        problem, sigma = self.evaluator.problem, at.sigma
        total = sum(table / sigma**rate for rate, table in weights.items())
        assert not isinstance(total, int)
        second = self.evaluator.functions.channels_hessian(at.at_nodes.q, problem.references, total)
        basis = problem.pieces.basis[:, 0]
        self._add(band, np.einsum("enw,env,enij->ewvij", basis, basis, second, optimize=True))
        corner = 0.0
        for rate, table in weights.items():
            slope = -rate / sigma ** (rate + 1) * np.einsum("enc,encj->enj", table, at.channels[1])
            scatter(self.evaluator, border, np.einsum("enw,enj->ewj", basis, slope))
            corner += rate * (rate + 1) / sigma ** (rate + 2) * float((table * at.channels[0]).sum())
        return corner

    def _torques(self, at: Point, multipliers: Array, factor: float, band: Array, border: Array) -> float:
        problem, cost, sigma = self.evaluator.problem, self.evaluator.problem.cost, at.sigma
        weights = self.node_weights(at, multipliers, True)
        if not weights and not cost.energy:
            return 0.0
        assert set(weights) <= {0}, "torques have no rates"
        tau, nv = at.torque.tau, problem.nv
        pull = weights.get(0, np.zeros_like(tau))
        slopes = np.concatenate(
            [at.torque.dtau_dq, at.torque.dtau_dqd, at.torque.mass], axis=-1
        )  # (E, N, nv, 3 nv)
        squares = np.zeros_like(tau)  # of the energy: its weight on tau^2
        if cost.energy:
            weight = factor * cost.energy * problem.pieces.quadrature[..., None] / cost.torque_scale**2
            squares = np.broadcast_to(weight, tau.shape)
            pull = pull + 2.0 * sigma * squares * tau
        second = self.evaluator.functions.torque_hessian(*at.at_nodes, pull)
        if cost.energy:
            second = second + np.einsum(
                "eni,enij,enik->enjk", 2.0 * sigma * squares, slopes, slopes, optimize=True
            )
        basis = [problem.pieces.basis[:, d] / sigma**d for d in range(3)]
        for a in range(3):
            for b in range(3):
                block = second[..., a * nv : (a + 1) * nv, b * nv : (b + 1) * nv]
                if np.any(block):
                    self._add(
                        band, np.einsum("enw,env,enij->ewvij", basis[a], basis[b], block, optimize=True)
                    )
        if problem.duration is None:
            return 0.0
        return self._torque_border(at, second, slopes, pull, squares, border)

    def _torque_border(
        self, at: Point, second: Array, slopes: Array, pull: Array, squares: Array, border: Array
    ) -> float:
        """Second derivatives with sigma: y = (q, qd, qdd) moves by `dy` as time is stretched."""
        problem, sigma = self.evaluator.problem, at.sigma
        still = np.zeros_like(at.at_nodes.q)
        dy = np.concatenate([still, -at.at_nodes.qd / sigma, -2.0 * at.at_nodes.qdd / sigma], axis=-1)
        ddy = np.concatenate([still, 2.0 * at.at_nodes.qd, 6.0 * at.at_nodes.qdd], axis=-1) / sigma**2
        slope = np.einsum("eni,enij->enj", pull, slopes)
        explicit = np.einsum("eni,enij->enj", 2.0 * squares * at.torque.tau, slopes)
        along = np.einsum("enij,enj->eni", second, dy) + explicit
        for d in range(3):
            own = slice(d * problem.nv, (d + 1) * problem.nv)
            mixed = along[..., own] - d / sigma * slope[..., own]
            basis = problem.pieces.basis[:, d] / sigma**d
            scatter(self.evaluator, border, np.einsum("enw,enj->ewj", basis, mixed))
        return float((along * dy).sum() + (ddy * slope).sum() + (explicit * dy).sum())

    def _add(self, band: Array, window: Array) -> None:
        """Add (E, W, W, nv, nv): second derivatives by the control points of each piece."""
        first = self.evaluator.problem.pieces.first
        width = band.shape[1]
        for w in range(width):
            for v in range(w + 1):
                where: Any = (first + v, w - v)
                np.add.at(band, where, window[:, w, v])
