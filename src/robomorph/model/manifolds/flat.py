"""Coordinates that simply add: angles and distances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robomorph.model.manifolds.advance import Step, StepSlopes, identity
from robomorph.model.manifolds.base import Array, Manifold
from robomorph.spatial import Scalar


class Flat(Manifold):
    """`size` numbers; a step adds to each."""

    def __init__(self, size: int) -> None:
        self.nq = self.nv = size

    def neutral(self) -> list[float]:
        return [0.0] * self.nq

    def integrate(self, q: Array, dq: Array) -> Array:
        return np.asarray(q + dq)

    def difference(self, q0: Array, q1: Array) -> Array:
        return np.asarray(q1 - q0)

    def tangent(self, q: Sequence[Scalar]) -> list[list[Scalar]]:
        return [[1.0 if i == j else 0.0 for j in range(self.nv)] for i in range(len(q))]

    def advance(self, step: Step) -> tuple[list[Scalar], list[Scalar]]:
        h = step.seconds
        rates = [v + h * a for v, a in zip(step.qd, step.qdd, strict=True)]
        return [x + h * v for x, v in zip(step.q, rates, strict=True)], rates

    def advance_slopes(self, step: Step) -> StepSlopes:
        h, one = step.seconds, identity(self.nv)
        by_rate, by_acceleration = identity(self.nv, h), identity(self.nv, h * h)
        return StepSlopes(one, by_rate, by_acceleration, one, by_rate)

    def random(self, rng: np.random.Generator, lower: float, upper: float, shape: tuple[int, ...]) -> Array:
        """In the part of (-pi, pi) that the limits leave, or within pi of the limit if they leave none."""
        low, high = max(lower, -np.pi), min(upper, np.pi)
        if lower >= np.pi:
            low, high = lower, min(upper, lower + np.pi)
        elif upper <= -np.pi:
            low, high = max(lower, upper - np.pi), upper
        drawn = rng.uniform(low, high, (*shape, self.nq))
        return np.clip(drawn, low, high)  # the scaling may round past the end

    def __repr__(self) -> str:
        return f"Flat({self.nq})"
