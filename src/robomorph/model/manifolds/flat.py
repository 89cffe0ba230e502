"""Coordinates that simply add: angles and distances."""

from __future__ import annotations

import numpy as np

from robomorph.model.manifolds.base import Array, Manifold


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

    def random(self, rng: np.random.Generator, lower: float, upper: float, shape: tuple[int, ...]) -> Array:
        lower, upper = max(lower, -np.pi), min(upper, np.pi)
        return rng.uniform(min(lower, upper), max(lower, upper), (*shape, self.nq))

    def __repr__(self) -> str:
        return f"Flat({self.nq})"
