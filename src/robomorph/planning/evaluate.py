"""A motion problem evaluated in NumPy: rows, costs and margins, and what they are computed from.

This is the definition that native evaluators are held to, and what IPOPT is fed with. Jacobian and Hessian
are in jacobian.py and hessian.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from robomorph.planning.problem import Array, Ints, Problem

Long = npt.NDArray[np.int64]


class Torques(Protocol):
    @property
    def tau(self) -> Array: ...
    @property
    def dtau_dq(self) -> Array: ...
    @property
    def dtau_dqd(self) -> Array: ...
    @property
    def mass(self) -> Array: ...


class AnyFunctions(Protocol):
    """What an evaluator asks of a robot; see functions.py for shapes."""

    def channels(self, q: Array, references: Array) -> tuple[Array, Array]: ...
    def channels_hessian(self, q: Array, references: Array, multipliers: Array) -> Array: ...
    def torque(self, q: Array, qd: Array, qdd: Array) -> Torques: ...
    def torque_hessian(self, q: Array, qd: Array, qdd: Array, multipliers: Array) -> Array: ...


class Motion(NamedTuple):
    """q, qd, qdd at points (E, points, nv) in real time."""

    q: Array
    qd: Array
    qdd: Array


@dataclass(frozen=True)
class Group:
    """Entries of `Rows` with one matrix and one rate, of channels or of torques, evaluated together."""

    entries: Ints  # (k,)
    matrix: Array  # (m, N)
    rate: int
    torque: bool
    piece: Ints  # (k,)
    function: Ints  # (k,) counted among channels or among torques
    rows: Long  # (k, m)
    scale: Array  # (k,)


@dataclass(frozen=True)
class SplineGroup:
    """Entries of `SplineRows` with one matrix and one rate."""

    matrix: Array  # (m, W)
    rate: int
    points: Long  # (k, W) control points
    joint: Ints  # (k,)
    rows: Long  # (k, m)
    scale: Array  # (k,)


class Point:
    """Everything known at one x: computed when asked for."""

    def __init__(self, evaluator: Evaluator, x: Array) -> None:
        self._of, self.x = evaluator, x
        problem = evaluator.problem
        self.sigma = 1.0 if problem.duration is None else float(x[-1])
        self.control = evaluator.control(x)
        points = np.arange(problem.width)
        self.window = self.control[problem.pieces.first[:, None] + points]  # (E, W, nv)

    def motion(self, basis: Array) -> Motion:
        """At points with this basis (E, 3, points, W)."""
        q, qd, qdd = (np.einsum("enw,ewj->enj", basis[:, d], self.window) / self.sigma**d for d in range(3))
        return Motion(q, qd, qdd)

    @cached_property
    def at_nodes(self) -> Motion:
        return self.motion(self._of.problem.pieces.basis)

    @cached_property
    def channels(self) -> tuple[Array, Array]:
        """Values (E, N, C), gradients (E, N, C, nv)."""
        return self._of.functions.channels(self.at_nodes.q, self._of.problem.references)

    @cached_property
    def torque(self) -> Torques:
        return self._of.functions.torque(*self.at_nodes)


class Evaluator:
    """Values of a problem. Results of the last point are kept."""

    def __init__(self, problem: Problem, functions: AnyFunctions) -> None:
        self.problem, self.functions = problem, functions
        self._last: Point | None = None
        sizes = [len(problem.matrices[k]) for k in problem.rows.matrix]
        spline_sizes = [len(problem.spline_matrices[k]) for k in problem.spline_rows.matrix]
        offsets = np.concatenate([[0], np.cumsum(np.array(sizes + spline_sizes, np.int64))])
        self.first_row: Long = offsets.astype(np.int64)  # of every entry, those of spline rows behind
        self.entry_of_row = np.repeat(np.arange(len(sizes) + len(spline_sizes)), sizes + spline_sizes)
        self.count = int(offsets[-1]) + (problem.duration is not None)
        self.needs_torque = problem.torque
        self.groups, self.spline_groups = self._groups(), self._spline_groups()

    # --- structure -----------------------------------------------------------------------------------

    def _groups(self) -> list[Group]:
        rows, channels = self.problem.rows, self.problem.channels
        torque = rows.function >= channels
        keys = (
            np.stack([rows.matrix, rows.rate, torque], axis=-1) if len(rows.piece) else np.zeros((0, 3), int)
        )
        out = []
        for key in np.unique(keys, axis=0):
            entries = np.flatnonzero((keys == key).all(axis=-1)).astype(np.int32)
            matrix = self.problem.matrices[int(key[0])]
            out.append(
                Group(
                    entries,
                    matrix,
                    int(key[1]),
                    bool(key[2]),
                    rows.piece[entries],
                    rows.function[entries] - (channels if key[2] else 0),
                    self.first_row[entries][:, None] + np.arange(len(matrix)),
                    rows.scale[entries],
                )
            )
        return out

    def _spline_groups(self) -> list[SplineGroup]:
        rows, behind = self.problem.spline_rows, len(self.problem.rows.piece)
        keys = np.stack([rows.matrix, rows.rate], axis=-1) if len(rows.first) else np.zeros((0, 2), int)
        out = []
        for key in np.unique(keys, axis=0):
            entries = np.flatnonzero((keys == key).all(axis=-1))
            matrix = self.problem.spline_matrices[int(key[0])]
            out.append(
                SplineGroup(
                    matrix,
                    int(key[1]),
                    rows.first[entries][:, None] + np.arange(self.problem.width),
                    rows.joint[entries],
                    self.first_row[behind + entries][:, None] + np.arange(len(matrix)),
                    rows.scale[entries],
                )
            )
        return out

    # --- points --------------------------------------------------------------------------------------

    def control(self, x: Array) -> Array:
        """(P, nv): the fixed control points, and those of the variables."""
        block = self.problem.block_of
        out: Array = self.problem.control.copy()
        free = block >= 0
        out[free] = x[: self.problem.blocks * self.problem.nv].reshape(-1, self.problem.nv)[block[free]]
        return out

    def variables(self, control: Array, sigma: float = 1.0) -> Array:
        """x (n,) of control points (P, nv)."""
        out = np.zeros((self.problem.blocks, self.problem.nv))
        free = self.problem.block_of >= 0
        out[self.problem.block_of[free]] = control[free]
        return np.append(out, sigma) if self.problem.duration is not None else out.reshape(-1)

    def at(self, x: Array) -> Point:
        if self._last is None or not np.array_equal(self._last.x, x):
            self._last = Point(self, np.array(x, dtype=np.float64))
        return self._last

    # --- values --------------------------------------------------------------------------------------

    def bounds(self, margins: Array | None = None) -> tuple[Array, Array]:
        """Lower and upper bounds (rows,), scaled, drawn in by margins (R,) of the entries of `Rows`."""
        problem, behind = self.problem, len(self.problem.rows.piece)
        margin = np.zeros(behind) if margins is None else margins / problem.rows.scale
        sides = []
        for side, first, second in (
            (1.0, problem.rows.lower, problem.spline_rows.lower),
            (-1.0, problem.rows.upper, problem.spline_rows.upper),
        ):
            entries = np.concatenate(
                [first / problem.rows.scale + side * margin, second / problem.spline_rows.scale]
            )
            own = entries[self.entry_of_row]
            sigma = problem.duration
            sides.append(own if sigma is None else np.append(own, sigma[0] if side > 0 else sigma[1]))
        return sides[0], sides[1]

    def rows(self, x: Array) -> Array:
        """(rows,) scaled."""
        at, out = self.at(x), np.zeros(self.count)
        for group in self.groups:
            values = self._values(at, group.torque)[group.piece, :, group.function]  # (k, N)
            out[group.rows] = values @ group.matrix.T / (group.scale[:, None] * at.sigma**group.rate)
        for own in self.spline_groups:
            points = at.control[own.points, own.joint[:, None]]
            out[own.rows] = points @ own.matrix.T / (own.scale[:, None] * at.sigma**own.rate)
        if self.problem.duration is not None:
            out[-1] = at.sigma
        return out

    def _values(self, at: Point, torque: bool) -> Array:
        return at.torque.tau if torque else at.channels[0]

    def cost(self, x: Array) -> float:
        at, cost = self.at(x), self.problem.cost
        total = cost.time * at.sigma * self.problem.seconds
        if cost.jerk:
            total += self.problem.jerk_cost(at.control) / at.sigma**5
        if cost.energy:
            squares = ((at.torque.tau / cost.torque_scale) ** 2).sum(axis=-1)
            total += cost.energy * at.sigma * float((squares * self.problem.pieces.quadrature).sum())
        return float(total)

    def margins(self, x: Array) -> Array:
        """(R,) for every entry of `Rows`, in its own unit: what is to be kept from its bounds."""
        at, problem = self.at(x), self.problem
        out = np.zeros(len(problem.rows.piece))
        if not len(out):
            return out
        between = at.motion(problem.pieces.between)
        tables = [at.channels[0], self.functions.channels(between.q, problem.references)[0]]
        if any(group.torque for group in self.groups):
            taus = [at.torque.tau, self.functions.torque(*between).tau]
            tables = [np.concatenate([a, b], axis=-1) for a, b in zip(tables, taus, strict=True)]
        for key in np.unique(problem.rows.matrix):
            entries = np.flatnonzero(problem.rows.matrix == key)
            coarse, fine = problem.coarse[key], problem.fine[key]
            where = problem.rows.piece[entries], slice(None), problem.rows.function[entries]
            low, more = tables[0][where], tables[1][where]  # (k, N), (k, N - 1)
            difference = np.concatenate([low, more], axis=-1) @ fine.T
            difference[:, : len(coarse)] -= low @ coarse.T
            out[entries] = 2.0 * np.abs(difference).sum(axis=-1)
        return np.asarray(out / at.sigma**problem.rows.rate)
