"""Control problems by Pinocchio and dense linear algebra: nothing of robomorph's is used but the robot's
names.

All accelerations of the horizon are one vector; positions and velocities are linear in it. Costs and their
Jacobians are Pinocchio's, Gauss-Newton steps are dense least squares, limits are SciPy's affair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio
from scipy.optimize import minimize, nnls

from tests.oracle.reference import Reference

Array = npt.NDArray[np.float64]


class Rows(NamedTuple):
    """Values (m,) at one node and their derivatives by q, v and a (m, nv)."""

    values: Array
    dq: Array
    dv: Array
    da: Array


Make = Callable[[int, Array, Array, Array], Rows]  # node, q, v, a


@dataclass(frozen=True)
class Term:
    """Half of w r^2, times dt at all nodes but the last, with other weights at the last. None: none there."""

    rows: Make
    running: Any = None
    terminal: Any = None


@dataclass(frozen=True)
class Limit:
    """lower <= rows <= upper at the nodes first .. last."""

    rows: Make
    lower: Any
    upper: Any
    states: bool = True  # at nodes 1 .. N; of torques and accelerations at 0 .. N-1


@dataclass
class Oracle:
    """A problem of so many steps from a state."""

    reference: Reference
    horizon: int
    dt: float
    terms: list[Term] = field(default_factory=list)
    limits: list[Limit] = field(default_factory=list)
    jerk: Any = 0.0
    last_a: Any = 0.0

    @property
    def nv(self) -> int:
        return self.reference.robot.nv

    # --- what terms are made of ----------------------------------------------------------------------

    def posture(self, goal: Any) -> Make:
        return lambda k, q, v, a: self._rows(q - _at(goal, k), dq=np.eye(self.nv))

    def velocity(self, goal: Any = 0.0) -> Make:
        return lambda k, q, v, a: self._rows(v - _at(goal, k), dv=np.eye(self.nv))

    def acceleration(self, goal: Any = 0.0) -> Make:
        return lambda k, q, v, a: self._rows(a - _at(goal, k), da=np.eye(self.nv))

    def effort(self, goal: Any = 0.0) -> Make:
        def rows(k: int, q: Array, v: Array, a: Array) -> Rows:
            tau = self.reference.inverse_dynamics(q, v, a)
            slope = self.reference.inverse_dynamics_gradient(q, v, a)
            return Rows(tau - _at(goal, k), slope.dq, slope.dqd, self.reference.mass_matrix(q))

        return rows

    def position(self, frame: str, goal: Any) -> Make:
        def rows(k: int, q: Array, v: Array, a: Array) -> Rows:
            point = self.reference.forward_kinematics(q, frame)[:3, 3]
            return self._rows(point - _at(goal, k), dq=self.reference.jacobian(q, frame)[:3])

        return rows

    def orientation(self, frame: str, goal: Array) -> Make:
        """The logarithm of goal^T R, by Pinocchio's log3 and Jlog3."""

        def rows(k: int, q: Array, v: Array, a: Array) -> Rows:
            turn = self.reference.forward_kinematics(q, frame)[:3, :3]
            own = turn.T @ self.reference.jacobian(q, frame)[3:]  # the frame's own axes
            error = goal.T @ turn
            return self._rows(pinocchio.log3(error), dq=pinocchio.Jlog3(error) @ own)

        return rows

    def center_of_mass(self, goal: Any) -> Make:
        def rows(k: int, q: Array, v: Array, a: Array) -> Rows:
            found = self.reference.center_of_mass(q) - goal
            return self._rows(found, dq=self.reference.center_of_mass_jacobian(q))

        return rows

    def by_differences(self, values: Callable[[Array, Array], Array], goal: Any = 0.0) -> Make:
        """Any function of q and v."""

        def rows(k: int, q: Array, v: Array, a: Array) -> Rows:
            step = 1e-6
            dq, dv = (
                np.stack(
                    [
                        (values(*_moved(q, v, which, s)) - values(*_moved(q, v, which, -s))) / (2 * step)
                        for s in step * np.eye(self.nv)
                    ],
                    axis=-1,
                )
                for which in (0, 1)
            )
            return self._rows(values(q, v) - goal, dq=dq, dv=dv)

        return rows

    def _rows(self, values: Array, dq: Any = 0.0, dv: Any = 0.0, da: Any = 0.0) -> Rows:
        shape = (len(values), self.nv)
        return Rows(values, *(np.broadcast_to(x, shape) for x in (dq, dv, da)))

    # --- the motion ----------------------------------------------------------------------------------

    @property
    def sums(self) -> tuple[Array, Array]:
        """(N+1, N) each: how velocities and positions follow from accelerations."""
        n = self.horizon
        velocity = self.dt * np.tril(np.ones((n + 1, n)), -1)
        position = self.dt * np.tril(np.ones((n + 1, n + 1)), 0) @ velocity
        return velocity, position

    def motion(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Positions and velocities (N+1, nv) of accelerations (N, nv), step by step."""
        positions, velocities = [np.array(q)], [np.array(v)]
        for step in a:
            velocities.append(velocities[-1] + self.dt * step)
            positions.append(positions[-1] + self.dt * velocities[-1])
        return np.array(positions), np.array(velocities)

    def torques(self, q: Array, v: Array, a: Array) -> Array:
        """(N, nv) of a plan."""
        return np.array([self.reference.inverse_dynamics(*x) for x in zip(q[:-1], v[:-1], a, strict=True)])

    # --- costs ---------------------------------------------------------------------------------------

    def cost(self, q: Array, v: Array, a: Array) -> float:
        """Of the motion that accelerations (N, nv) make from a state, from scratch."""
        residual, _ = self._system(q, v, a, jacobian=False)
        return float(0.5 * residual @ residual)

    def _system(self, q: Array, v: Array, a: Array, *, jacobian: bool = True) -> tuple[Array, Array]:
        """Weighted residuals (m,) and their derivatives by all accelerations (m, N nv)."""
        qs, vs = self.motion(q, v, a)
        values: list[Array] = []
        slopes: list[Array] = []
        for term in self.terms:
            for k in range(self.horizon + 1):
                last = k == self.horizon
                weight = term.terminal if last else term.running
                if weight is None:
                    continue
                found = term.rows(k, qs[k], vs[k], a[min(k, self.horizon - 1)])
                root = np.sqrt(np.broadcast_to(weight, found.values.shape) * (1.0 if last else self.dt))
                values.append(root * found.values)
                if jacobian:
                    slopes.append(root[:, None] * self._by_accelerations(found, k))
        for k in range(self.horizon if np.any(self.jerk) else 0):
            before = self.last_a if k == 0 else a[k - 1]
            root = np.sqrt(np.broadcast_to(self.jerk, (self.nv,)) * self.dt) / self.dt
            values.append(root * (a[k] - before))
            change = np.zeros((self.nv, self.horizon, self.nv))
            change[:, k] = np.eye(self.nv)
            if k > 0:
                change[:, k - 1] = -np.eye(self.nv)
            slopes.append(root[:, None] * change.reshape(self.nv, -1))
        return np.concatenate(values), np.concatenate(slopes) if jacobian else np.zeros((0, 0))

    def _by_accelerations(self, rows: Rows, k: int) -> Array:
        velocity, position = self.sums
        out = np.einsum("ij,n->inj", rows.dq, position[k]) + np.einsum("ij,n->inj", rows.dv, velocity[k])
        if k < self.horizon:
            out[:, k] += rows.da
        return np.asarray(out).reshape(len(rows.values), -1)

    # --- optima --------------------------------------------------------------------------------------

    def solve(self, q: Array, v: Array, a: Array, iterations: int = 100) -> Array:
        """Gauss-Newton with halved steps, from accelerations (N, nv), until nothing changes."""
        a = np.array(a, dtype=np.float64)

        for _ in range(iterations):
            residual, slope = self._system(q, v, a)
            step = np.linalg.solve(slope.T @ slope, -slope.T @ residual).reshape(a.shape)
            promised = -(slope.T @ residual) @ step.ravel()
            cost, length = float(0.5 * residual @ residual), 1.0
            if promised < 1e-14 * cost:
                break
            while length > 1e-6 and not self.cost(q, v, a + length * step) < cost * (1 + 1e-14):
                length *= 0.5
            a += length * step
        return a

    def gradient(self, q: Array, v: Array, a: Array) -> Array:
        """Of the cost by accelerations (N, nv)."""
        residual, slope = self._system(q, v, a)
        return np.asarray(slope.T @ residual).reshape(a.shape)

    def violation(self, q: Array, v: Array, a: Array) -> float:
        """The largest of all limits, in their own units; negative if all are kept."""
        return float(-self.slacks(q, v, a)[0].min())

    def _nodes(self, limit: Limit) -> range:
        return range(1, self.horizon + 1) if limit.states else range(self.horizon)

    def slacks(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Of all finite limits, what is left to each (m,), and its derivative by accelerations (m, N nv)."""
        qs, vs = self.motion(q, v, a)
        values, slopes = [np.zeros(0)], [np.zeros((0, a.size))]
        for limit in self.limits:
            for k in self._nodes(limit):
                found = limit.rows(k, qs[k], vs[k], a[min(k, self.horizon - 1)])
                slope = self._by_accelerations(found, k)
                for bound, sign in ((limit.lower, 1.0), (limit.upper, -1.0)):
                    bounds = np.broadcast_to(bound, found.values.shape)
                    finite = np.isfinite(bounds)
                    values.append(sign * (found.values - bounds)[finite])
                    slopes.append(sign * slope[finite])
        return np.concatenate(values), np.concatenate(slopes)

    def left_over(self, q: Array, v: Array, a: Array, near: float) -> tuple[float, int]:
        """What no multipliers of limits within `near` can balance of the cost's gradient, as a share of it,
        and how many limits push back: nothing is left at an optimum."""
        gradient = self.gradient(q, v, a).ravel()
        values, slopes = self.slacks(q, v, a)
        multipliers, rest = nnls(slopes[values < near].T, gradient)
        return float(rest / np.linalg.norm(gradient)), int(
            np.sum(multipliers > 1e-6 * multipliers.max(initial=0.0))
        )

    def solve_limited(self, q: Array, v: Array, a: Array) -> Any:
        """SciPy's SLSQP from accelerations (N, nv): its result, x flat."""
        return minimize(
            lambda x: self.cost(q, v, x.reshape(a.shape)),
            a.ravel(),
            jac=lambda x: self.gradient(q, v, x.reshape(a.shape)).ravel(),
            constraints={
                "type": "ineq",
                "fun": lambda x: self.slacks(q, v, x.reshape(a.shape))[0],
                "jac": lambda x: self.slacks(q, v, x.reshape(a.shape))[1],
            },
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 1000},
        )


def _at(goal: Any, k: int) -> Any:
    """A goal for all nodes, or that of node k of (N+1, n)."""
    return goal[k] if np.ndim(goal) == 2 else goal


def _moved(q: Array, v: Array, which: int, step: Array) -> tuple[Array, Array]:
    return (q + step, v) if which == 0 else (q, v + step)
