"""What the loop asks of a plant. No loop tests for a kind of plant: it asks here."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.robot import Robot
from robomorph.runtime.arguments import as_array

Array = npt.NDArray[np.float64]
# Frame -> (6,) force (N), then moment (N m), in the world's axes, at the frame's origin.
Wrenches = Mapping[str, Array]

RATE = 5000.0  # Hz, integration steps unless another rate is asked for
_ROUNDING = 1e-9  # of a step: a span of five steps is not cut in six


class Plant(ABC):
    """A robot that torques move, whose state may be read at any time.

    robot: names, shapes and torque limits; q (nq,) and qd (nv,) are its coordinates. rate: integration steps
    a second, at least. Torques beyond the limits are clipped, as a drive does; joints have no stops.
    """

    def __init__(self, robot: Robot, rate: float) -> None:
        if not (np.isfinite(rate) and rate > 0.0):
            raise ArgumentError(f"rate: expected integration steps a second above 0, found {rate!r}")
        self.robot, self.rate = robot, float(rate)
        self._effort = robot.limits.effort

    @property
    @abstractmethod
    def q(self) -> Array:
        """(nq,) where it is now; a copy."""

    @property
    @abstractmethod
    def qd(self) -> Array:
        """(nv,) how fast; a copy."""

    @abstractmethod
    def _place(self, q: Array, qd: Array) -> None:
        """Be in this state."""

    @abstractmethod
    def _step(self, tau: Array, seconds: float, wrenches: Wrenches) -> None:
        """One integration step under torques that are within the limits."""

    @abstractmethod
    def acceleration(self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike) -> Array:
        """(nv,) in any state, under torques as given and no wrenches; the plant stays where it is."""

    def reset(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> None:
        """Put it in a state: q (nq,), qd (nv,)."""
        self._place(self._vector("q", q, self.robot.nq), self._vector("qd", qd, self.robot.nv))

    def clipped(self, tau: Array) -> Array:
        """What the drives make of a torque (nv,)."""
        return np.clip(tau, -self._effort, self._effort)

    def advance(self, tau: Array, seconds: float, wrenches: Wrenches | None = None) -> Array:
        """Move on by `seconds` under a constant torque (nv,) and wrenches that keep their direction in the
        world; gives the torque that acted."""
        acted = self.clipped(tau)
        count = max(1, math.ceil(seconds * self.rate - _ROUNDING))
        for _ in range(count):
            self._step(acted, seconds / count, wrenches or {})
        return acted

    def _vector(self, name: str, value: Any, size: int) -> Array:
        array = as_array(name, value)
        if array.shape != (size,) or not np.isfinite(array).all():
            raise ArgumentError(f"{name}: expected {size} finite numbers, found {value!r}")
        return array.astype(np.float64)
