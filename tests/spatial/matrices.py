"""Spatial algebra the plain way: 6x6 NumPy matrices, angular first (Featherstone)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def skew(v: Array) -> Array:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0.0]])


def motion_cross(v: Array) -> Array:
    """v x, on motions."""
    out = np.zeros((6, 6))
    out[:3, :3] = out[3:, 3:] = skew(v[:3])
    out[3:, :3] = skew(v[3:])
    return out


def force_cross(v: Array) -> Array:
    """v x*, on forces."""
    return np.asarray(-motion_cross(v).T)


def motion_transform(rotation: Array, offset: Array) -> Array:
    """From parent to child: the child at `offset`, its axes the columns of `rotation`, in the parent."""
    out = np.zeros((6, 6))
    out[:3, :3] = out[3:, 3:] = rotation.T
    out[3:, :3] = -rotation.T @ skew(offset)
    return out


def inertia_matrix(mass: float, first: Array, second: Array) -> Array:
    """The spatial inertia: second moments about the origin, first moment, mass."""
    out = np.zeros((6, 6))
    out[:3, :3] = second
    out[:3, 3:] = skew(first)
    out[3:, :3] = skew(first).T
    out[3:, 3:] = mass * np.eye(3)
    return out


def axis_rotation(axis: int, angle: float) -> Array:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    out = np.eye(3)
    out[i, i] = out[j, j] = np.cos(angle)
    out[i, j], out[j, i] = -np.sin(angle), np.sin(angle)
    return out
