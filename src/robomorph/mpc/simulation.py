"""What a simulated loop leaves behind: what happened, in arrays, and what is worth knowing of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.mpc.disturbances import Push
from robomorph.robot import Robot

Array = npt.NDArray[np.float64]

_LAST = 0.1  # s at the end over which the error left is taken, so that no zero crossing flatters it


@dataclass(frozen=True, eq=False)
class Margin:
    """How near a quantity came to its limit: `left` of it (rad, m, rad/s, N m, ...; negative: beyond), and
    as a share of the limit's range, by which joint and when."""

    what: str
    left: float
    share: float
    joint: str
    time: float


@dataclass(frozen=True, eq=False)
class Simulation:
    """A loop of T ticks.

    times (T,) s of the ticks; q (T, nq), qd (T, nv): the plant's true state then. tau (T, nv): the torque
    that acted last before the next tick, as the drives gave it; clipped (T, nv): what they cut off what was
    sent. error (T, n) against the reference, n = 0 without one; reference (T, nq), or None where it is not a
    configuration. solve_times, observe_times (T,) s: the wall's clock for the controller's step and for the
    observer; cpu_times: the thread's CPU for both. NaN where the controller was not asked. solved (T,):
    whether its answer met the limits; violations (T,): by how much not, scaled; late (T,): no answer in time.
    reasons: how often each was given. disturbance (T, nv), payload (T,) kg: what the observer took for them;
    None without.
    """

    success: bool
    reason: str
    robot: Robot
    period: float
    times: Array
    q: Array
    qd: Array
    tau: Array
    clipped: Array
    error: Array
    reference: Array | None
    solve_times: Array
    observe_times: Array
    cpu_times: Array
    solved: npt.NDArray[np.bool_]
    late: npt.NDArray[np.bool_]
    violations: Array
    reasons: Mapping[str, int]
    disturbance: Array | None
    payload: Array | None
    pushes: tuple[Push, ...]
    tolerance: float

    def with_reason(self) -> Simulation:
        """The same, with words for how it went."""
        parts = [f"{len(self.times) * self.period:.6g} s without divergence"]
        if self.error.shape[1]:
            settled = self.settled
            parts.append(
                f"error still {self.left:.2e}"
                if settled is None
                else f"error below {self.tolerance:g} after {settled:.3g} s"
            )
        unsolved, late = int((~self.solved).sum()), int(self.late.sum())
        if unsolved:
            parts.append(f"{unsolved} of {len(self.times)} plans broke a limit")
        if late:
            parts.append(f"{late} of {len(self.times)} answers were late")
        return replace(self, reason=", ".join(parts))

    @property
    def size(self) -> Array:
        """(T,) the largest entry of the error at every tick; NaN without a reference."""
        if self.error.shape[1] == 0:
            return np.full(len(self.times), np.nan)
        return np.asarray(np.abs(self.error).max(axis=1))

    @property
    def left(self) -> float:
        """The largest error of the last 0.1 s."""
        return float(self.size[self.times >= self.times[-1] - _LAST].max())

    @property
    def settled(self) -> float | None:
        """Seconds from the last push's end (or the beginning) until the error stays below the tolerance;
        None if it is not at the end."""
        begin = max((push.start + push.seconds for push in self.pushes), default=0.0)
        size = self.size
        if not size[-1] <= self.tolerance:
            return None
        outside = np.flatnonzero(~(size <= self.tolerance))
        last = self.times[outside[-1]] + self.period if len(outside) else 0.0
        return max(0.0, float(last) - begin)

    @property
    def before_push(self) -> float:
        """The error at the last tick before the first push; NaN without one."""
        ticks = np.flatnonzero(self.times < min((p.start for p in self.pushes), default=-1.0))
        return float(self.size[ticks[-1]]) if len(ticks) else float("nan")

    @property
    def peak(self) -> float:
        """The largest error from the first push on; NaN without one."""
        begin = min((push.start for push in self.pushes), default=np.inf)
        since = self.times >= begin
        return float(self.size[since].max()) if since.any() else float("nan")

    def spent(self, *, observer: bool = True, cpu: bool = False) -> Array:
        """Seconds that every step took, without those at which the controller was not asked: by the wall's
        clock, the observer's part included or not; or of the thread's CPU, which others cannot hold up."""
        asked = np.isfinite(self.solve_times)
        if cpu:
            return self.cpu_times[asked]
        return np.asarray(self.solve_times[asked] + observer * np.nan_to_num(self.observe_times[asked]))

    def percentile(self, share: float, *, observer: bool = True, cpu: bool = False) -> float:
        """Seconds that `share` (0 to 100) of all steps took at most; see `spent`."""
        spent = self.spent(observer=observer, cpu=cpu)
        return float(np.percentile(spent, share)) if len(spent) else float("nan")

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The nearest that torque, speed and position came to a limit, each where there is one."""
        limits, names = self.robot.limits, self.robot.velocity_names
        both = np.isfinite(limits.lower) & np.isfinite(limits.upper)
        lower, upper = (np.where(both, x, 0.0) for x in (limits.lower, limits.upper))
        found = []
        for what, values, bound in (
            ("torque", np.abs(self.tau), limits.effort),
            ("speed", np.abs(self.qd), limits.velocity),
            ("position", np.abs(self.q - 0.5 * (lower + upper)), 0.5 * (upper - lower)),
        ):
            known = np.isfinite(bound) & (bound > 0.0)
            if known.any():
                share = np.where(known, 1.0 - values / np.where(known, bound, 1.0), np.inf)
                k, joint = np.unravel_index(np.argmin(share), share.shape)
                left = float(bound[joint] - values[k, joint])
                found.append(Margin(what, left, float(share[k, joint]), names[joint], float(self.times[k])))
        return tuple(found)

    def as_data(self) -> dict[str, Any]:
        """The findings, without the trajectories, as plain data."""
        return {
            "success": self.success,
            "reason": self.reason,
            "robot": self.robot.name,
            "ticks": len(self.times),
            "period_s": self.period,
            "step_median_s": self.percentile(50.0),
            "step_99_s": self.percentile(99.0),
            "step_99_cpu_s": self.percentile(99.0, cpu=True),
            "controller_median_s": self.percentile(50.0, observer=False),
            "controller_99_s": self.percentile(99.0, observer=False),
            "error_before_push": self.before_push,
            "peak_after_push": self.peak,
            "error_left": self.left,
            "settled_s": self.settled,
            "tolerance": self.tolerance,
            "clipped_Nm": float(np.abs(self.clipped).max(initial=0.0)),
            "clipped_ticks": int((np.abs(self.clipped) > 0.0).any(axis=1).sum()),
            "late_ticks": int(self.late.sum()),
            "unsolved_ticks": int((~self.solved).sum()),
            "largest_violation": float(np.nanmax(self.violations, initial=0.0)),
            "reasons": dict(self.reasons),
            "margins": [vars(margin) for margin in self.margins],
            "payload_kg": None if self.payload is None else float(self.payload[-1]),
        }
