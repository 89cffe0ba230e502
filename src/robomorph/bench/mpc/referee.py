"""Plans judged by Pinocchio: their cost, whether they obey the dynamics, and what limits they break.

None of our code takes part, and no code of a peer: what all sides returned is measured by the same lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError, TargetError

if TYPE_CHECKING:
    from robomorph.bench.mpc.problem import ControlProblem

Array = npt.NDArray[np.float64]
_ACTIVE = 1e-3  # of its range: a limit that is so near counts as active


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A plan as any solver returns it: q, v (N + 1, nv) and torques (N, nv), joints in our order."""

    q: Array
    v: Array
    tau: Array


@dataclass(frozen=True)
class Judgement:
    """What Pinocchio finds of a plan.

    - `cost`: the problem's, from the q, v and torques that it claims;
    - `driven`: the cost of what those torques really do, from the start by forward dynamics;
    - `gap`: the largest error of q+ = q + dt v+ (rad), of v+ = v + dt a with a by forward dynamics of those
      torques (rad/s), and of the start;
    - `torque_error`: largest difference of inverse dynamics from the torques that it claims, N m;
    - `violation`: the worst of all limits at the nodes, as a share of the limit's range (0: none);
    - `newtons`: the worst of the torque limits alone, in N m;
    - `active`: how many bounds are met to a thousandth of their range (torque, velocity, position).
    """

    cost: float
    driven: float
    gap: float
    torque_error: float
    violation: float
    newtons: float
    active: tuple[int, int, int]


class PinocchioArm:
    """Pinocchio's model of a robot on a fixed base, asked and answering in our order of joints."""

    def __init__(self, urdf: str, joints: Sequence[str]) -> None:
        try:
            import pinocchio
        except ImportError as error:
            raise TargetError(f"the referee needs Pinocchio: pip install pin ({error})") from error
        self._pin: Any = pinocchio
        self.model: Any = pinocchio.buildModelFromXML(urdf)
        self.data: Any = self.model.createData()
        indices = [int(self.model.getJointId(name)) for name in joints]
        if self.model.nv != len(joints) or any(i >= self.model.njoints for i in indices):
            raise ArgumentError(
                f"the referee expected the joints {list(self.model.names)[1:]}, found {joints}"
            )
        if any(self.model.joints[i].nq != 1 for i in indices):
            raise ArgumentError("the referee knows joints with one coordinate each, found others")
        self.order = np.array([self.model.joints[i].idx_v for i in indices])

    def _theirs(self, ours: Array) -> Array:
        out = np.empty(len(ours))
        out[self.order] = ours
        return out

    def torques(self, q: Array, v: Array, a: Array) -> Array:
        """(n, nv) by inverse dynamics of rows (n, nv)."""
        rows = zip(q, v, a, strict=True)
        found = [self._pin.rnea(self.model, self.data, *map(self._theirs, row))[self.order] for row in rows]
        return np.array(found)

    def accelerations(self, q: Array, v: Array, tau: Array) -> Array:
        """(n, nv) by forward dynamics of rows (n, nv)."""
        rows = zip(q, v, tau, strict=True)
        found = [self._pin.aba(self.model, self.data, *map(self._theirs, row))[self.order] for row in rows]
        return np.array(found)

    def gravity(self, q: Array) -> Array:
        """(nv,): what holds one posture (nv,)."""
        still = np.zeros((1, len(q)))
        return np.asarray(self.torques(q[None], still, still)[0])

    def pose(self, q: Array, frame: str) -> tuple[Array, Array]:
        """Place (3,) and turn (3, 3) of a frame at one posture (nv,)."""
        index = int(self.model.getFrameId(frame))
        if index >= self.model.nframes:
            raise ArgumentError(f"the referee knows frames of the robot's file, found {frame!r}")
        self._pin.framesForwardKinematics(self.model, self.data, self._theirs(q))
        found = self.data.oMf[index]
        return np.array(found.translation), np.array(found.rotation)

    def log3(self, turn: Array) -> Array:
        """(3,): the rotation vector of a rotation (3, 3)."""
        return np.array(self._pin.log3(turn))


