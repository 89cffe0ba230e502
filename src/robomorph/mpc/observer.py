"""Delay predictor and disturbance observer in one object: where the robot will be when a torque acts, and
which torque is missing in the model."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.mpc.disturbances import Delay
from robomorph.mpc.kernels.observing import ObserverKernels
from robomorph.mpc.payload_estimate import PayloadEstimate
from robomorph.mpc.plants.payload import tool_frame
from robomorph.robot import Robot

Array = npt.NDArray[np.float64]

# q, qd, and the acceleration of the step that led there, (nv,) each.
State: TypeAlias = tuple[Array, Array, Array]

_NONE: Array = np.zeros(1)  # kg
SECOND = 1_000_000_000  # ns: times are whole numbers, so that equal ones are equal


@dataclass(frozen=True)
class Gains:
    """Shares of the error of a prediction, one tick ahead, by which the estimates are corrected."""

    position: float = 0.5
    velocity: float = 0.5
    disturbance: float = 0.2

    @staticmethod
    def for_delay(seconds: float, period: float) -> Gains:
        """A disturbance is learned in five ticks, or in twice the delay if that is longer: faster ones became
        unstable with a delay that was 20% off, or a payload that was not estimated (docs/mpc-loop.md)."""
        return Gains(disturbance=period / max(5.0 * period, 2.0 * seconds))


class Observer:
    """The robot moves by M qdd + bias = tau + d with an unknown torque d.

    At every tick, from a measurement `delay.measurement` s old: predict it from the last one, with the
    torques that acted in between; correct position and speed by shares of the error e, and d by
    M share e_qd / period; then predict `delay` s on, with the torques that are on their way: that is the
    state to plan from. A tick of a loop is

        state = observer.sense(q, qd)
        r = controller.step(*state, offset=observer.offset)
        send(observer.command(r.tau, r.qdd[0]))

    delay: see `Delay`; only known delays can be predicted. payload: whether what a point mass at the tool
    would explain is taken for one, whose inertia counts too (`PayloadEstimate`). frame: of that mass.
    """

    def __init__(
        self,
        robot: Robot,
        period: float,
        *,
        delay: Delay | None = None,
        gains: Gains | None = None,
        payload: bool = True,
        frame: str | None = None,
    ) -> None:
        delay = delay or Delay()
        self.robot, self.delay = robot, delay
        self.period = round(period * SECOND)
        if self.period <= 0:
            raise ArgumentError(f"period: expected seconds above 0, found {period!r}")
        self.gains = gains or Gains.for_delay(delay.total, period)
        self._old, self._way = (round(x * SECOND) for x in (delay.measurement, delay.actuation))
        self._kernels = ObserverKernels(robot, frame or tool_frame(robot))
        self._effort = robot.limits.effort
        self._payload = PayloadEstimate(period) if payload else None
        self.reset(robot.neutral, np.zeros(robot.nv))

    def reset(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> None:
        """Begin anew, at rest or in motion, with what holds the robot there as the torque before."""
        self._q, self._qd = (np.array(x, np.float64) for x in (q, qd))
        self._now = -self.period  # the next measurement is that of time 0
        self._rest = np.zeros(self.robot.nv)
        self._mass = np.zeros(1)  # kg, of the payload
        if self._payload is not None:
            self._payload.mass = 0.0
        held = self.robot.bias_torque(self._q, self._qd)
        self._sent: deque[tuple[int, Array]] = deque([(-(1 << 62), held)])
        # Where the robot will be when a torque sent now begins to act.
        self._ahead = self._q, self._qd, np.zeros(self.robot.nv)

    @property
    def disturbance(self) -> Array:
        """(nv,) the torque that acts beside the sent one, without what is taken for a payload."""
        return np.array(self._rest)

    @property
    def payload(self) -> float | None:
        """kg, as estimated; None if it is not."""
        return None if self._payload is None else self._payload.mass

    @property
    def offset(self) -> Array:
        """(nv,) what the drives must give beyond the model's torque where the robot will be, if it goes on
        with the acceleration of before: for `controller.step`."""
        if not self._mass[0]:
            return -self._rest
        return np.asarray(self._mass * self._kernels.carry(*self._ahead) - self._rest)

    def sense(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> tuple[Array, Array]:
        """Take the measurement of this tick; where the robot will be when a torque sent now begins to act."""
        self._now += self.period
        measured = self._now - self._old
        before = self._q, self._qd, self._ahead[2]
        predicted = self._predicted(before, measured - self.period, measured)
        self._correct(predicted, np.asarray(q, np.float64), np.asarray(qd, np.float64))
        while len(self._sent) > 1 and self._sent[1][0] <= measured:  # no prediction asks for it any more
            self._sent.popleft()
        self._ahead = self._predicted((self._q, self._qd, predicted[2]), measured, self._now + self._way)
        return self._ahead[:2]

    def command(self, tau: npt.ArrayLike, qdd: npt.ArrayLike, later: float = 0.0) -> Array:
        """The torque (nv,) to send, within the limits, for a controller's `tau`, which has the offset in it,
        and the acceleration (nv,) that it is for. It is remembered as sent `later` seconds after this
        tick."""
        wanted = np.asarray(tau, np.float64)
        if self._mass[0]:  # its inertia feels the acceleration that the offset could not know
            q, _, guessed = self._ahead
            new = np.asarray(qdd, np.float64)
            wanted = wanted + self._kernels.correct(q, new - guessed, self._mass)
            wanted = wanted - self._kernels.correct(q, new - guessed, _NONE)
        wanted = np.minimum(np.maximum(wanted, -self._effort), self._effort)
        self.sent(wanted, later)
        return wanted

    def sent(self, tau: Array, later: float = 0.0) -> None:
        """Remember a torque that went out `later` seconds after this tick."""
        arrives = self._now + self._way + round(later * SECOND)
        place = len(self._sent)
        while place > 1 and self._sent[place - 1][0] > arrives:  # a late answer is told before it arrives
            place -= 1
        self._sent.insert(place, (arrives, tau))

    # --- the model --------------------------------------------------------------------------------------

    def _correct(self, predicted: State, q: Array, qd: Array) -> None:
        """Move a prediction towards what was measured, and what was missing in it into the disturbance."""
        gains, off = self.gains, qd - predicted[1]
        self._q = predicted[0] + gains.position * (q - predicted[0])
        self._qd = predicted[1] + gains.velocity * off
        gain = gains.disturbance * SECOND / self.period
        self._rest = self._rest + gain * self._kernels.correct(predicted[0], off, self._mass)
        if self._payload is not None:
            kilogram = self._kernels.carry(self._q, self._qd, predicted[2])
            self._rest = self._payload.take(self._rest, kilogram)
            self._mass[0] = self._payload.mass

    def _predicted(self, state: State, begin: int, end: int) -> State:
        """The state at `end` (ns) from that at `begin`, in steps of at most a period."""
        for span, tau in self._acting(begin, end):
            count = -(-span // self.period)
            seconds, total = np.array([span / count / SECOND]), tau + self._rest
            for _ in range(count):
                state = self._kernels.predict(*state, total, seconds, self._mass)
        return state

    def _acting(self, begin: int, end: int) -> Iterator[tuple[int, Array]]:
        """Spans (ns) from `begin` to `end`, and the torque that acts in each."""
        starts = [time for time, _ in self._sent]
        for k, (start, tau) in enumerate(self._sent):
            stop = starts[k + 1] if k + 1 < len(starts) else end
            span = min(stop, end) - max(start, begin)
            if span > 0:
                yield span, tau
