"""The turn by a rotation vector over generic scalars: exact and smooth at every angle, none included."""

from __future__ import annotations

import math
from collections.abc import Sequence

from robomorph.spatial.quaternion import quaternion_turn
from robomorph.spatial.scalar import Scalar, cos, maximum, minimum, reciprocal, select, sin, sqrt
from robomorph.spatial.transform import Matrix3
from robomorph.spatial.vectors import Vec3, dot3

Rows = list[list[Scalar]]

# Below an angle of 1 series in its square, which have no 0/0 and neither have their derivatives. Nine terms
# are good to 1e-18 there.
_TERMS = 9
_HALF_COSINE = [(-0.25) ** k / math.factorial(2 * k) for k in range(_TERMS)]
_HALF_SINC = [0.5 * (-0.25) ** k / math.factorial(2 * k + 1) for k in range(_TERMS)]
_BEND = [(-1.0) ** k / math.factorial(2 * k + 3) for k in range(_TERMS)]


class RotationVector:
    """Of `vector` (rad about its direction), whose length is a: functions of a^2 that are smooth at none."""

    def __init__(self, vector: Vec3) -> None:
        self.vector = vector
        self.square = dot3(vector, vector)
        # Each side of the choice is only asked where it is sound: the other's slopes stay finite, too. Where
        # the choice changes, the far side is not at its bound, which has no slope.
        self._near, self._far = minimum(self.square, 1.0), maximum(self.square, 0.5)
        self._angle = sqrt(self._far)
        self.half_cosine = self._choose(cos(0.5 * self._angle), _HALF_COSINE)  # cos(a/2)
        sine = sin(0.5 * self._angle)
        self.half_sinc = self._choose(sine * reciprocal(self._angle), _HALF_SINC)  # sin(a/2)/a

    def _choose(self, far: Scalar, series: Sequence[float]) -> Scalar:
        total: Scalar = series[-1]
        for coefficient in reversed(series[:-1]):
            total = total * self._near + coefficient
        return select(self.square - 1.0, far, total)

    @property
    def quaternion(self) -> list[Scalar]:
        """[x y z w]"""
        return [*(self.half_sinc * x for x in self.vector), self.half_cosine]

    @property
    def turn(self) -> Matrix3:
        """The move to the turned axes."""
        return quaternion_turn(self.quaternion)

    def slopes(self) -> Rows:
        """(3, 3) how the turn changes with the vector, in the turned axes: the right Jacobian
        sin(a)/a 1 - (1 - cos a)/a^2 [u]x + (a - sin a)/a^3 u u^T."""
        sinc = 2.0 * (self.half_sinc * self.half_cosine)
        far = self._far
        bend = self._choose((1.0 - sinc) * reciprocal(far), _BEND)
        lean = 2.0 * (self.half_sinc * self.half_sinc)
        x, y, z = self.vector
        bx, by, bz = bend * x, bend * y, bend * z
        lx, ly, lz = lean * x, lean * y, lean * z
        xy, xz, yz = bx * y, bx * z, by * z
        return [
            [sinc + bx * x, xy + lz, xz - ly],
            [xy - lz, sinc + by * y, yz + lx],
            [xz + ly, yz - lx, sinc + bz * z],
        ]


def unit_product(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """The product of two quaternions [x y z w] of about unit length, of unit length again."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    out = [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
    return unit(out)


def unit(values: Sequence[Scalar]) -> list[Scalar]:
    """Of length one."""
    square: Scalar = values[0] * values[0]
    for x in values[1:]:
        square = square + x * x
    share = reciprocal(sqrt(square))
    return [x * share for x in values]