class Referee:
    """Judges plans of one problem."""

    def __init__(self, problem: ControlProblem) -> None:
        self.problem = problem
        self.arm = problem.arm

    def judge(self, plan: Trajectory) -> Judgement:
        with np.errstate(all="ignore"):  # plans of early iterations may be anything: NaN tells it
            return self._judge(plan)

    def _judge(self, plan: Trajectory) -> Judgement:
        p, (q, v, tau) = self.problem, (plan.q, plan.v, plan.tau)
        shapes = ((p.horizon + 1, p.nv), (p.horizon + 1, p.nv), (p.horizon, p.nv))
        if tuple(x.shape for x in (q, v, tau)) != shapes:
            raise ArgumentError(
                f"a plan of q, v, tau {shapes} was expected, found {[x.shape for x in (q, v, tau)]}"
            )
        slope = np.diff(v, axis=0) / p.dt
        gaps = (
            np.abs(q[1:] - q[:-1] - p.dt * v[1:]),
            np.abs(self.arm.accelerations(q[:-1], v[:-1], tau) - slope) * p.dt,
            np.abs(np.concatenate([q[0] - p.q, v[0] - p.v])),
        )
        error = np.abs(self.arm.torques(q[:-1], v[:-1], slope) - tau)
        violation, newtons, active = self._limits(plan)
        # np.max hands NaN on, as max() would not.
        gap = float(np.max([np.max(g) for g in gaps]))
        driven = self.cost(self.drive(tau))
        return Judgement(self.cost(plan), driven, gap, float(np.max(error)), violation, newtons, active)

    def drive(self, tau: Array) -> Trajectory:
        """Where torques (N, nv) take the robot from the start."""
        p = self.problem
        q, v = np.empty((p.horizon + 1, p.nv)), np.empty((p.horizon + 1, p.nv))
        q[0], v[0] = p.q, p.v
        for k, row in enumerate(tau):
            a = self.arm.accelerations(q[k : k + 1], v[k : k + 1], row[None])[0]
            v[k + 1] = v[k] + p.dt * a
            q[k + 1] = q[k] + p.dt * v[k + 1]
        return Trajectory(q, v, tau)

    def cost(self, plan: Trajectory) -> float:
        """Running 1/2 dt sum w r^2 at nodes 0 to N - 1, terminal 1/2 sum w r^2 at node N."""
        p = self.problem
        running = np.array([self._states(plan, k, p.running) for k in range(p.horizon)])
        effort = p.running.tau * np.sum((plan.tau - p.effort) ** 2, axis=1)
        return float(0.5 * p.dt * np.sum(running + effort) + 0.5 * self._states(plan, p.horizon, p.terminal))

    def _states(self, plan: Trajectory, k: int, weights: Any) -> float:
        """The weighted squares of one node, without the torques'."""
        p = self.problem
        found = weights.q * np.sum((plan.q[k] - p.goal) ** 2) + weights.v * np.sum(plan.v[k] ** 2)
        if p.target is not None and (weights.position or weights.rotation):
            place, turn = self.arm.pose(plan.q[k], p.target.frame)
            found += weights.position * np.sum((place - p.target.place) ** 2)
            found += weights.rotation * np.sum(self.arm.log3(p.target.turn.T @ turn) ** 2)
        return float(found)

    def _limits(self, plan: Trajectory) -> tuple[float, float, tuple[int, int, int]]:
        """Torques at nodes 0 to N - 1, velocities and positions at 1 to N."""
        limits = self.problem.limits
        values = (plan.tau, plan.v[1:], plan.q[1:])
        worst, newtons, active = 0.0, 0.0, []
        for value, (low, high) in zip(values, (limits.torque, limits.velocity, limits.position), strict=True):
            range_ = np.where(np.isfinite(high - low), high - low, 1.0)
            over = np.maximum(low - value, value - high)
            worst = float(np.maximum(worst, np.max(over / range_)))
            newtons = float(np.maximum(newtons, np.max(over))) if value is plan.tau else newtons
            active.append(int(np.sum(over > -_ACTIVE * range_)))
        return worst, newtons, (active[0], active[1], active[2])
