"""One slide along an axis: URDF's prismatic (metres)."""

from __future__ import annotations

from collections.abc import Sequence

from robomorph.model.joints.base import JointType
from robomorph.model.manifolds import Flat
from robomorph.spatial import BodyInertia, Motion, Move, Scalar, Symmetric, Translation


class Prismatic(JointType):
    urdf_types = ("prismatic",)
    manifold = Flat(1)
    turns = True
    slides = True
    moves = True
    coordinates = "one distance (m)"
    rates = "its rate (m/s)"
    about = "along any axis"

    @property
    def subspace(self) -> tuple[Motion, ...]:
        return (Motion(lin=(0.0, 0.0, 1.0)),)

    def transform(self, q: Sequence[Scalar], turn: float) -> tuple[Move, ...]:
        del turn  # a constant turn is part of the placement: the joint itself does not rotate
        return (Translation((0.0, 0.0, q[0])),)

    def regroup(self, inertia: BodyInertia) -> tuple[BodyInertia, BodyInertia]:
        # The child turns only with its parent: all of its rotational inertia may be the parent's.
        kept = BodyInertia(inertia.mass, inertia.first, Symmetric())
        return kept, BodyInertia(second=inertia.second)
