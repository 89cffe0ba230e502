"""One tick of a closed loop: measure, predict, plan, send, move."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.mpc.disturbances import Late
from robomorph.mpc.observer import SECOND, Observer
from robomorph.mpc.stepping import Answer, Stepped, planned
from robomorph.mpc.timeline import Timeline

Array = npt.NDArray[np.float64]
# What a step is told for a plan that begins at a time (s).
Told = Callable[[float], Any]


@dataclass(frozen=True, eq=False)
class Tick:
    """What happened in one: the answer (None: the controller was busy), whether it was late or missing, the
    torque (nv,) that acted at its end and what the drives cut off; wall times (s) of observer and step, and
    the thread's CPU time of both."""

    answer: Answer | None
    late: bool
    tau: Array
    clipped: Array
    observing: float
    solving: float
    computing: float


@dataclass(frozen=True, eq=False)
class _Plan:
    begin: int  # ns, of its node 0
    torques: Array  # (N, nv) the model's, without the offset of then
    qdd: Array


class Loop:
    """A controller that drives a plant along its timeline, with an observer or without."""

    def __init__(
        self,
        controller: Stepped,
        timeline: Timeline,
        observer: Observer | None,
        *,
        period: int,
        held: Array,
        late: Late | None,
        ticks: int,
    ) -> None:
        self._controller, self._timeline, self.observer = controller, timeline, observer
        self.plant, self.period, self.ticks = timeline.plant, period, ticks
        self._late = late
        self._drawn = np.zeros(ticks, bool) if late is None else late.drawn(ticks)
        self._dt = controller.problem.dt
        self._busy, self._asked = 0, 0  # ns
        self._plan: _Plan | None = None
        self._last = held
        self._answer: Answer | None = None

    def tick(self, k: int, told: Told, deadline: float | None) -> Tick:
        """The k-th, after those before it."""
        now, late = k * self.period, bool(self._drawn[k])
        q, qd = self._timeline.measured()
        begin, cpu = time.perf_counter(), -time.thread_time()
        if self.observer is not None:
            q, qd = self.observer.sense(q, qd)
        offset = None if self.observer is None else self.observer.offset
        observing, solving, answer = time.perf_counter() - begin, float("nan"), None
        cpu += time.thread_time()
        free = now >= self._busy
        if not free or late:
            self._go_on(now, offset)
        if free:
            told_now, elapsed = told(now / SECOND), (now - self._asked) / SECOND if k else None
            begin, cpu = time.perf_counter(), cpu - time.thread_time()
            answer = self._controller.step(
                q, qd, reference=told_now, deadline=deadline, elapsed=elapsed, offset=offset, out=self._answer
            )
            self._answer = answer
            solving = time.perf_counter() - begin
            self._asked = now
            observing += self._hand_over(answer, now, offset, late)
            cpu += time.thread_time()
        tau, clipped = self._timeline.advance()
        return Tick(answer, late or not free, tau, clipped, observing, solving, cpu)

    def _hand_over(self, answer: Answer, now: int, offset: Array | None, late: bool) -> float:
        """Send an answer, at once or late; seconds that the observer took for it."""
        later, tau, qdd = 0.0, np.array(answer.tau), answer.qdd[0]
        if self._late is not None:
            self._plan = _Plan(now, answer.torques - _known(offset), np.array(answer.qdd))
        if late and self._late is not None:
            later = self._late.seconds
            self._busy = now + round(later * SECOND)
            if self._late.meanwhile == "plan":
                tau, qdd = (planned(x, self._dt, later) for x in (answer.torques, answer.qdd))
        begin = time.perf_counter()
        self._send(tau, qdd, later)
        return time.perf_counter() - begin

    def _go_on(self, now: int, offset: Array | None) -> None:
        """No answer in time: the last plan's torque for now, or the last one again."""
        if self._late is None or self._late.meanwhile == "torque" or self._plan is None:
            if self.observer is not None:
                self.observer.sent(self._last)
            self._timeline.send(self._last)
            return
        age = (now - self._plan.begin) / SECOND
        tau, qdd = (planned(x, self._dt, age) for x in (self._plan.torques, self._plan.qdd))
        self._send(tau + _known(offset), qdd, 0.0)

    def _send(self, tau: Array, qdd: Array, later: float) -> None:
        if self.observer is not None:
            tau = self.observer.command(tau, qdd, later)
        self._last = tau
        self._timeline.send(tau, round(later * SECOND))


def _known(offset: Array | None) -> Array | float:
    return 0.0 if offset is None else offset
