"""What is written down of a loop while it runs."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.mpc.disturbances import Push
from robomorph.mpc.loop import Tick
from robomorph.mpc.observer import Observer
from robomorph.mpc.problem import Problem
from robomorph.mpc.simulation import Simulation
from robomorph.mpc.stepping import SteppedProblem
from robomorph.mpc.tracking import Tracking
from robomorph.robot import Robot

Array = npt.NDArray[np.float64]


class Judge:
    """What steps are told, and how far off the plant is."""

    def __init__(
        self,
        problem: SteppedProblem,
        reference: Any,
        error: Callable[[float, Array], npt.ArrayLike] | None,
        ahead: float,
        q: Array,
    ) -> None:
        self._robot, self._reference, self._error, self._ahead = problem.robot, reference, error, ahead
        self._tracking = Tracking(problem) if isinstance(problem, Problem) and error is None else None
        self.is_configuration = error is None and self.wanted(0.0) is not None
        self.size = len(self.error(0.0, q))

    def at(self, now: float) -> Any:
        """The reference at a time (s)."""
        return self._reference(now) if callable(self._reference) else self._reference

    def told(self, now: float) -> Any:
        """What a step at `now` is told: its plan begins when its torque acts."""
        return self.at(now + self._ahead)

    def wanted(self, now: float) -> Array | None:
        """(nq,) the configuration wanted: the beginning of a plan's reference; None if it is not one."""
        if self._tracking is not None:
            return self._tracking.configuration(self.at(now))
        return _configuration(self.at(now), self._robot)

    def error(self, now: float, q: Array) -> Array:
        """(n,) the tracking error; none without a task, or a reference that is a configuration."""
        if self._error is not None:
            found = np.atleast_1d(np.asarray(self._error(now, q), np.float64))
            if found.ndim != 1:
                raise ArgumentError(f"error: expected a function that gives (n,), found {found.shape}")
            return found
        if self._tracking is not None:
            return self._tracking.error(self.at(now), q)
        wanted = self.wanted(now)
        return np.zeros(0) if wanted is None else self._robot.difference(wanted, q)


def _configuration(reference: Any, robot: Robot) -> Array | None:
    """(nq,) of (nq,) or (nodes, nq) numbers; None if it is anything else."""
    try:
        array = np.asarray(reference, np.float64)
    except (TypeError, ValueError):
        return None
    fits = array.ndim in (1, 2) and array.shape[-1] == robot.nq and bool(np.isfinite(array).all())
    return np.asarray(np.atleast_2d(array)[0]) if fits else None


class Record:
    """Arrays that are filled tick by tick."""

    def __init__(self, robot: Robot, ticks: int, judge: Judge, observer: Observer | None) -> None:
        self._robot, self._judge, self._observer = robot, judge, observer
        nv = robot.nv
        self._times = np.zeros(ticks)
        self._q, self._qd = np.zeros((ticks, robot.nq)), np.zeros((ticks, nv))
        self._tau, self._clipped = np.zeros((ticks, nv)), np.zeros((ticks, nv))
        self._error = np.zeros((ticks, judge.size))
        self._wanted = np.zeros((ticks, robot.nq)) if judge.is_configuration else None
        self._solving, self._observing, self._computing = (np.full(ticks, np.nan) for _ in range(3))
        self._violations = np.full(ticks, np.nan)
        self._solved, self._late = np.ones(ticks, bool), np.zeros(ticks, bool)
        self._disturbance = None if observer is None else np.zeros((ticks, nv))
        has_payload = observer is not None and observer.payload is not None
        self._payload = np.zeros(ticks) if has_payload else None
        self._reasons: Counter[str] = Counter()

    def state(self, k: int, now: float, q: Array, qd: Array) -> None:
        """Where the plant is at the tick."""
        self._times[k], self._q[k], self._qd[k] = now, q, qd
        finite = bool(np.isfinite(q).all())
        self._error[k] = self._judge.error(now, q) if finite else np.inf
        if self._wanted is not None:
            self._wanted[k] = self._judge.wanted(now)

    def size(self, k: int) -> float:
        """The error at a tick."""
        return float(np.abs(self._error[k]).max(initial=0.0))

    def tick(self, k: int, tick: Tick) -> None:
        """What happened in it."""
        self._tau[k], self._clipped[k], self._late[k] = tick.tau, tick.clipped, tick.late
        self._solving[k], self._observing[k], self._computing[k] = (
            tick.solving,
            tick.observing,
            tick.computing,
        )
        if tick.answer is not None:
            self._solved[k] = tick.answer.success
            self._violations[k] = float(np.max(getattr(tick.answer, "violation", np.nan)))
            # Words take time to find: they are asked for where something is wrong.
            self._reasons["within the limits" if tick.answer.success else tick.answer.reason] += 1
        if self._disturbance is not None and self._observer is not None:
            self._disturbance[k] = self._observer.disturbance
            if self._payload is not None:
                self._payload[k] = self._observer.payload

    def finished(
        self, count: int, period: float, trouble: str | None, pushes: Sequence[Push], tolerance: float
    ) -> Simulation:
        """The result of the first `count` ticks."""

        def cut(values: Any) -> Any:
            return None if values is None else values[:count]

        found = Simulation(
            success=trouble is None,
            reason=trouble or "",
            robot=self._robot,
            period=period,
            times=cut(self._times),
            q=cut(self._q),
            qd=cut(self._qd),
            tau=cut(self._tau),
            clipped=cut(self._clipped),
            error=cut(self._error),
            reference=cut(self._wanted),
            solve_times=cut(self._solving),
            observe_times=cut(self._observing),
            cpu_times=cut(self._computing),
            solved=cut(self._solved),
            late=cut(self._late),
            violations=cut(self._violations),
            reasons=dict(self._reasons),
            disturbance=cut(self._disturbance),
            payload=cut(self._payload),
            pushes=tuple(pushes),
            tolerance=tolerance,
        )
        return found if trouble else found.with_reason()


class ProgressLine:
    """How far a loop is: one line, written over and over on a terminal's stderr; silent elsewhere."""

    def __init__(self, shown: bool, seconds: float) -> None:
        self._shown, self._seconds, self._next = shown and sys.stderr.isatty(), seconds, 0.0

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write(f"\r{'':<78}\r")

    def show(self, now: float, error: float) -> None:
        """At most fifty times a simulation."""
        if self._shown and now >= self._next:
            sys.stderr.write(f"\r{f'{now:.2f} of {self._seconds:g} s: error {error:.2e}':<78}")
            sys.stderr.flush()
            self._next = now + 0.02 * self._seconds
