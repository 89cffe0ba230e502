"""Poses as the page takes them: [x y z qx qy qz qw]."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.model.rotation import rotation_from_quaternion

Array = npt.NDArray[np.float64]
DIGITS = 7  # decimals that are sent: a tenth of a micrometre


def sevens(matrices: npt.NDArray[Any]) -> Array:
    """(..., 7) of poses (..., 4, 4): position, then the unit quaternion, its scalar last and not negative."""
    m = np.asarray(matrices, np.float64)
    out = np.empty((*m.shape[:-2], 7))
    out[..., :3] = m[..., :3, 3]
    out[..., 3:] = quaternions(m[..., :3, :3])
    return out


def quaternions(rotations: Array) -> Array:
    """(..., 4) xyzw of rotations (..., 3, 3). The largest entry is found first, so that none is divided by
    what is nearly zero."""
    xx, yy, zz = (rotations[..., k, k] for k in range(3))
    squares = np.stack([1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz, 1 + xx + yy + zz], axis=-1)
    products = np.empty((*squares.shape, 4))  # 4 q q^T: any of its rows is q but for its length
    for k in range(4):
        products[..., k, k] = squares[..., k]
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        products[..., i, j] = products[..., j, i] = rotations[..., i, j] + rotations[..., j, i]
        products[..., k, 3] = products[..., 3, k] = rotations[..., j, i] - rotations[..., i, j]
    largest = np.argmax(squares, axis=-1)[..., None, None]
    row = np.take_along_axis(products, largest, axis=-2)[..., 0, :]
    unit = row / np.linalg.norm(row, axis=-1, keepdims=True)
    out: Array = np.where(unit[..., 3:] < 0.0, -unit, unit)
    return out


def matrix(position: Array, quaternion: Array) -> Array:
    """(4, 4) of a position (3,) and a unit quaternion (4,) xyzw."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation_from_quaternion(quaternion, 0.0), position
    return pose


def rounded(values: npt.NDArray[Any]) -> Any:
    """Lists for JSON with as many digits as can be seen."""
    return np.round(values, DIGITS).tolist()
