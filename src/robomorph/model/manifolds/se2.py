"""Motions of a plane: [x, y, cos a, sin a], steps [vx, vy, wz] in the moved axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robomorph.model.manifolds.base import Array, Manifold
from robomorph.spatial import Scalar


class SE2(Manifold):
    nq = 4
    nv = 3
    unit_part = slice(2, 4)

    def neutral(self) -> list[float]:
        return [0.0, 0.0, 1.0, 0.0]

    def integrate(self, q: Array, dq: Array) -> Array:
        x, y, c, s = np.moveaxis(q, -1, 0)
        vx, vy, a = np.moveaxis(dq, -1, 0)
        # The exponential of SE(2): the arc's chord is V(a) v.
        near, far = np.sinc(a / np.pi), _one_minus_cos_over(a)
        dx, dy = near * vx - far * vy, far * vx + near * vy
        ca, sa = np.cos(a), np.sin(a)
        cc, ss = c * ca - s * sa, s * ca + c * sa
        norm = np.hypot(cc, ss)
        return np.stack([x + c * dx - s * dy, y + s * dx + c * dy, cc / norm, ss / norm], axis=-1)

    def difference(self, q0: Array, q1: Array) -> Array:
        x0, y0, c0, s0 = np.moveaxis(q0, -1, 0)
        x1, y1, c1, s1 = np.moveaxis(q1, -1, 0)
        a = np.arctan2(c0 * s1 - s0 * c1, c0 * c1 + s0 * s1)
        dx, dy = x1 - x0, y1 - y0
        px, py = c0 * dx + s0 * dy, c0 * dy - s0 * dx
        near, far = np.sinc(a / np.pi), _one_minus_cos_over(a)
        det = near * near + far * far
        return np.stack([(near * px + far * py) / det, (near * py - far * px) / det, a], axis=-1)

    def tangent(self, q: Sequence[Scalar]) -> list[list[Scalar]]:
        c, s = q[2], q[3]
        return [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, -s], [0.0, 0.0, c]]

    def random(self, rng: np.random.Generator, lower: float, upper: float, shape: tuple[int, ...]) -> Array:
        a = rng.uniform(-np.pi, np.pi, shape)
        xy = rng.uniform(-1.0, 1.0, (*shape, 2))
        return np.concatenate([xy, np.cos(a)[..., None], np.sin(a)[..., None]], axis=-1)


def _one_minus_cos_over(a: Array) -> Array:
    """(1 - cos a) / a, without loss near zero."""
    return np.asarray(np.sin(a / 2) * np.sinc(a / 2 / np.pi))
