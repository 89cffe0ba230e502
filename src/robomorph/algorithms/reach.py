"""One frame's kinematics link by link, over the path from the world to it: steps that all targets share.

`reach` carries the frame's position inward, from the tip to the base: four products a joint, where axes
carried outward take twelve. `column` is what a joint adds to the Jacobian once the tip is known, in the world
or (`column_of_link`) in the joint's own link; poses on the way outward are `WorldPose.then`. The sweeps are
in path.py.
"""

from __future__ import annotations

from typing import NamedTuple

from robomorph.algorithms.world_pose import WorldPose
from robomorph.spatial import Motion, Transform, Vec3, add3, cross3, sub3


class Column(NamedTuple):
    """What a unit speed of one degree of freedom makes of a frame, in the world's axes: the velocity of its
    origin, and its angular velocity."""

    linear: Vec3
    angular: Vec3


def reach(joint: Transform, tip: Vec3) -> Vec3:
    """Inward: the tip, given in the child's frame, in the parent's."""
    return joint.point_back(tip)


def column(pose: WorldPose, unit: Motion, tip: Vec3) -> Column:
    """Outward: the column of a degree of freedom whose link has this pose and this unit motion (in the link's
    frame), for a frame whose origin is `tip`."""
    angular = pose.vector(unit.ang)
    return Column(add3(pose.vector(unit.lin), cross3(angular, sub3(tip, pose.origin))), angular)


def column_of_link(pose: WorldPose, unit: Motion, tip: Vec3) -> Column:
    """The same for a tip that is given in the link's own frame: the link's origin does not enter."""
    return Column(pose.vector(add3(unit.lin, cross3(unit.ang, tip))), pose.vector(unit.ang))
