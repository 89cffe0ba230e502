"""Quaternions of both orders, rotations, and what turning axes do to vectors.

Arrays of traced scalars (dtype object) will do for rotations and `skew`, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.interop.mujoco.places import NAMES, TURNING, Place

Array = npt.NDArray[Any]


def quaternion_moved(place: Place, coordinates: Array, by: int) -> Array:
    """The last four of a ball's or free joint's coordinates rolled by one, so that w changes its end."""
    if NAMES[place.body.kind] not in TURNING:
        return coordinates
    return np.concatenate([coordinates[..., :-4], np.roll(coordinates[..., -4:], by, -1)], axis=-1)


def rotation_of(coordinates: Array) -> Array:
    """(..., 3, 3) from the base's axes to the world's, of [.. qx qy qz qw]."""
    u, w = coordinates[..., -4:-1], coordinates[..., -1:, None]
    square = np.sum(u * u, -1, keepdims=True)[..., None]
    outer = u[..., :, None] * u[..., None, :]
    return np.asarray((w * w - square) * np.eye(3) + 2.0 * (outer + w * skew(u)))


def skew(vectors: Array) -> Array:
    """(..., 3, 3) [v], so that [v] u = v x u."""
    out = np.zeros((*vectors.shape[:-1], 3, 3), vectors.dtype)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[..., j, i], out[..., i, j] = vectors[..., k], -vectors[..., k]
    return out


def turn_linear(velocity: Array, rotation: Array) -> None:
    """Turn the linear half in place."""
    velocity[..., :3] = (rotation @ velocity[..., :3, None])[..., 0]


def sway(rates: Array) -> Array:
    """w x v: what base axes that turn leave out of accelerations."""
    return np.asarray(np.cross(rates[..., 3:], rates[..., :3]))
