"""The centre of mass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy.typing as npt

from robomorph.algorithms.tree import Tree
from robomorph.spatial import Scalar
from robomorph.tasks.base import Size, Task, Words
from robomorph.tasks.numbers import Array, as_position
from robomorph.tasks.reach import mass_column_bounds
from robomorph.tasks.scene import Matrix, Scene


@dataclass(frozen=True)
class CenterOfMass(Task):
    """Where the centre of mass is (m, the world's axes), from the reference position
    (..., 3).

    Bounds are on x, y and z of that difference: with a reference of zero, on the coordinates themselves.
    """

    name = "center of mass"
    words = Words("CenterOfMass()", "a position", "x, y, z (m)", "x, y, z (m)")
    size = Size(3, 3, 3)

    def read(self, reference: npt.ArrayLike) -> Array:
        return as_position("centre of mass", reference)

    def residual(self, scene: Scene, reference: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        com = scene.center_of_mass
        return [com[i] - reference[i] for i in range(3)], scene.center_of_mass_jacobian

    def column_bounds(self, tree: Tree) -> dict[int, float]:
        return mass_column_bounds(tree)
