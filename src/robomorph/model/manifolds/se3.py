"""Motions of space: [x y z qx qy qz qw], steps [linear, angular] in the moved axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robomorph.model.manifolds import quaternions
from robomorph.model.manifolds.advance import (
    Rows,
    Step,
    StepSlopes,
    blocks,
    identity,
    plus,
    scaled,
    skew,
    times,
    zeros,
)
from robomorph.model.manifolds.base import Array, Manifold
from robomorph.spatial import (
    RotationVector,
    Scalar,
    Vec3,
    add3,
    cross3,
    quaternion_turn,
    scale3,
    unit_product,
)


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

    def advance(self, step: Step) -> tuple[list[Scalar], list[Scalar]]:
        speed, spin, turn = _after(step)
        travel = quaternion_turn(step.q[3:]).back(speed)
        place = [p + step.seconds * t for p, t in zip(step.q[:3], travel, strict=True)]
        turned = turn.turn.into(speed)
        return [*place, *unit_product(step.q[3:], turn.quaternion)], [*turned, *spin]

    def advance_slopes(self, step: Step) -> StepSlopes:
        """With s the linear velocity after the step in the axes before it, E the turn and J its slopes:
        dx' = E^T (dx - h [s] dt + h ds), dt' = E^T dt + J dw', dv' = E^T ds + [v'] J dw'."""
        h, none = step.seconds, zeros(3, 3)
        speed, _, turn = _after(step)
        back: Rows = [list(row) for row in turn.turn.rows]
        slopes = scaled(h, turn.slopes())
        bent = times(skew(turn.turn.into(speed)), slopes)
        v, w = _three(step.qd[:3]), _three(step.qd[3:])
        by_speed = times(back, plus(identity(3), scaled(h, skew(w))))
        by_spin = scaled(-h, times(back, skew(v)))
        eye = identity(3)
        return StepSlopes(
            blocks([[back, scaled(-h, times(back, skew(speed)))], [none, back]]),
            blocks([[scaled(h, by_speed), scaled(h, by_spin)], [none, slopes]]),
            blocks([[scaled(h * h, back), none], [none, scaled(h, slopes)]]),
            blocks([[by_speed, plus(by_spin, bent)], [none, eye]]),
            blocks([[scaled(h, back), scaled(h, bent)], [none, identity(3, h)]]),
        )

    def random(self, rng: np.random.Generator, lower: float, upper: float, shape: tuple[int, ...]) -> Array:
        quaternion = quaternions.random(rng, shape)
        return np.concatenate([rng.uniform(-1.0, 1.0, (*shape, 3)), quaternion], axis=-1)


def _three(values: Sequence[Scalar]) -> Vec3:
    x, y, z = values
    return x, y, z


def _after(step: Step) -> tuple[Vec3, Vec3, RotationVector]:
    """The velocity after a step, its linear part in the axes before it, and the turn that the step makes."""
    h = step.seconds
    v, w = _three(step.qd[:3]), _three(step.qd[3:])
    push = add3(_three(step.qdd[:3]), cross3(w, v))
    spin = add3(w, scale3(h, _three(step.qdd[3:])))
    return add3(v, scale3(h, push)), spin, RotationVector(scale3(h, spin))


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
