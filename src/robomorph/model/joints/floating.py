"""Free motion in space: coordinates [x y z qx qy qz qw], velocity [linear, angular] in the child's frame."""

from __future__ import annotations

from collections.abc import Sequence

from robomorph.model.joints.base import JointType
from robomorph.model.joints.rotation import AXES
from robomorph.model.manifolds import SE3
from robomorph.spatial import Motion, Move, Scalar, Translation, quaternion_turn


class Floating(JointType):
    urdf_types = ("floating",)
    manifold = SE3()
    has_axis = False
    coordinates = "seven numbers [x, y, z, qx, qy, qz, qw]"
    rates = "linear, then angular velocity, in the child's axes"
    about = "freely, as a floating base does"

    @property
    def subspace(self) -> tuple[Motion, ...]:
        return tuple(Motion(lin=e) for e in AXES) + tuple(Motion(e) for e in AXES)

    def transform(self, q: Sequence[Scalar], turn: float) -> tuple[Move, ...]:
        del turn
        return (Translation((q[0], q[1], q[2])), quaternion_turn(q[3:]))
