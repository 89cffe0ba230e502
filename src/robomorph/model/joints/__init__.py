"""Joint types behind one interface; `JOINT_TYPES` registers each under its URDF names."""

from robomorph.model.joints.base import JointType
from robomorph.model.joints.floating import Floating
from robomorph.model.joints.planar import Planar
from robomorph.model.joints.prismatic import Prismatic
from robomorph.model.joints.revolute import Revolute
from robomorph.model.joints.spherical import Spherical

# A new joint type is one file with one class, and one entry here.
JOINT_TYPES: dict[str, JointType] = {
    name: joint
    for joint in (Revolute(), Prismatic(), Planar(), Spherical(), Floating())
    for name in joint.urdf_types
}

__all__ = ["JOINT_TYPES", "Floating", "JointType", "Planar", "Prismatic", "Revolute", "Spherical"]
