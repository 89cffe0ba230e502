"""Derivatives by differences: fourth-order central ones, configurations moving along the tangent space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.robot import Robot
from robomorph.verify.states import Values
from robomorph.verify.subject import Function

Array = npt.NDArray[Any]

# Fourth-order central differences: weights of f(-2h), f(-h), f(h), f(2h), to be divided by h.
STENCIL = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))
STEP = 1e-3
# Of the speed in which friction changes its sign, and of the length of a step in time.
_SHARE = 1e-2
# Rounding errors of values beside them, which differences divide by the step.
_ROUNDING = 1e-14


class Noise(NamedTuple):
    """Of a derivative: the largest of the values that it was taken of, and what differences lose by their
    rounding. A derivative that is zero because terms cancel is not zero in numbers."""

    size: float
    lost: float


@dataclass(frozen=True)
class Differences:
    """Of functions of a robot's states; arguments and results by name, with one batch dimension."""

    robot: Robot

    def along(self, function: Function, at: Values, by: str, directions: Array) -> Values:
        """Derivatives (B, *result, K) of all results while the argument `by` moves in K directions, each
        (B, *its change): `directions` is (K, B, ...)."""
        count, batch = len(directions), len(at[by])
        step = self.step(at, by)
        moved = []
        for direction in directions:
            for k, _ in STENCIL:
                moved.append(self.moved(by, at[by], k * _beside(step, direction) * direction))
        given = (
            {name: np.concatenate([value] * (count * len(STENCIL))) for name, value in at.items()}
            if count
            else at
        )
        found = function({**given, by: np.concatenate(moved)} if count else at)
        weights = np.array([weight for _, weight in STENCIL])
        return {name: self._sums(value, weights, step, count, batch) for name, value in found.items()}

    def _sums(self, values: Array, weights: Array, step: Array, count: int, batch: int) -> Array:
        shape = values.shape[1:]
        if not count:
            return np.zeros((batch, *shape, 0))
        rows = values.reshape((count, len(weights), batch, *shape))
        total = np.tensordot(weights, rows, axes=(0, 1))  # (count, batch, ...)
        return np.asarray(np.moveaxis(total / _beside(step, total[0]), 0, -1))

    def by_entries(self, function: Function, at: Values, by: str) -> Values:
        """Derivatives (B, *result, *change) by every entry of an argument."""
        shape = self.change_shape(at, by)
        size = int(np.prod(shape, dtype=int))
        units = np.eye(size).reshape((size, 1, *shape))
        found = self.along(function, at, by, np.broadcast_to(units, (size, len(at[by]), *shape)))
        return {name: value.reshape((*value.shape[:-1], *shape)) for name, value in found.items()}

    def moved(self, name: str, value: Array, change: Array) -> Array:
        return self.robot.integrate(value, change) if name == "q" else value + change

    def change_shape(self, at: Values, name: str) -> tuple[int, ...]:
        """Of a change of an argument, or of a derivative by it."""
        return (self.robot.nv,) if name == "q" else at[name].shape[1:]

    def step(self, at: Values, by: str) -> Array:
        """How far an argument moves, () or (B,): little beside what bends the functions."""
        if by == "dt":
            return np.asarray(_SHARE * at[by])
        model = self.robot.model
        if by != "qd" or model.passive is None or not any(body.friction for body in model.bodies):
            return np.asarray(STEP)
        # Followers go faster than what moves them.
        fastest = max([1.0, *(abs(body.mimic[1]) for body in model.bodies if body.mimic is not None)])
        return np.asarray(min(STEP, _SHARE * model.passive.width / fastest))

    def noise(self, values: Values, at: Values, by: str) -> Noise:
        """How far off derivatives by an argument may be because values that large are rounded."""
        size = max((float(np.abs(value).max(initial=0.0)) for value in values.values()), default=0.0)
        return Noise(size, _ROUNDING * size / float(self.step(at, by).min(initial=STEP)))


def _beside(step: Array, value: Array) -> Array:
    """Steps () or (B,) to be multiplied with (B, ...)."""
    return step.reshape(step.shape + (1,) * (value.ndim - 1)) if step.ndim else step
