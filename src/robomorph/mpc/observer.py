"""Delay predictor and disturbance observer in one object: where the robot will be when a torque acts, and
which torque is missing in the model."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.mpc.disturbances import Delay
from robomorph.mpc.payload_estimate import PayloadEstimate, Rows
from robomorph.mpc.plants.payload import tool_frame
from robomorph.robot import Robot

Array = npt.NDArray[np.float64]

SECOND = 1_000_000_000  # ns: times are whole numbers, so that equal ones are equal


@dataclass(frozen=True)
class Gains:
    """Shares of the error of a prediction, one tick ahead, by which the estimates are corrected."""

    position: float = 0.5
    velocity: float = 0.5
    disturbance: float = 0.2

    @staticmethod
    def for_delay(seconds: float) -> Gains:
        """What was measured to be stable with an unknown payload (docs/mpc-loop.md)."""
        return Gains(disturbance=0.2 if seconds < 0.005 else 0.02)


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
        self.gains = gains or Gains.for_delay(delay.total)
        self.period = round(period * SECOND)
        if self.period <= 0:
            raise ArgumentError(f"period: expected seconds above 0, found {period!r}")
        self._old, self._way = (round(x * SECOND) for x in (delay.measurement, delay.actuation))
        self._forward = robot.compile("forward_dynamics", threads=1, check_finite=False)
        self._mass = robot.compile("mass_matrix", threads=1, check_finite=False)
        self._effort = robot.limits.effort
        self.payload = None
        if payload:
            self.payload = PayloadEstimate(robot, frame or tool_frame(robot), period)
        self.reset(robot.neutral, np.zeros(robot.nv))

    def reset(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> None:
        """Begin anew, at rest or in motion, with what holds the robot there as the torque before."""
        self._q, self._qd = (np.array(x, np.float64) for x in (q, qd))
        self._now = -self.period  # the next measurement is that of time 0
        self._rest = np.zeros(self.robot.nv)
        self._foreseen = np.zeros(self.robot.nv)  # the acceleration when a torque sent now begins to act
        self._rows: Rows | None = None  # at the measurement
        self._rows_ahead: Rows | None = None
        if self.payload is not None:
            self.payload.mass = 0.0
        held = self.robot.bias_torque(self._q, self._qd)
        self._sent: deque[tuple[int, Array]] = deque([(-(1 << 62), held)])
        self._estimated()

    @property
    def disturbance(self) -> Array:
        """(nv,) the torque that acts beside the sent one, without what is taken for a payload."""
        return np.array(self._rest)

    @property
    def offset(self) -> Array:
        """(nv,) what the drives must give beyond the model's torque where the robot will be, if it goes on
        with the acceleration of before: for `controller.step`."""
        return self._carried(self._foreseen) - self._rest

    def sense(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> tuple[Array, Array]:
        """Take the measurement of this tick; where the robot will be when a torque sent now begins to act."""
        self._now += self.period
        measured = self._now - self._old
        predicted = self._predicted(self._q, self._qd, self._foreseen, measured - self.period, measured)
        self._correct(*predicted, np.asarray(q, np.float64), np.asarray(qd, np.float64))
        self._forget(measured)
        self._estimated()
        ahead = self._predicted(self._q, self._qd, predicted[2], measured, self._now + self._way)
        if self.payload is not None:
            self._rows_ahead = self.payload.rows(*ahead[:2])
        self._foreseen = ahead[2]
        return ahead[:2]

    def command(self, tau: npt.ArrayLike, qdd: npt.ArrayLike, later: float = 0.0) -> Array:
        """The torque (nv,) to send, within the limits, for a controller's `tau`, which has the offset in it,
        and the acceleration (nv,) that it is for. It is remembered as sent `later` seconds after this
        tick."""
        more = self._carried(np.asarray(qdd, np.float64)) - self._carried(self._foreseen)
        wanted = np.clip(np.asarray(tau, np.float64) + more, -self._effort, self._effort)
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

    def _carried(self, qdd: Array) -> Array:
        """(nv,) what a payload adds to inverse dynamics where the robot will be."""
        if self.payload is None or self._rows_ahead is None:
            return np.zeros_like(qdd)
        return self.payload.torque(self._rows_ahead, qdd)

    def _correct(self, q: Array, qd: Array, qdd: Array, measured_q: Array, measured_qd: Array) -> None:
        """Move a prediction towards what was measured, and what was missing in it into the disturbance."""
        gains, off_q, off_qd = self.gains, measured_q - q, measured_qd - qd
        mass = self._mass(q)
        if self.payload is not None and self._rows is not None:
            mass = mass + self.payload.mass * (self._rows[0].T @ self._rows[0])
        self._rest = self._rest + (gains.disturbance * SECOND / self.period) * (mass @ off_qd)
        self._q, self._qd = q + gains.position * off_q, qd + gains.velocity * off_qd
        if self.payload is not None:
            self._rows = self.payload.rows(self._q, self._qd)
            self._rest = self.payload.take(self._rest, self._rows, qdd)

    def _estimated(self) -> None:
        """What a payload makes of an acceleration without it, near the state: a matrix times it, less a vector."""
        self._turned: tuple[Array, Array] | None = None
        if self.payload is None or self._rows is None or self.payload.mass == 0.0:
            return
        jacobian, drift = self._rows
        mass, more = self._mass(self._q), self.payload.mass * jacobian.T
        solved = np.linalg.solve(mass + more @ jacobian, np.column_stack([mass, more @ drift]))
        self._turned = solved[:, :-1], solved[:, -1]

    def _predicted(self, q: Array, qd: Array, a: Array, begin: int, end: int) -> tuple[Array, Array, Array]:
        """The state at `end` (ns) from that at `begin`, and the acceleration of the last step: steps of at
        most a period, whose acceleration is that in their middle, as the step before lets expect it."""
        for span, tau in self._acting(begin, end):
            count = -(-span // self.period)
            h = span / count / SECOND
            for _ in range(count):
                half = q + (0.5 * h) * qd
                a = self._forward(half, qd + (0.5 * h) * a, tau + self._rest)
                if self._turned is not None:
                    a = self._turned[0] @ a - self._turned[1]
                qd = qd + h * a
                q = half + (0.5 * h) * qd
        return q, qd, a

    def _acting(self, begin: int, end: int) -> Iterator[tuple[int, Array]]:
        """Spans (ns) from `begin` to `end`, and the torque that acts in each."""
        starts = [time for time, _ in self._sent]
        for k, (start, tau) in enumerate(self._sent):
            stop = starts[k + 1] if k + 1 < len(starts) else end
            span = min(stop, end) - max(start, begin)
            if span > 0:
                yield span, tau

    def _forget(self, before: int) -> None:
        """Torques that no prediction asks for any more."""
        while len(self._sent) > 1 and self._sent[1][0] <= before:
            self._sent.popleft()
