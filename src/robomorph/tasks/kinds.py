"""How raw errors, which are polynomial in the poses, become rows of a residual.

Native inverse kinematics has these three kinds in C++ (IkBlockKind); here they are over a generic scalar, for
programs and as their meaning in plain words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from robomorph.spatial import Scalar, Vec3, atan2, dot3, maximum, reciprocal, scale3, select, sqrt

_TINY = 1e-30  # divisors that are not selected stay away from zero, in float32 too
_HALF_TURN_SOON = -0.7  # cosine from which on the sine says too little about a rotation's axis


@dataclass(frozen=True, eq=False)
class Kind:
    """`native`: its number in native code. `turning`: rows are angles (rad). `sizes`: how many raw errors and
    rows it has; None: any number, and as many rows. `rows`: rows from raw errors."""

    native: int
    turning: bool
    sizes: tuple[int, int] | None
    rows: Callable[[Sequence[Scalar]], list[Scalar]]


def rotation_rows(raw: Sequence[Scalar]) -> list[Scalar]:
    """The rotation vector (3,) of a rotation (9,), row-major."""
    sine: Vec3 = (0.5 * (raw[7] - raw[5]), 0.5 * (raw[2] - raw[6]), 0.5 * (raw[3] - raw[1]))
    cosine = 0.5 * (raw[0] + raw[4] + raw[8] - 1.0)
    size = sqrt(dot3(sine, sine))
    angle = atan2(size, cosine)
    scale = select(size - 1e-7, angle * reciprocal(maximum(size, _TINY)), 1.0)
    far = scale3(angle, _axis_near_half_turn(raw, cosine, sine))
    near = scale3(scale, sine)
    return [select(cosine - _HALF_TURN_SOON, a, b) for a, b in zip(near, far, strict=True)]


def _axis_near_half_turn(raw: Sequence[Scalar], cosine: Scalar, sine: Vec3) -> Vec3:
    """The unit axis from the symmetric part (1 - cos) a a^T + cos: its column with the largest diagonal."""
    x, y, z = (
        [0.5 * (raw[3 * i + k] + raw[3 * k + i]) - (cosine if i == k else 0.0) for i in range(3)]
        for k in range(3)
    )
    first = [select(raw[0] - raw[4], a, b) for a, b in zip(x, y, strict=True)]
    a, b, c = (select(maximum(raw[0], raw[4]) - raw[8], p, q) for p, q in zip(first, z, strict=True))
    length = sqrt(dot3((a, b, c), (a, b, c)))
    sign = select(dot3((a, b, c), sine), 1.0, -1.0)
    return scale3(sign * reciprocal(maximum(length, _TINY)), (a, b, c))


def direction_rows(raw: Sequence[Scalar]) -> list[Scalar]:
    """The angle along u and v from (cos, sin u, sin v); half a turn away any direction will do."""
    cosine, u, v = raw
    size = sqrt(u * u + v * v)
    scale = select(size - 1e-12, atan2(size, cosine) * reciprocal(maximum(size, _TINY)), 1.0)
    return [select(maximum(size - 1e-12, cosine), scale * u, math.pi), scale * v]


LINEAR = Kind(0, False, None, list)  # raw errors are the rows
ROTATION = Kind(1, True, (9, 3), rotation_rows)  # raw errors are a rotation matrix
DIRECTION = Kind(2, True, (3, 2), direction_rows)  # raw errors are cosine and sines of an angle
