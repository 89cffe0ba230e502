"""One axis of a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.spatial import Scalar, cross3, dot3
from robomorph.tasks.base import BoundSize, FrameTask, Size, Words
from robomorph.tasks.kinds import DIRECTION
from robomorph.tasks.numbers import Array, inward, read_bounds, unit_vector
from robomorph.tasks.scene import Matrix, Scene
from robomorph.tasks.slopes import direction_slopes
from robomorph.tasks.turning import combine, turn_rows


@dataclass(frozen=True)
class Axis(FrameTask):
    """Where `axis` (3,), a direction in a frame's own axes, points, from the reference direction (..., 3) in
    the world's; turns about it are free. Any length will do for both.

    The numbers of a reference are two directions normal to it, then itself. Raw errors are cosine and sines
    of the angle between axis and direction, rows that angle (rad) along the two normals.

    One bound on each side, on the angle (rad, 0 to pi); the row that holds it is its cosine, and nothing is
    lost.
    """

    axis: tuple[float, float, float]
    name = "axis"
    words = Words(
        "Axis(frame, axis)",
        "a direction",
        "angle along two normals (rad)",
        "the angle between the two",
        "its cosine",
    )
    kind = DIRECTION
    unit = "rad"
    size = Size(9, 3, 2)
    bound_size = BoundSize(1, 1)

    def __post_init__(self) -> None:
        axis = unit_vector(f"axis of {self.frame!r}", self.axis)
        if axis.ndim != 1:
            raise ArgumentError(f"axis of {self.frame!r}: expected shape (3,), found {axis.shape}")
        object.__setattr__(self, "axis", tuple(float(a) for a in axis))

    def read(self, reference: npt.ArrayLike) -> Array:
        direction = unit_vector(f"direction of {self.frame!r}", reference)
        return _with_normals(direction).reshape(*direction.shape[:-1], 9)

    def residual(self, scene: Scene, reference: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        pose = scene.pose(self.frame)
        _, angular = scene.columns(self.frame)
        u, v, d = turn_rows(reference)
        world = pose.vector(self.axis)
        raw = [dot3(world, d), -dot3(world, v), dot3(world, u)]
        return raw, [combine(u, angular), combine(v, angular)]

    def exact_rows(self, scene: Scene, reference: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        raw, (along_u, along_v) = self.residual(scene, reference)
        _, angular = scene.columns(self.frame)
        about = combine(turn_rows(reference)[2], angular)
        return self.rows(raw), direction_slopes(raw, [along_u, along_v, about])

    def bound_rows(self, scene: Scene, reference: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        _, angular = scene.columns(self.frame)
        _, _, d = turn_rows(reference)
        world = scene.pose(self.frame).vector(self.axis)
        return [dot3(world, d)], [combine(cross3(world, d), angular)]

    def row_bounds(self, lower: Any, upper: Any) -> tuple[Array, Array]:
        low, high = read_bounds(self.title, 1, lower, upper)
        if (high < 0.0).any() or (low > np.pi).any():
            raise ArgumentError(
                f"bounds of {self.title}: an angle between two directions is from 0 to pi rad, found "
                f"{low.max():g} to {high.min():g}"
            )
        low, high = np.clip(low, 0.0, np.pi), np.clip(high, 0.0, np.pi)
        least, most = inward(np.cos(high), np.cos(low))
        return np.where(high == np.pi, -np.inf, least), np.where(low == 0.0, np.inf, most)


def _with_normals(direction: Array) -> Array:
    """Rows u, v, d (..., 3, 3): d the direction, u and v normal to it and to each other, u x v = d."""
    least = np.abs(direction).argmin(axis=-1)
    u = np.cross(np.eye(3)[least], direction)
    u /= np.linalg.norm(u, axis=-1, keepdims=True)
    return np.stack([u, np.cross(direction, u), direction], axis=-2)
