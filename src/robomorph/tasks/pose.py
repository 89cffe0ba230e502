"""Origin and axes of a frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robomorph.tasks.base import CombinedTask, Words
from robomorph.tasks.numbers import Array, as_pose
from robomorph.tasks.orientation import Orientation
from robomorph.tasks.position import Position


@dataclass(frozen=True)
class Pose(CombinedTask):
    """Position and orientation of a frame, from the reference pose (..., 4, 4): first three rows in metres,
    then three in radians. Bounds likewise: x, y, z, then the angles about the reference's own axes."""

    frame: str
    name = "pose"
    words = Words("Pose(frame)", "a pose", "both", "both, six numbers", "both")

    @property
    def title(self) -> str:
        return f"{self.name} of {self.frame!r}"

    @property
    def parts(self) -> tuple[Position, Orientation]:
        return Position(self.frame), Orientation(self.frame)

    def read(self, reference: npt.ArrayLike) -> Array:
        pose = as_pose(f"pose of {self.frame!r}", reference)
        turn = pose[..., :3, :3]
        return np.concatenate([pose[..., :3, 3], turn.reshape(*turn.shape[:-2], 9)], axis=-1)
