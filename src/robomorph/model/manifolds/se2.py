"""Motions of a plane: [x, y, cos a, sin a], steps [vx, vy, wz] in the moved axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robomorph.model.manifolds.advance import Step, StepSlopes
from robomorph.model.manifolds.base import Array, Manifold
from robomorph.spatial import Scalar, cos, sin, unit


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

    def advance(self, step: Step) -> tuple[list[Scalar], list[Scalar]]:
        x, y, c, s = step.q
        sx, sy, spin, ce, se = _after(step)
        h = step.seconds
        place = [x + h * (c * sx - s * sy), y + h * (s * sx + c * sy)]
        turned = unit([c * ce - s * se, s * ce + c * se])
        return [*place, *turned], [ce * sx + se * sy, ce * sy - se * sx, spin]

    def advance_slopes(self, step: Step) -> StepSlopes:
        """As for SE3, with one angle."""
        h, (vx, vy, w) = step.seconds, step.qd
        sx, sy, _, ce, se = _after(step)
        nx, ny = ce * sx + se * sy, ce * sy - se * sx  # the velocity after the step, in its own axes
        hw = h * w
        # By the speed before: E^T (1 + h [w]); by the spin: h E^T (z x v).
        along = [[ce + se * hw, se - ce * hw], [ce * hw - se, ce + se * hw]]
        across = [h * (se * vx - ce * vy), h * (ce * vx + se * vy)]
        turned = [h * (se * sx - ce * sy), h * (ce * sx + se * sy)]  # h E^T (z x s)
        bent = [h * ny, -(h * nx)]
        return StepSlopes(
            [[ce, se, turned[0]], [-se, ce, turned[1]], [0.0, 0.0, 1.0]],
            [[*(h * x for x in along[i]), h * across[i]] for i in range(2)] + [[0.0, 0.0, h]],
            [[h * h * ce, h * h * se, 0.0], [-(h * h * se), h * h * ce, 0.0], [0.0, 0.0, h * h]],
            [[*along[i], across[i] + bent[i]] for i in range(2)] + [[0.0, 0.0, 1.0]],
            [[h * ce, h * se, h * bent[0]], [-(h * se), h * ce, h * bent[1]], [0.0, 0.0, h]],
        )

    def random(self, rng: np.random.Generator, lower: float, upper: float, shape: tuple[int, ...]) -> Array:
        a = rng.uniform(-np.pi, np.pi, shape)
        xy = rng.uniform(-1.0, 1.0, (*shape, 2))
        return np.concatenate([xy, np.cos(a)[..., None], np.sin(a)[..., None]], axis=-1)


def _after(step: Step) -> tuple[Scalar, Scalar, Scalar, Scalar, Scalar]:
    """The linear velocity after a step in the axes before it, the spin, and the turn's cosine and sine."""
    h, (vx, vy, w), (ax, ay, aw) = step.seconds, step.qd, step.qdd
    spin = w + h * aw
    turn = h * spin
    return vx + h * (ax - w * vy), vy + h * (ay + w * vx), spin, cos(turn), sin(turn)


def _one_minus_cos_over(a: Array) -> Array:
    """(1 - cos a) / a, without loss near zero."""
    return np.asarray(np.sin(a / 2) * np.sinc(a / 2 / np.pi))
