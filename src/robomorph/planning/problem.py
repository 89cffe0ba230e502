"""A motion problem as numbers: what every evaluator and solver works on. It knows no robot.

The motion is a spline of `nv` joints with control points p[c] (nv,). Time is cut into *pieces*, each within
one knot interval, so that `width` control points (first[i] .. first[i] + width - 1) decide all that happens
in it. In each piece functions of the motion are evaluated at N Chebyshev-Lobatto nodes, in the order of time:

- *channels* f(q): kinematic values, from a kernel (q, references) -> values (C,), gradients (C, nv);
- *torques* f(q, qd, qdd): from a kernel -> tau (nv,), dtau_dq, dtau_dqd, mass (nv, nv).

A `Rows` entry maps the values of one function at the nodes of one piece to rows by a constant matrix (to the
Bernstein coefficients of the interpolant, of its time derivative, or to the values themselves for a grid). A
`SplineRows` entry maps the control points of one joint to rows (exact Bernstein coefficients of q, qd ...).
Rows that no variable can change are not in the problem: whoever makes it judges them.

With a free duration the time of everything is stretched by sigma: basis and matrices here hold for sigma = 1,
a value that is the d-th time derivative is divided by sigma ** d.

Variables: x[block_of[c] * nv + j] = p[c][j] for block_of[c] >= 0, other control points are fixed; several c
may share a block (periodic motions). If `duration` is given, sigma is the last variable; its bounds are the
last row, in a problem without it there is no such row.

Margins: an entry's rows are held inside its bounds by 2 * sum |fine f(nodes, between) - coarse f(nodes)| /
sigma^rate, coarse filled up with zeros below; an entry whose `coarse` has no rows has no margin.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Pieces:
    """Where functions are evaluated. E pieces, N nodes, W = width."""

    first: Ints  # (E,) first control point
    start: Array  # (E,) s, at sigma = 1
    seconds: Array  # (E,) length at sigma = 1
    basis: Array  # (E, 3, N, W): d-th time derivative (d = 0, 1, 2) of the basis at the nodes
    between: Array  # (E, 3, N - 1, W): the same at the further nodes of twice the degree, for margins
    quadrature: Array  # (E, N): weights of the nodes in an integral over time (s), Clenshaw-Curtis

    @property
    def count(self) -> int:
        return len(self.first)


@dataclass(frozen=True)
class Rows:
    """R entries, each m rows of one function in one piece: lower <= M[matrix] f(nodes) / sigma^rate <= upper.

    `function` counts channels first (0 .. C - 1), then torques (C .. C + nv - 1). All rows of the problem are
    numbered entry by entry, first those of `rows`, then those of `spline_rows`, then sigma's own.
    """

    piece: Ints  # (R,)
    function: Ints  # (R,)
    matrix: Ints  # (R,) index into Problem.matrices
    rate: Ints  # (R,) 0, 1, 2: which time derivative the matrix gives
    lower: Array  # (R,) may be -inf
    upper: Array  # (R,) may be inf
    scale: Array  # (R,) > 0: rows are divided by it
    source: Ints  # (R,) which constraint of the motion asked for it, for reasons and margins


@dataclass(frozen=True)
class SplineRows:
    """lower <= M[matrix] p[first .. first + W - 1][joint] / sigma^rate <= upper, exact."""

    first: Ints  # (S,) first control point
    joint: Ints  # (S,)
    matrix: Ints  # (S,) index into Problem.spline_matrices
    rate: Ints  # (S,)
    lower: Array  # (S,)
    upper: Array  # (S,)
    scale: Array  # (S,)
    source: Ints  # (S,)


@dataclass(frozen=True)
class Cost:
    """jerk: sum_j joint_weight[j] |R p_j|^2 / sigma^5; energy: integral of sum_j (tau_j / torque_scale_j)^2
    over all pieces by their quadrature (times sigma); time: sigma * seconds. Weights of zero switch a term
    off."""

    jerk: float = 0.0
    energy: float = 0.0
    time: float = 0.0
    smoothness: Array = field(default_factory=lambda: np.zeros((0, 0)))  # (any, P) R, rows within W
    joint_weight: Array = field(default_factory=lambda: np.zeros(0))  # (nv,)
    torque_scale: Array = field(default_factory=lambda: np.zeros(0))  # (nv,)


@dataclass(frozen=True)
class Problem:
    """All numbers of a motion problem."""

    nv: int
    width: int  # control points that decide a piece: degree + 1
    channels: int  # C
    references: Array  # what the channel kernel takes beside q
    torque: bool  # are torques among the functions?
    control: Array  # (P, nv) control points: the fixed ones as they are, the others an initial guess
    block_of: Ints  # (P,) variable block of each control point, -1: fixed
    seconds: float  # duration at sigma = 1
    duration: tuple[float, float] | None  # bounds of sigma, or None: fixed at 1
    pieces: Pieces
    matrices: tuple[Array, ...]  # each (m, N)
    coarse: tuple[Array, ...]  # for margins, each (m', N): Chebyshev coefficients of what the matrix is about
    fine: tuple[Array, ...]  # (m'', 2N - 1), m'' >= m': the same from the N nodes, then the N - 1 between
    rows: Rows
    spline_matrices: tuple[Array, ...]  # each (m, W)
    spline_rows: SplineRows
    cost: Cost
    pattern: Bools  # (C, nv), with torques (C + nv, nv): can this joint change this function at all?

    @property
    def blocks(self) -> int:
        return int(self.block_of.max(initial=-1)) + 1

    @property
    def variables(self) -> int:
        return self.blocks * self.nv + (self.duration is not None)

    def jerk_cost(self, control: Array) -> float:
        """Of control points (P, nv), at sigma = 1."""
        cost = self.cost
        return float(cost.jerk * ((cost.smoothness @ control) ** 2 * cost.joint_weight).sum())

    def jerk_slope(self, control: Array) -> Array:
        """(P, nv): its gradient."""
        cost = self.cost
        slope: Array = 2.0 * cost.jerk * cost.smoothness.T @ (cost.smoothness @ control) * cost.joint_weight
        return slope
