"""The Jacobian of a problem's rows and the gradient of its cost, sparse: entries that no joint can change are
not among them."""

from __future__ import annotations

import numpy as np

from robomorph.planning.evaluate import Evaluator, Group, Long, Point
from robomorph.planning.problem import Array, Bools


class Jacobian:
    """`row` and `column` (nonzeros,), and at any point the values (nonzeros,)."""

    def __init__(self, evaluator: Evaluator, *, tree: bool = True) -> None:
        """tree: leave out what the robot's structure makes zero."""
        self.evaluator, problem = evaluator, evaluator.problem
        self._pattern = problem.pattern if tree else np.ones_like(problem.pattern)
        self._masks: list[Bools] = []
        self._sigma: list[bool] = []
        rows: list[Long] = []
        columns: list[Long] = []
        for group in evaluator.groups:
            self._add_group(group, rows, columns)
        for own in evaluator.spline_groups:
            block = problem.block_of[own.points]  # (k, W)
            mask = np.broadcast_to(
                (block >= 0)[:, None] & (own.matrix != 0.0), (*own.rows.shape, problem.width)
            )
            self._masks.append(mask)
            place = block * problem.nv + own.joint[:, None]
            self._take(rows, columns, own.rows[..., None], place[:, None, :], mask)
            self._border(rows, columns, own.rows, own.rate > 0)
        if problem.duration is not None:
            rows.append(np.array([evaluator.count - 1]))
            columns.append(np.array([problem.variables - 1]))
        self.row = np.concatenate(rows) if rows else np.zeros(0, np.int64)
        self.column = np.concatenate(columns) if columns else np.zeros(0, np.int64)

    def _add_group(self, group: Group, rows: list[Long], columns: list[Long]) -> None:
        problem = self.evaluator.problem
        points = problem.pieces.first[group.piece][:, None] + np.arange(problem.width)
        block = problem.block_of[points]  # (k, W)
        function = group.function + (problem.channels if group.torque else 0)
        mask = (block >= 0)[:, None, :, None] & self._pattern[function][:, None, None, :]
        mask = np.broadcast_to(mask, (*group.rows.shape, problem.width, problem.nv)).copy()
        for end in (0, -1):  # a row that is one node's value: what the basis leaves out there
            live = problem.pieces.basis[group.piece][:, : 3 if group.torque else 1, end] != 0.0
            mask[:, _picks(group.matrix, end)] &= live.any(axis=1)[:, None, :, None]
        self._masks.append(mask)
        place = block[:, None, :, None] * problem.nv + np.arange(problem.nv)
        self._take(rows, columns, group.rows[..., None, None], place, mask)
        self._border(rows, columns, group.rows, group.rate > 0 or group.torque)

    def _take(self, rows: list[Long], columns: list[Long], row: Long, column: Long, mask: Bools) -> None:
        rows.append(np.broadcast_to(row, mask.shape)[mask])
        columns.append(np.broadcast_to(column, mask.shape)[mask].astype(np.int64))

    def _border(self, rows: list[Long], columns: list[Long], row: Long, moves: bool) -> None:
        moves = moves and self.evaluator.problem.duration is not None
        self._sigma.append(moves)
        if moves:
            rows.append(row.reshape(-1))
            columns.append(np.full(row.size, self.evaluator.problem.variables - 1))

    def values(self, x: Array) -> Array:
        evaluator, out = self.evaluator, []
        at, problem = evaluator.at(x), evaluator.problem
        current = evaluator.rows(x) if problem.duration is not None else np.zeros(0)
        masks, borders = iter(self._masks), iter(self._sigma)
        for group in evaluator.groups:
            full = self._torque(at, group) if group.torque else self._channel(at, group)
            full /= (group.scale * at.sigma**group.rate)[:, None, None, None]
            out.append(full[next(masks)])
            if next(borders):
                out.append(self._by_sigma(at, group, current).reshape(-1))
        for own in evaluator.spline_groups:
            mask = next(masks)
            scaled = own.matrix / (own.scale * at.sigma**own.rate)[:, None, None]
            out.append(np.broadcast_to(scaled, mask.shape)[mask])
            if next(borders):
                out.append(-own.rate / at.sigma * current[own.rows].reshape(-1))
        if problem.duration is not None:
            out.append(np.ones(1))
        return np.concatenate(out) if out else np.zeros(0)

    def _channel(self, at: Point, group: Group) -> Array:
        basis = self.evaluator.problem.pieces.basis[group.piece, 0]
        gradients = at.channels[1][group.piece, :, group.function]  # (k, N, nv)
        weighted = group.matrix[None, :, :, None] * basis[:, None]  # (k, m, N, W)
        return np.asarray(np.einsum("kmnw,knj->kmwj", weighted, gradients, optimize=True))

    def _torque(self, at: Point, group: Group) -> Array:
        total: Array | None = None
        for order, table in enumerate((at.torque.dtau_dq, at.torque.dtau_dqd, at.torque.mass)):
            basis = self.evaluator.problem.pieces.basis[group.piece, order] / at.sigma**order
            weighted = group.matrix[None, :, :, None] * basis[:, None]
            part = np.einsum("kmnw,knj->kmwj", weighted, table[group.piece, :, group.function], optimize=True)
            total = part if total is None else total + part
        assert total is not None
        return total

    def _by_sigma(self, at: Point, group: Group, current: Array) -> Array:
        """(k, m): rows by sigma."""
        out = -group.rate / at.sigma * current[group.rows]
        if group.torque:
            slope = torque_by_sigma(at)[group.piece, :, group.function]  # (k, N)
            out = out + slope @ group.matrix.T / (group.scale[:, None] * at.sigma**group.rate)
        return np.asarray(out)


