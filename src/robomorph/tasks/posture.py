"""The joints themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy.typing as npt

from robomorph.algorithms.tree import Tree, coordinate_starts
from robomorph.errors import ArgumentError
from robomorph.model import Model
from robomorph.model.joints import JOINT_TYPES
from robomorph.model.manifolds import Flat
from robomorph.naming import hint
from robomorph.spatial import Scalar
from robomorph.tasks.base import Size, Task, Words
from robomorph.tasks.numbers import Array, finite
from robomorph.tasks.scene import Matrix, Scene


@dataclass(frozen=True)
class Posture(Task):
    """Coordinates of joints (rad, m), from a reference (..., n) with one number for each. Made by
    `Posture.of(model)`, or of some joints with `Posture.of(model, ["elbow", ...])`.

    For joints whose coordinates simply add; others are refused by name. Bounds are on the same differences.
    """

    joints: tuple[str, ...]
    places: tuple[tuple[int, int], ...]  # coordinate and degree of freedom of every row
    name = "posture"
    words = Words("Posture.of(model, joints)", "coordinates", "their differences (rad, m)")
    unit = "rad or m"

    @classmethod
    def of(cls, model: Model, joints: Iterable[str] | None = None) -> Posture:
        """The posture of the joints named, in that order; of all joints that follow no other by default."""
        starts = {model.bodies[i].joint_name: (i, start) for i, start in coordinate_starts(model).items()}
        names = tuple(starts) if joints is None else (joints,) if isinstance(joints, str) else tuple(joints)
        places: list[tuple[int, int]] = []
        for name in names:
            if name not in starts:
                raise ArgumentError(f"posture: {_why_not(model, name)}: {hint(name, list(starts))}")
            body, (q, v) = starts[name]
            _must_be_flat(name, model.bodies[body].kind, whole=joints is None)
            places += [(q + k, v + k) for k in range(JOINT_TYPES[model.bodies[body].kind].nq)]
        if not places:
            raise ArgumentError("posture: expected at least one joint, found none")
        return cls(names, tuple(places))

    @property
    def size(self) -> Size:
        return Size(*(len(self.places),) * 3)

    @property
    def coordinates(self) -> frozenset[int]:
        return frozenset(q for q, _ in self.places)

    def check(self, model: Model) -> None:
        if Posture.of(model, self.joints).places != self.places:
            raise ArgumentError(
                "posture: made for another robot: its joints have other coordinates here. Make it anew with "
                "Posture.of(robot.model, joints)"
            )

    def read(self, reference: npt.ArrayLike) -> Array:
        return finite("posture", reference, (len(self.places),))

    def residual(self, scene: Scene, reference: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        values = [scene.coordinate(q) - x for (q, _), x in zip(self.places, reference, strict=True)]
        return values, [[1.0 if k == v else 0.0 for k in range(scene.tree.nv)] for _, v in self.places]

    def column_bounds(self, tree: Tree) -> dict[int, float]:
        return {v: 1.0 for _, v in self.places}


def _why_not(model: Model, name: object) -> str:
    if isinstance(name, str) and name in model.joint_names:
        return f"joint {name!r} follows another and has no coordinate of its own"
    return f"unknown joint {name!r}"


def _must_be_flat(name: str, kind: str, *, whole: bool) -> None:
    manifold = JOINT_TYPES[kind].known_manifold
    if isinstance(manifold, Flat):
        return
    found = "coordinates that may not add" if manifold is None else repr(manifold)
    mend = "name the others in `joints`" if whole else "leave it out"
    raise ArgumentError(
        f"posture: joint {name!r} of type {kind!r}: expected coordinates that simply add (Flat), found "
        f"{found}: {mend}, and ask for its link with a pose task"
    )
