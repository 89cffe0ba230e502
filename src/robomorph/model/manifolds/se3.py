"""Motions of space: [x y z qx qy qz qw], steps [linear, angular] in the moved axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robomorph.model.manifolds import quaternions
from robomorph.model.manifolds.base import Array, Manifold
from robomorph.spatial import Scalar, quaternion_turn


class SE3(Manifold):
    nq = 7
    nv = 6
    unit_part = slice(3, 7)

    def neutral(self) -> list[float]:
        return [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]

    def integrate(self, q: Array, dq: Array) -> Array:
        v, w = dq[..., :3], dq[..., 3:]
        angle = np.linalg.norm(w, axis=-1, keepdims=True)
        # V(w) v = v + (1-cos a)/a^2 w x v + (a - sin a)/a^3 w x (w x v)
        wv = np.cross(w, v)
        travel = (
            v + 2 * quaternions.half_sinc(angle) ** 2 * wv + _a_minus_sin_over_cube(angle) * np.cross(w, wv)
        )
        place = q[..., :3] + quaternions.rotate(q[..., 3:], travel)
        return np.concatenate([place, quaternions.turned(q[..., 3:], w)], axis=-1)

    def difference(self, q0: Array, q1: Array) -> Array:
        w = quaternions.turn_between(q0[..., 3:], q1[..., 3:])
        p = quaternions.rotate(quaternions.inverse(q0[..., 3:]), q1[..., :3] - q0[..., :3])
        wp = np.cross(w, p)
        angle = np.linalg.norm(w, axis=-1, keepdims=True)
        v = p - 0.5 * wp + _inverse_bend(angle) * np.cross(w, wp)
        return np.concatenate([v, w], axis=-1)

    def tangent(self, q: Sequence[Scalar]) -> list[list[Scalar]]:
        axes = quaternion_turn(q[3:]).rows
        place = [[*(axis[i] for axis in axes), 0.0, 0.0, 0.0] for i in range(3)]
        return place + [[0.0, 0.0, 0.0, *row] for row in quaternions.turning(q[3:])]

    def random(self, rng: np.random.Generator, lower: float, upper: float, shape: tuple[int, ...]) -> Array:
        quaternion = quaternions.random(rng, shape)
        return np.concatenate([rng.uniform(-1.0, 1.0, (*shape, 3)), quaternion], axis=-1)


def _a_minus_sin_over_cube(a: Array) -> Array:
    """(a - sin a) / a^3, by its series near zero."""
    small = np.abs(a) < 0.05
    safe = np.where(small, 1.0, a)
    a2 = a * a
    return np.asarray(np.where(small, 1 / 6 - a2 / 120 + a2 * a2 / 5040, (safe - np.sin(safe)) / safe**3))


def _inverse_bend(a: Array) -> Array:
    """(1 - (a/2) cot(a/2)) / a^2, by its series near zero."""
    small = np.abs(a) < 0.05
    safe = np.where(small, 1.0, a)
    a2 = a * a
    exact = (1 - 0.5 * safe / np.tan(0.5 * safe)) / (safe * safe)
    return np.asarray(np.where(small, 1 / 12 + a2 / 720 + a2 * a2 / 30240, exact))
