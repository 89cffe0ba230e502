"""Any turn about a point: coordinates [qx qy qz qw], velocity the angular one in the child's frame
(Pinocchio's habit). URDF has no word for it: `spherical`, or `ball` as MJCF says."""

from __future__ import annotations

from collections.abc import Sequence

from robomorph.model.joints.base import JointType
from robomorph.model.joints.rotation import AXES
from robomorph.model.manifolds import SO3
from robomorph.spatial import BodyInertia, Motion, Move, Scalar, quaternion_turn


class Spherical(JointType):
    urdf_types = ("spherical", "ball")
    manifold = SO3()
    has_axis = False
    coordinates = "four numbers [qx, qy, qz, qw]"
    rates = "angular velocity in the child's axes"
    about = "any turn about a point, without position limits; not a word of URDF, but of many robots"

    @property
    def subspace(self) -> tuple[Motion, ...]:
        return tuple(Motion(e) for e in AXES)

    def transform(self, q: Sequence[Scalar], turn: float) -> tuple[Move, ...]:
        del turn
        return (quaternion_turn(q),)

    def regroup(self, inertia: BodyInertia) -> tuple[BodyInertia, BodyInertia]:
        # A point mass at the centre looks the same at every turn, and no turn moves it.
        return BodyInertia(0.0, inertia.first, inertia.second), BodyInertia(inertia.mass)
