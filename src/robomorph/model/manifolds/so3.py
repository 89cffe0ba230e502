"""Rotations of space: a unit quaternion [qx qy qz qw], steps are rotation vectors in the turned axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robomorph.model.manifolds import quaternions
from robomorph.model.manifolds.base import Array, Manifold
from robomorph.spatial import Scalar


class SO3(Manifold):
    nq = 4
    nv = 3
    unit_part = slice(0, 4)

    def neutral(self) -> list[float]:
        return [0.0, 0.0, 0.0, 1.0]

    def integrate(self, q: Array, dq: Array) -> Array:
        return quaternions.turned(q, dq)

    def difference(self, q0: Array, q1: Array) -> Array:
        return quaternions.turn_between(q0, q1)

    def tangent(self, q: Sequence[Scalar]) -> list[list[Scalar]]:
        return quaternions.turning(q)

    def random(self, rng: np.random.Generator, lower: float, upper: float, shape: tuple[int, ...]) -> Array:
        return quaternions.random(rng, shape)
