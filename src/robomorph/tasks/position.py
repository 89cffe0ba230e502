"""The origin of a frame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy.typing as npt

from robomorph.algorithms.tree import Tree
from robomorph.spatial import Scalar
from robomorph.tasks.base import FrameTask, Size, Words
from robomorph.tasks.numbers import Array, as_position
from robomorph.tasks.reach import frame_reach
from robomorph.tasks.scene import Matrix, Scene


@dataclass(frozen=True)
class Position(FrameTask):
    """Where a frame's origin is (m, the world's axes), from the reference position (..., 3).

    Bounds are on x, y and z of that difference: with a reference of zero, on the coordinates themselves.
    """

    name = "position"
    words = Words("Position(frame)", "a position", "x, y, z (m)", "x, y, z (m)")
    size = Size(3, 3, 3)

    def read(self, reference: npt.ArrayLike) -> Array:
        return as_position(f"position of {self.frame!r}", reference)

    def residual(self, scene: Scene, reference: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        origin = scene.pose(self.frame).origin
        linear, _ = scene.columns(self.frame)
        return [origin[i] - reference[i] for i in range(3)], linear

    def out_of_reach(self, tree: Tree, reference: Array, travel: list[float], slack: float) -> str | None:
        """Positions outside the ball that the lengths of the links allow."""
        ball = frame_reach(tree, self.frame, travel)
        if ball is None:
            return None
        centre, radius = ball
        distance = math.dist(reference, centre)  # never overflows
        if not distance > radius * (1.0 + 1e-9) + slack:  # a radius that is no number proves nothing
            return None
        return (
            f"out of reach: the target of {self.frame!r} is {distance:.6g} m from the first joint, "
            f"{distance - radius:.6g} m beyond the {radius:.6g} m that the links can span"
        )
