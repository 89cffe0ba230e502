"""Free motion in space: coordinates [x y z qx qy qz qw], velocity [linear, angular] in the child's frame."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robomorph.model.joints.base import Array, JointType
from robomorph.spatial import Matrix3, Motion, Move, Scalar, Translation


class Floating(JointType):
    urdf_types = ("floating",)
    nq = 7
    nv = 6
    has_axis = False
    coordinates = "seven numbers [x, y, z, qx, qy, qz, qw]"
    unit_part = slice(3, 7)

    @property
    def subspace(self) -> tuple[Motion, ...]:
        unit = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
        return tuple(Motion(lin=e) for e in unit) + tuple(Motion(e) for e in unit)

    def transform(self, q: Sequence[Scalar], turn: float) -> tuple[Move, ...]:
        del turn
        x, y, z, w = q[3], q[4], q[5], q[6]
        x2, y2, z2 = 2.0 * x, 2.0 * y, 2.0 * z
        xx, yy, zz = x * x2, y * y2, z * z2
        xy, xz, yz = x * y2, x * z2, y * z2
        wx, wy, wz = w * x2, w * y2, w * z2
        rows = (  # the child's axes in the parent's coordinates
            (1.0 - (yy + zz), xy + wz, xz - wy),
            (xy - wz, 1.0 - (xx + zz), yz + wx),
            (xz + wy, yz - wx, 1.0 - (xx + yy)),
        )
        return (Translation((q[0], q[1], q[2])), Matrix3(rows))

    def neutral(self) -> list[float]:
        return [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]

    def integrate(self, q: Array, dq: Array) -> Array:
        v, w = dq[..., :3], dq[..., 3:]
        angle = np.linalg.norm(w, axis=-1, keepdims=True)
        half_sinc = 0.5 * np.sinc(angle / (2 * np.pi))  # sin(a/2)/a
        step = np.concatenate([half_sinc * w, np.cos(angle / 2)], axis=-1)
        # V(w) v = v + (1-cos a)/a^2 w x v + (a - sin a)/a^3 w x (w x v)
        wv = np.cross(w, v)
        travel = v + 2 * half_sinc**2 * wv + _a_minus_sin_over_cube(angle) * np.cross(w, wv)
        quaternion = _quaternion_product(q[..., 3:], step)
        quaternion = quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True)
        return np.concatenate([q[..., :3] + _rotate(q[..., 3:], travel), quaternion], axis=-1)

    def difference(self, q0: Array, q1: Array) -> Array:
        inverse = q0[..., 3:] * np.array([-1.0, -1.0, -1.0, 1.0], dtype=q0.dtype)
        turn = _quaternion_product(inverse, q1[..., 3:])
        turn = np.where(turn[..., 3:] < 0, -turn, turn)  # the shorter way round
        length = np.linalg.norm(turn[..., :3], axis=-1, keepdims=True)
        angle = 2 * np.arctan2(length, turn[..., 3:])
        tiny = length < 1e-12
        w = turn[..., :3] * np.where(tiny, 2.0, angle / np.where(tiny, 1.0, length))
        p = _rotate(inverse, q1[..., :3] - q0[..., :3])
        wp = np.cross(w, p)
        v = p - 0.5 * wp + _inverse_bend(angle) * np.cross(w, wp)
        return np.concatenate([v, w], axis=-1)

    def random(self, rng: np.random.Generator, lower: float, upper: float, shape: tuple[int, ...]) -> Array:
        quaternion = rng.normal(size=(*shape, 4))
        quaternion /= np.linalg.norm(quaternion, axis=-1, keepdims=True)
        return np.concatenate([rng.uniform(-1.0, 1.0, (*shape, 3)), quaternion], axis=-1)


def _quaternion_product(a: Array, b: Array) -> Array:
    av, aw, bv, bw = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    vector = aw * bv + bw * av + np.cross(av, bv)
    return np.concatenate([vector, aw * bw - np.sum(av * bv, axis=-1, keepdims=True)], axis=-1)


def _rotate(quaternion: Array, v: Array) -> Array:
    u, w = quaternion[..., :3], quaternion[..., 3:]
    t = 2 * np.cross(u, v)
    return np.asarray(v + w * t + np.cross(u, t))


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
