"""The axes of a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt

from robomorph.algorithms.world_pose import WorldPose
from robomorph.spatial import Scalar, Vec3, dot3
from robomorph.tasks.base import BoundSize, FrameTask, Size, Words
from robomorph.tasks.kinds import ROTATION
from robomorph.tasks.numbers import Array, as_rotation, read_bounds
from robomorph.tasks.scene import Matrix, Scene
from robomorph.tasks.turning import combine, sine_bounds, turn_rows


@dataclass(frozen=True)
class Orientation(FrameTask):
    """How a frame is turned, from the reference rotation (..., 3, 3) whose columns are the axes wanted.

    Raw errors are the rotation from the reference to the frame, R Rt^T in the world's axes, or with
    `own_axes` Rt^T R in the reference's own, as weights per axis need it; rows are its rotation vector (rad).

    Bounds are on the three components of the rotation vector in the reference's own axes: angles about
    its x, y and z, all finite, that together stay below half a turn. Rows are s = sin(a) / a times that
    vector, half the antisymmetric part of E = Rt^T R, and the cosine of the angle a, from its trace. With A
    the largest angle that the bounds allow, s between sin(A) / A times the bounds and cos(a) >= min(0,
    cos(A)) imply the bounds: conservative by the factor sin(A) / A, 0.5% at A = 10 degrees.
    """

    own_axes: bool = False
    name = "orientation"
    words = Words(
        "Orientation(frame)",
        "a rotation",
        "rotation vector (rad)",
        "angles about the reference's x, y, z, below half a turn together",
        "sin(a) / a times the rotation vector, and cos(a); conservative",
    )
    kind = ROTATION
    unit = "rad"
    size = Size(9, 9, 3)
    bound_size = BoundSize(3, 4)

    @property
    def bends(self) -> bool:
        return self.own_axes

    def read(self, reference: npt.ArrayLike) -> Array:
        rotation = as_rotation(f"orientation of {self.frame!r}", reference)
        return rotation.reshape(*rotation.shape[:-2], 9)

    def residual(self, scene: Scene, reference: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        pose, turn = scene.pose(self.frame), turn_rows(reference)
        _, angular = scene.columns(self.frame)
        if self.own_axes:
            return _in_own_axes(pose, turn, angular)
        x, y, z = pose.axes
        raw: list[Scalar] = []
        for i in range(3):
            raw += [x[i] * row[0] + y[i] * row[1] + z[i] * row[2] for row in turn]
        return raw, angular

    def apart(self) -> Orientation:
        return replace(self, own_axes=True)

    def bound_rows(self, scene: Scene, reference: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        _, angular = scene.columns(self.frame)
        e, w = _in_own_axes(scene.pose(self.frame), turn_rows(reference), angular)
        sine = (0.5 * (e[7] - e[5]), 0.5 * (e[2] - e[6]), 0.5 * (e[3] - e[1]))
        trace = e[0] + e[4] + e[8]
        # dE = [w]x E, so the sine moves by (tr(E) - E) w / 2 and the cosine by -s . w.
        gain = [[0.5 * ((trace if i == k else 0.0) - e[3 * i + k]) for k in range(3)] for i in range(3)]
        rows = [combine((row[0], row[1], row[2]), w) for row in gain]
        return [*sine, 0.5 * (trace - 1.0)], [*rows, [-x for x in combine(sine, w)]]

    def row_bounds(self, lower: Any, upper: Any) -> tuple[Array, Array]:
        low, high = read_bounds(self.title, 3, lower, upper)
        return sine_bounds(self.title, low, high)


def _in_own_axes(
    pose: WorldPose, turn: tuple[Vec3, Vec3, Vec3], angular: Matrix
) -> tuple[list[Scalar], Matrix]:
    """E = Rt^T R, row-major, and the angular velocity in the reference's axes per degree of freedom."""
    columns: list[Vec3] = [(turn[0][i], turn[1][i], turn[2][i]) for i in range(3)]
    raw: list[Scalar] = []
    for column in columns:
        raw += [dot3(column, axis) for axis in pose.axes]
    return raw, [combine(column, angular) for column in columns]
