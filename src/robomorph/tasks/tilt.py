"""One axis of a frame, by two angles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from robomorph.spatial import Scalar, cross3, dot3
from robomorph.tasks.axis import Axis
from robomorph.tasks.base import BoundSize, Words
from robomorph.tasks.numbers import Array, read_bounds
from robomorph.tasks.scene import Matrix, Scene
from robomorph.tasks.turning import combine, sine_bounds, turn_rows


@dataclass(frozen=True)
class Tilt(Axis):
    """As `Axis`, but bounds are on the two angles (rad) along normals of the reference direction, all finite,
    that together stay below half a turn. Which normals those are is the task's choice, so give both the same.

    Rows are sin(a) / a times those angles and the cosine of the angle a between axis and direction. Unlike
    the cosine alone they have a slope where the axis points as it should: what is to stay level within a
    hundredth of a radian is held better so. Conservative by the factor sin(A) / A, as `Orientation` is, and
    by a square inside of what might be a circle.
    """

    name = "tilt"
    words = Words(
        "Tilt(frame, axis)",
        "a direction",
        "angle along two normals (rad)",
        "angles along the two",
        "sin(a) / a times the angles, and cos(a); conservative",
    )
    bound_size = BoundSize(2, 3)

    def bound_rows(self, scene: Scene, reference: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        _, angular = scene.columns(self.frame)
        u, v, d = turn_rows(reference)
        world = scene.pose(self.frame).vector(self.axis)
        values = [-dot3(world, v), dot3(world, u), dot3(world, d)]
        slopes = (cross3(v, world), cross3(world, u), cross3(world, d))
        return values, [combine(slope, angular) for slope in slopes]

    def row_bounds(self, lower: Any, upper: Any) -> tuple[Array, Array]:
        low, high = read_bounds(self.title, 2, lower, upper)
        return sine_bounds(self.title, low, high)
