"""Poses: where one frame sits in another, with right angles kept exact."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from .arrays import Array, frozen
from .exact import Exact

_QUARTER = math.pi / 2
# Beyond this size the rounding of a float is no longer small against any useful snap tolerance.
_LARGEST_SNAPPED_ANGLE = 100.0
_EXACT_COS_SIN = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))


def _identity() -> Array:
    return frozen(np.eye(3), (3, 3))


def _origin() -> Array:
    return frozen(np.zeros(3), (3,))


@dataclass(frozen=True, eq=False)
class Pose(Exact):
    """The pose of a child frame in a parent frame: x_parent = rotation @ x_child + translation.

    rotation: (3, 3) proper rotation. translation: (3,) metres, in the parent's axes.
    """

    rotation: Array = field(default_factory=_identity)
    translation: Array = field(default_factory=_origin)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rotation", frozen(self.rotation, (3, 3)))
        object.__setattr__(self, "translation", frozen(self.translation, (3,)))

    @staticmethod
    def identity() -> Pose:
        """The pose of a frame in itself."""
        return Pose()

    @staticmethod
    def from_matrix(matrix: Array) -> Pose:
        """The pose of a homogeneous (4, 4) matrix."""
        return Pose(matrix[:3, :3], matrix[:3, 3])

    @property
    def matrix(self) -> Array:
        """The homogeneous (4, 4) matrix of this pose."""
        matrix = np.eye(4)
        matrix[:3, :3] = self.rotation
        matrix[:3, 3] = self.translation
        return frozen(matrix, (4, 4))

    def compose(self, child: Pose) -> Pose:
        """The pose of `child`, given in this frame, seen from this frame's parent."""
        rotation = self.rotation @ child.rotation
        return Pose(rotation, self.rotation @ child.translation + self.translation)

    def inverse(self) -> Pose:
        """The pose of the parent frame in this frame."""
        return Pose(self.rotation.T, -(self.rotation.T @ self.translation))


def right_angle_error(angle: float) -> float:
    """Distance (rad) of `angle` from the nearest multiple of pi/2; infinite for angles too large to tell."""
    if abs(angle) > _LARGEST_SNAPPED_ANGLE:
        return math.inf
    return abs(angle - round(angle / _QUARTER) * _QUARTER)


def snapped_angle(angle: float, snap: float) -> float:
    """`angle` (rad), or the multiple of pi/2 that is within `snap` of it."""
    return round(angle / _QUARTER) * _QUARTER if right_angle_error(angle) <= snap else angle


def snapped_axis(axis: Array, snap: float) -> Array:
    """The unit vector `axis` (3,) with entries within `snap` of 0, and so of +-1, made exact."""
    small = np.abs(axis) <= snap
    exact = np.where(small, 0.0, axis)
    unit: Array = np.sign(exact) if small.sum() == 2 else exact / np.linalg.norm(exact)
    return unit


def cos_sin(angle: float, snap: float) -> tuple[float, float]:
    """cos and sin of `angle` (rad); exactly 0 and +-1 within `snap` of a multiple of pi/2."""
    if right_angle_error(angle) <= snap:
        return _EXACT_COS_SIN[round(angle / _QUARTER) % 4]
    return math.cos(angle), math.sin(angle)


def rotation_from_rpy(rpy: Array, snap: float) -> Array:
    """The (3, 3) rotation Rz(yaw) Ry(pitch) Rx(roll) of URDF's fixed-axis angles (rad)."""
    (cr, sr), (cp, sp), (cy, sy) = (cos_sin(float(angle), snap) for angle in rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def skew(vector: Array) -> Array:
    """The (3, 3) matrix S with S @ u = vector x u."""
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def rotation_about(axis: Array, cosine: float, sine: float) -> Array:
    """The (3, 3) rotation about a unit `axis` by the angle with this cosine and sine."""
    return cosine * np.eye(3) + sine * skew(axis) + (1.0 - cosine) * np.outer(axis, axis)


def axis_frame(axis: Array) -> Array:
    """A rotation whose third column is the unit vector `axis`; permutes axes if it is a coordinate axis."""
    if np.count_nonzero(axis) == 1:
        k = int(np.argmax(np.abs(axis)))
        out = np.zeros((3, 3))
        out[k, 2] = out[(k + 1) % 3, 0] = np.sign(axis[k])
        out[(k + 2) % 3, 1] = 1.0
        return out
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(axis, x), axis], axis=1)
