"""Rigid-body inertia: mass, centre of mass and rotational inertia in one frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Array, frozen
from .exact import Exact
from .pose import Pose, skew

# Rounding of published figures may push a zero eigenvalue this far (relative to the largest) below zero.
_ROUNDING = 1e-9
# A body smaller than this many m^2 (moment over mass) is a point; noise far below that is not a fault.
_POINT = 1e-9
# Principal moments may exceed the triangle inequality by this share before we speak of it.
_TRIANGLE_SLACK = 1e-6


@dataclass(frozen=True, eq=False)
class Inertia(Exact):
    """The inertia of a rigid body, expressed in some frame F.

    mass: kg. com: (3,) m, centre of mass in F. tensor: (3, 3) kg m^2, about the centre of mass, in F's axes.
    """

    mass: float
    com: Array
    tensor: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", float(self.mass) + 0.0)
        object.__setattr__(self, "com", frozen(self.com, (3,)))
        object.__setattr__(self, "tensor", frozen(self.tensor, (3, 3)))

    @staticmethod
    def zero() -> Inertia:
        """No mass at all."""
        return Inertia(0.0, np.zeros(3), np.zeros((3, 3)))

    @property
    def is_zero(self) -> bool:
        """Whether neither mass nor rotational inertia is present."""
        return self.mass == 0.0 and not self.tensor.any()

    @property
    def first_moment(self) -> Array:
        """mass * com, (3,) kg m."""
        return frozen(self.mass * self.com, (3,))

    @property
    def tensor_at_origin(self) -> Array:
        """The (3, 3) rotational inertia about the frame's origin, kg m^2."""
        return frozen(self.tensor + _shifted(self.mass, self.com), (3, 3))

    def moved(self, pose: Pose) -> Inertia:
        """The same body expressed in the parent frame; `pose` is this frame's pose in it."""
        rotation = pose.rotation
        tensor = rotation @ self.tensor @ rotation.T
        com = rotation @ self.com + pose.translation
        return Inertia(self.mass, com, 0.5 * (tensor + tensor.T))

    def __add__(self, other: Inertia) -> Inertia:
        """Both bodies welded together; both must be expressed in the same frame."""
        if self.is_zero or other.is_zero:
            return other if self.is_zero else self
        mass = self.mass + other.mass
        share = other.mass / mass if mass > 0.0 else 0.0
        apart = other.com - self.com
        # Written with the distance between the centres: no cancellation when both are far from the origin.
        tensor = self.tensor + other.tensor + _shifted(self.mass * share, apart)
        return Inertia(mass, self.com + share * apart, tensor)

    @property
    def is_singular(self) -> bool:
        """Whether some principal moment is zero or less: a point, a thin rod, or nothing."""
        return bool(np.linalg.eigvalsh(self.tensor)[0] <= 0.0)

    @property
    def is_indefinite(self) -> bool:
        """Whether some principal moment is negative beyond rounding."""
        moments = np.linalg.eigvalsh(self.tensor)
        scale = max(float(np.abs(moments).max()), _POINT * self.mass)
        return bool(moments[0] < -_ROUNDING * scale)

    @property
    def breaks_triangle_inequality(self) -> bool:
        """Whether one principal moment exceeds the sum of the others, which no mass distribution can do."""
        moments = np.linalg.eigvalsh(self.tensor)
        slack = _ROUNDING * _POINT * self.mass
        return bool(moments[2] > (moments[0] + moments[1]) * (1.0 + _TRIANGLE_SLACK) + slack)


def _shifted(mass: float, offset: Array) -> Array:
    """The (3, 3) rotational inertia of a point `mass` at `offset` (3,)."""
    cross = skew(offset)
    return np.asarray(mass * (cross @ cross.T))
