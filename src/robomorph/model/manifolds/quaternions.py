"""Unit quaternions [x y z w] in arrays (..., 4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robomorph.model.manifolds.base import Array
from robomorph.spatial import Scalar


def product(a: Array, b: Array) -> Array:
    av, aw, bv, bw = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    vector = aw * bv + bw * av + np.cross(av, bv)
    return np.concatenate([vector, aw * bw - np.sum(av * bv, axis=-1, keepdims=True)], axis=-1)


def inverse(quaternion: Array) -> Array:
    return np.asarray(quaternion * np.array([-1.0, -1.0, -1.0, 1.0], dtype=quaternion.dtype))


def rotate(quaternion: Array, v: Array) -> Array:
    """The vectors v (..., 3), turned."""
    u, w = quaternion[..., :3], quaternion[..., 3:]
    t = 2 * np.cross(u, v)
    return np.asarray(v + w * t + np.cross(u, t))


def half_sinc(angle: Array) -> Array:
    """sin(a/2) / a."""
    return np.asarray(0.5 * np.sinc(angle / (2 * np.pi)))


def turned(quaternion: Array, w: Array) -> Array:
    """Turned further by the rotation vector w (..., 3) in the turned axes; of unit length again."""
    angle = np.linalg.norm(w, axis=-1, keepdims=True)
    step = np.concatenate([half_sinc(angle) * w, np.cos(angle / 2)], axis=-1)
    out = product(quaternion, step)
    return np.asarray(out / np.linalg.norm(out, axis=-1, keepdims=True))


def turn_between(q0: Array, q1: Array) -> Array:
    """The rotation vector (..., 3), at most pi long, that turns q0 to q1, in the axes of either."""
    turn = product(inverse(q0), q1)
    turn = np.where(turn[..., 3:] < 0, -turn, turn)  # the shorter way round
    length = np.linalg.norm(turn[..., :3], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(length, turn[..., 3:])
    tiny = length < 1e-12
    return np.asarray(turn[..., :3] * np.where(tiny, 2.0, angle / np.where(tiny, 1.0, length)))


def turning(quaternion: Sequence[Scalar]) -> list[list[Scalar]]:
    """(4, 3) the change of [x y z w] with a small turn w in the turned axes: half of quaternion times w."""
    x, y, z, w = (0.5 * c for c in quaternion)
    return [[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]]


def random(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """(*shape, 4), uniform over all rotations."""
    quaternion = rng.normal(size=(*shape, 4))
    return np.asarray(quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True))
