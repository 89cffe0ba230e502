"""The axes of joints that turn freely."""

from __future__ import annotations

from robomorph.spatial import Vec3

# One unit vector for each axis.
AXES: tuple[Vec3, Vec3, Vec3] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
