"""Rotations of space: a unit quaternion [qx qy qz qw], steps are rotation vectors in the turned axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robomorph.model.manifolds import quaternions
from robomorph.model.manifolds.advance import Rows, Step, StepSlopes, identity, scaled
from robomorph.model.manifolds.base import Array, Manifold
from robomorph.spatial import RotationVector, Scalar, unit_product


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

    def advance(self, step: Step) -> tuple[list[Scalar], list[Scalar]]:
        rates = [v + step.seconds * a for v, a in zip(step.qd, step.qdd, strict=True)]
        return unit_product(step.q, _turn(rates, step.seconds).quaternion), rates

    def advance_slopes(self, step: Step) -> StepSlopes:
        h = step.seconds
        rates = [v + h * a for v, a in zip(step.qd, step.qdd, strict=True)]
        turn = _turn(rates, h)
        back: Rows = [list(row) for row in turn.turn.rows]
        by_rate = scaled(h, turn.slopes())
        return StepSlopes(back, by_rate, scaled(h, by_rate), identity(3), identity(3, h))

    def random(self, rng: np.random.Generator, lower: float, upper: float, shape: tuple[int, ...]) -> Array:
        return quaternions.random(rng, shape)


def _turn(rates: Sequence[Scalar], seconds: Scalar) -> RotationVector:
    x, y, z = (seconds * rate for rate in rates)
    return RotationVector((x, y, z))
