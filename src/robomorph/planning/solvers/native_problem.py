"""A motion problem in native code: its numbers handed over once, then values and derivatives at any x."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from robomorph.planning.problem import Array, Problem
from robomorph.runtime import _native

LANES = 8  # states that one call of a kernel evaluates


class Kernel(NamedTuple):
    """Code for native drivers with LANES lanes: its address, and bytes of workspace."""

    address: int
    workspace: int


class NativeProblem:
    """Values and derivatives of `problem` by `kernels`, for one caller at a time.

    kernels: those of channels (channel_values, channels, channel_hessian) if there are any, and those of
    torques (torque_values, torques, torque_hessian) if the problem has torques. A Hessian may be missing:
    rows then count without second derivatives. Or one entry `device` in place of all: what DeviceNodes hands
    over. keep: whatever keeps the kernels' code alive. noise (R,): a part of the margins of every entry of
    `Rows`, scaled.
    Answers do not depend on `threads` (0: the default number).
    """

    def __init__(
        self,
        problem: Problem,
        kernels: Mapping[str, Any],
        keep: Any,
        threads: int = 0,
        noise: Array | None = None,
    ) -> None:
        pairs = {name: tuple(k) if isinstance(k, Kernel) else k for name, k in kernels.items()}
        self.problem = problem
        numbers = numbers_of(problem)
        numbers["rows_noise"] = np.zeros(0) if noise is None else noise
        self.capsule = _native.motion_problem(numbers, pairs, threads, keep)
        self.sizes: dict[str, int] = _native.motion_sizes(self.capsule)

    def initial(self) -> Array:
        """x (n,) of the problem's own control points."""
        return np.asarray(_native.motion_initial(self.capsule))

    def bounds(self) -> tuple[Array, Array, Array]:
        """Lower and upper bounds as they are drawn in now, and the margins (rows,), all scaled."""
        lower, upper, margins = _native.motion_bounds(self.capsule)
        return lower, upper, margins

    def refresh_margins(self, x: Array) -> bool:
        """Estimate margins anew at x; have they changed?"""
        return bool(_native.motion_refresh_margins(self.capsule, x))

    def values(self, x: Array) -> tuple[float, Array]:
        """Cost and rows; NaN among them where a function has no value."""
        finite, cost, rows = _native.motion_values(self.capsule, x)
        return (float(cost), rows) if finite else (float("nan"), rows)

    def linearise(self, x: Array) -> Array | None:
        """The cost's gradient (n,), None if a derivative is not finite. What follows is about this x."""
        finite, gradient = _native.motion_linearise(self.capsule, x)
        return gradient if finite else None

    def times(self, direction: Array) -> Array:
        """J direction (rows,)."""
        return np.asarray(_native.motion_times(self.capsule, direction))

    def transposed_times(self, multipliers: Array) -> Array:
        """J' multipliers (n,)."""
        return np.asarray(_native.motion_transposed_times(self.capsule, multipliers))

    def condensed(self, cost_scale: float, multipliers: Array, weights: Array, exact: bool = True) -> Array:
        """(n, n): cost_scale * (Hessian of the cost) + J' diag(weights) J, and if `exact` the Hessian of
        multipliers . rows; otherwise the energy counts with its Gauss-Newton part."""
        return np.asarray(_native.motion_condensed(self.capsule, cost_scale, multipliers, weights, exact))


def numbers_of(problem: Problem) -> dict[str, Any]:
    """The problem as native code reads it."""
    pieces, cost = problem.pieces, problem.cost
    shortest, longest = problem.duration or (1.0, 1.0)
    return {
        **{name: getattr(problem, name) for name in ("nv", "width", "channels", "torque", "references")},
        **{name: getattr(problem, name) for name in ("control", "block_of", "pattern", "seconds")},
        **{name: getattr(problem, name) for name in ("matrices", "coarse", "fine", "spline_matrices")},
        "points": len(problem.control),
        "free_duration": problem.duration is not None,
        "shortest": shortest,
        "longest": longest,
        "pieces_count": pieces.count,
        "pieces_nodes": pieces.basis.shape[2],
        **_part("pieces", pieces, ("first", "basis", "between", "quadrature")),
        **_part("rows", problem.rows, ("piece", "function", "matrix", "rate", "lower", "upper", "scale")),
        **_part(
            "spline_rows",
            problem.spline_rows,
            ("first", "joint", "matrix", "rate", "lower", "upper", "scale"),
        ),
        **_part("cost", cost, ("jerk", "energy", "time", "smoothness", "joint_weight", "torque_scale")),
    }


def _part(name: str, part: Any, fields: tuple[str, ...]) -> dict[str, Any]:
    return {f"{name}_{field}": getattr(part, field) for field in fields}
