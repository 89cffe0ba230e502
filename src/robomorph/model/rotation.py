"""Rotations from what people write: quaternions, and matrices that are only nearly rotations."""

from __future__ import annotations

import math

import numpy as np

from .arrays import Array
from .pose import right_angle_error, rotation_from_rpy

# A matrix whose entries are this close to a rotation's is one that was rounded, and is made one again...
ROUNDED = 1e-2
# ... silently if it is this close: six digits, or float32.
EXACT = 1e-5


def nearest_rotation(matrix: Array) -> tuple[Array, float]:
    """The proper rotations (..., 3, 3) nearest to matrices, and the largest distance of an entry from them.

    The distance is infinite if some matrix is a reflection, for which nothing near is a rotation.
    """
    bounded = np.clip(matrix, -2.0, 2.0)  # no entry of a rotation exceeds 1; squares must not overflow
    u, _, v = np.linalg.svd(bounded)
    rotation = np.asarray(u @ v)
    if (np.linalg.det(rotation) < 0.0).any():
        return rotation, math.inf
    return rotation, float(np.abs(matrix - rotation).max(initial=0.0))


def rotation_from_quaternion(quaternion: Array, snap: float) -> Array:
    """The (3, 3) rotation of a unit quaternion [x, y, z, w].

    Its angles about z, y and x that are within `snap` (rad) of a right angle are taken as exactly that, as
    those of rpy are.
    """
    return snapped_rotation(_rotation(quaternion), snap)


def _rotation(quaternion: Array) -> Array:
    x, y, z, w = (float(part) for part in quaternion)
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def snapped_rotation(rotation: Array, snap: float) -> Array:
    """The (3, 3) `rotation`; those of its angles about z, y and x that are within `snap` (rad) of a right
    angle are taken as exactly that, as those of rpy are."""
    rpy = rpy_from_rotation(rotation, snap)
    if not any(right_angle_error(float(angle)) <= snap for angle in rpy):
        return rotation
    sparse = rotation_from_rpy(rpy, snap)
    # Near a pitch of pi/2 roll and yaw are known badly; then what they make is no improvement.
    return sparse if np.abs(sparse - rotation).max() <= 3.0 * snap else rotation


def rpy_from_rotation(rotation: Array, snap: float) -> Array:
    """Roll, pitch and yaw (3,), rad, with Rz(yaw) Ry(pitch) Rx(roll) = rotation.

    Within `snap` of a pitch of +-pi/2, where only their sum or difference counts, the roll is 0.
    """
    level = math.hypot(rotation[0, 0], rotation[1, 0])
    pitch = math.atan2(-rotation[2, 0], level)
    if level <= snap:
        return np.array([0.0, pitch, math.atan2(-rotation[0, 1], rotation[1, 1])])
    roll = math.atan2(rotation[2, 1], rotation[2, 2])
    return np.array([roll, pitch, math.atan2(rotation[1, 0], rotation[0, 0])])