def torque_by_sigma(at: Point) -> Array:
    """(E, N, nv): how torques change as time is stretched."""
    by_speed = np.einsum("...ij,...j->...i", at.torque.dtau_dqd, at.at_nodes.qd)
    by_acceleration = np.einsum("...ij,...j->...i", at.torque.mass, at.at_nodes.qdd)
    return np.asarray(-(by_speed + 2.0 * by_acceleration) / at.sigma)


def _picks(matrix: Array, node: int) -> Bools:
    """(m,) which rows of a matrix are the value at this node and nothing else."""
    others = np.delete(matrix, node, axis=1)
    return np.asarray((others == 0.0).all(axis=1))


def cost_gradient(evaluator: Evaluator, x: Array) -> Array:
    """(n,)."""
    at, problem, cost = evaluator.at(x), evaluator.problem, evaluator.problem.cost
    control = np.zeros_like(problem.control)
    by_sigma = cost.time * problem.seconds
    if cost.jerk:
        control += problem.jerk_slope(at.control) / at.sigma**5
        by_sigma -= 5.0 / at.sigma**6 * problem.jerk_cost(at.control)
    if cost.energy:
        weight = cost.energy * at.sigma * problem.pieces.quadrature[..., None] / cost.torque_scale**2
        pull = 2.0 * weight * at.torque.tau  # (E, N, nv)
        scatter(evaluator, control, node_pull(at, problem.pieces.basis, pull))
        squares = float((weight * at.torque.tau**2).sum())
        by_sigma += squares / at.sigma + float((pull * torque_by_sigma(at)).sum())
    return collect(evaluator, control, by_sigma)


def node_pull(at: Point, basis: Array, pull: Array) -> Array:
    """(E, W, nv): what weights `pull` (E, N, nv) on torques make of the control points of each piece."""
    tables = (at.torque.dtau_dq, at.torque.dtau_dqd, at.torque.mass)
    out: Array = np.zeros((len(basis), basis.shape[-1], pull.shape[-1]))
    for d, table in enumerate(tables):
        out += np.einsum("eni,enij,enw->ewj", pull, table, basis[:, d] / at.sigma**d, optimize=True)
    return out


def scatter(evaluator: Evaluator, control: Array, window: Array) -> None:
    """Add what belongs to the control points of each piece (E, W, nv) to those of the motion (P, nv)."""
    points = evaluator.problem.pieces.first[:, None] + np.arange(evaluator.problem.width)
    np.add.at(control, points, window)


def collect(evaluator: Evaluator, control: Array, by_sigma: float) -> Array:
    """(n,): derivatives by control points (P, nv) as those by variables."""
    problem = evaluator.problem
    out = np.zeros((problem.blocks, problem.nv))
    free = problem.block_of >= 0
    np.add.at(out, problem.block_of[free], control[free])
    return np.append(out, by_sigma) if problem.duration is not None else out.reshape(-1)
