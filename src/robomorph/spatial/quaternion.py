"""The turn of a unit quaternion over generic scalars, for every joint and manifold that has one."""

from __future__ import annotations

from collections.abc import Sequence

from robomorph.spatial.scalar import Scalar
from robomorph.spatial.transform import Matrix3


def quaternion_turn(quaternion: Sequence[Scalar]) -> Matrix3:
    """The move to axes turned by [x y z w]."""
    x, y, z, w = quaternion
    x2, y2, z2 = 2.0 * x, 2.0 * y, 2.0 * z
    xx, yy, zz = x * x2, y * y2, z * z2
    xy, xz, yz = x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    rows = (  # the turned axes in the old coordinates
        (1.0 - (yy + zz), xy + wz, xz - wy),
        (xy - wz, 1.0 - (xx + zz), yz + wx),
        (xz + wy, yz - wx, 1.0 - (xx + yy)),
    )
    return Matrix3(rows)
