"""The plant's side of a loop in exact time: torques that arrive, pushes, and measurements that age."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from robomorph.mpc.disturbances import Delay, Noise, Push
from robomorph.mpc.observer import SECOND
from robomorph.mpc.plants.payload import tool_frame
from robomorph.mpc.plants.plant import Plant

Array = npt.NDArray[np.float64]
State = tuple[Array, Array]


class Timeline:
    """A plant under torques that arrive late and pushes that come and go; times are in ns.

    `measured` gives what a sensor says at a tick; `send` hands a torque over; `advance` lets a tick pass.
    """

    def __init__(
        self,
        plant: Plant,
        period: int,
        held: Array,
        *,
        pushes: Sequence[Push] = (),
        noise: Noise | None = None,
        delay: Delay | None = None,
    ) -> None:
        delay = delay or Delay()
        self.plant, self._period, self.now = plant, period, 0
        self._torque = held
        self._coming: list[tuple[int, Array]] = []
        self._way = round(delay.actuation * SECOND)
        old = round(delay.measurement * SECOND)
        # Ticks before which nothing was measured yet see the state at the beginning.
        self._samples: deque[State] = deque([(plant.q, plant.qd)] * -(-old // period))
        self._phase = -old % period  # from a tick to the next sample
        frame = tool_frame(plant.robot)
        self._pushes = [
            (round(p.start * SECOND), round((p.start + p.seconds) * SECOND), p.frame or frame, p.wrench)
            for p in pushes
        ]
        self._spread = None if noise is None else noise.spread(plant.robot.nv)
        self._rng = np.random.default_rng(None if noise is None else noise.seed)

    def measured(self) -> State:
        """q (nq,) and qd (nv,) as a sensor gives them at this tick; once a tick."""
        if self._phase == 0:
            self._sample()
        q, qd = self._samples.popleft()
        if self._spread is None:
            return q, qd
        return q + self._rng.normal(0.0, self._spread[0]), qd + self._rng.normal(0.0, self._spread[1])

    def send(self, tau: Array, later: int = 0) -> None:
        """A torque that leaves the controller `later` ns after this tick."""
        self._coming.append((self.now + later + self._way, tau))
        self._coming.sort(key=lambda entry: entry[0])

    def advance(self) -> tuple[Array, Array]:
        """Let a tick pass. The torque (nv,) that acted at its end, and the largest part of what was asked for
        that the drives did not give."""
        end = self.now + self._period
        stops = {end, self.now + self._phase}
        stops.update(time for time, _ in self._coming)
        stops.update(time for push in self._pushes for time in push[:2])
        acted, missed = self._torque, np.zeros_like(self._torque)
        for stop in sorted(time for time in stops if self.now <= time <= end):
            if stop > self.now:
                self._arrive()
                acted = self.plant.advance(self._torque, (stop - self.now) / SECOND, self._pushing())
                missed = np.maximum(missed, np.abs(self._torque - acted))
            if 0 < self._phase == stop - (end - self._period):
                self._sample()
            self.now = stop
        return acted, missed

    def _arrive(self) -> None:
        while self._coming and self._coming[0][0] <= self.now:
            self._torque = self._coming.pop(0)[1]

    def _pushing(self) -> dict[str, Array]:
        acting: dict[str, Array] = {}
        for begin, end, frame, wrench in self._pushes:
            if begin <= self.now < end:
                acting[frame] = acting.get(frame, 0.0) + wrench
        return acting

    def _sample(self) -> None:
        self._samples.append((self.plant.q, self.plant.qd))
