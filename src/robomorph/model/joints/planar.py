"""Motion in the plane normal to z: coordinates [x, y, cos a, sin a], velocity [vx, vy, wz] in the
child's frame (Pinocchio's habit)."""

from __future__ import annotations

from collections.abc import Sequence

from robomorph.model.joints.base import JointType
from robomorph.model.manifolds import SE2
from robomorph.spatial import Motion, Move, Scalar, Translation, Turn


class Planar(JointType):
    urdf_types = ("planar",)
    manifold = SE2()
    axis_is_z = True
    coordinates = "four numbers [x, y, cos, sin]"
    rates = "vx, vy, wz in the child's axes"
    about = "in the x-y plane of its frame; an axis other than z gives a warning"

    @property
    def subspace(self) -> tuple[Motion, ...]:
        return (Motion(lin=(1.0, 0.0, 0.0)), Motion(lin=(0.0, 1.0, 0.0)), Motion((0.0, 0.0, 1.0)))

    def transform(self, q: Sequence[Scalar], turn: float) -> tuple[Move, ...]:
        del turn
        return (Translation((q[0], q[1], 0.0)), Turn(2, q[2], q[3]))
