"""The joints of one body of an MJCF model, with massless links between several.

MuJoCo moves a body by its joints in turn: each turns about its axis through its anchor `pos`, or slides along
the axis, all given in the body's own frame as the joints before have moved it, by how far the coordinate is
from `ref`. So each becomes a joint whose frame is at the anchor, turned back by `ref`, and whose link's frame
(the joint's `tail`) is the body's again: our coordinates are MuJoCo's, and so are the frames.
"""

from __future__ import annotations

import math
from collections.abc import Set
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Array
from ..description import Joint, Limits
from ..pose import Pose, cos_sin, rotation_about, snapped_axis
from .mjcf_actuators import Motors
from .mjcf_arrays import Arrays
from .mjcf_names import Names
from .mjcf_poses import UNIT

FREE, BALL, SLIDE, HINGE = range(4)  # MuJoCo's mjtJoint
# Beyond it MuJoCo's own angle, the coordinate less this, has lost the digits that we keep.
_LARGEST_REF = 1e6
_KINDS = {FREE: "floating", BALL: "spherical", SLIDE: "prismatic", HINGE: "revolute"}


def chain(
    arrays: Arrays, names: Names, body: int, place: Pose, motors: Motors, snap: float
) -> tuple[list[str], list[Joint]]:
    """The names of the links between a body's joints, and the joints that lead from its parent to it.

    place: the body's pose in its parent's frame at `ref`.
    """
    parent = names.bodies[int(arrays["body_parentid"][body])]
    first, count = int(arrays["body_jntadr"][body]), int(arrays["body_jntnum"][body])
    if count == 0:
        return [], [Joint(names.fixed[body], "fixed", parent, names.bodies[body], place)]
    joints = []
    for joint in range(first, first + count):
        link = names.between[joint]
        joints.append(_joint(arrays, names, joint, parent, link, place, motors, snap))
        parent, place = link, Pose.identity()
    return [names.between[joint] for joint in range(first, first + count - 1)], joints


def _joint(
    arrays: Arrays,
    names: Names,
    joint: int,
    parent: str,
    child: str,
    place: Pose,
    motors: Motors,
    snap: float,
) -> Joint:
    kind = int(arrays["jnt_type"][joint])
    dof, at = int(arrays["jnt_dofadr"][joint]), int(arrays["jnt_qposadr"][joint])
    anchor = Pose(translation=np.zeros(3) if kind == FREE else arrays["jnt_pos"][joint])
    axis = np.array([1.0, 0.0, 0.0])
    back, rest = Pose(), 0.0
    if kind in (SLIDE, HINGE):
        axis = snapped_axis(_unit(arrays, names, joint), snap)
        back = _moved(kind, axis, -_ref(arrays, names, joint), snap)
        rest = float(arrays["qpos_spring"][at])
    free_spring = arrays.disabled("mjDSBL_SPRING", "mjDSBL_PASSIVE")
    free_damper = arrays.disabled("mjDSBL_DAMPER", "mjDSBL_PASSIVE")
    free_friction = arrays.disabled("mjDSBL_FRICTIONLOSS", "mjDSBL_CONSTRAINT")
    stiffness = 0.0 if free_spring else float(arrays["jnt_stiffness"][joint])
    return Joint(
        name=names.joints[joint],
        kind=_kind(arrays, joint, kind),
        parent=parent,
        child=child,
        placement=place.compose(anchor).compose(back),
        axis=axis,
        limits=_limits(arrays, names, joint, kind, motors),
        damping=0.0 if free_damper else float(arrays["dof_damping"][dof]) + motors.damping.get(joint, 0.0),
        friction=0.0 if free_friction else float(arrays["dof_frictionloss"][dof]),
        tail=anchor.inverse(),
        armature=float(arrays["dof_armature"][dof]) + motors.armature.get(joint, 0.0),
        stiffness=stiffness,
        rest=0.0 if free_spring else rest,
    )


def without(joint: Joint, names: Names, left_out: Set[tuple[str, str]], motors: Motors) -> Joint:
    """The joint without what the caller leaves out of it (kinds and names); what actuators add stays."""
    changes: dict[str, Any] = {}
    if ("spring", joint.name) in left_out:
        changes |= {"stiffness": 0.0, "rest": 0.0}
    if ("friction", joint.name) in left_out:
        changes["friction"] = 0.0
    for kind, added in (("damping", motors.damping), ("armature", motors.armature)):
        if (kind, joint.name) in left_out:
            changes[kind] = added.get(names.joints.index(joint.name), 0.0)
    return replace(joint, **changes) if changes else joint


def _unit(arrays: Arrays, names: Names, joint: int) -> Array:
    axis: Array = arrays["jnt_axis"][joint]
    length = float(np.linalg.norm(axis))
    if not abs(length - 1.0) <= UNIT:  # the compiler's are; a model changed by hand moves otherwise
        raise arrays.wrong(
            f"joint {names.joints[joint]!r}",
            "an axis of length 1",
            f"length {length:.12g}",
            "normalise jnt_axis",
        )
    return axis / length


def _ref(arrays: Arrays, names: Names, joint: int) -> float:
    ref = float(arrays["qpos0"][int(arrays["jnt_qposadr"][joint])])
    if int(arrays["jnt_type"][joint]) == HINGE and abs(ref) > _LARGEST_REF:
        place, most = f"joint {names.joints[joint]!r}", f"a ref of at most {_LARGEST_REF:g} rad"
        raise arrays.wrong(place, most, f"{ref:g}", "write the angle within a turn or two")
    return ref


def _moved(kind: int, axis: Array, by: float, snap: float) -> Pose:
    if kind == SLIDE:
        return Pose(translation=by * axis)
    return Pose(rotation_about(axis, *cos_sin(by, snap))) if by else Pose()


def _kind(arrays: Arrays, joint: int, kind: int) -> str:
    return "continuous" if kind == HINGE and not _limited(arrays, joint) else _KINDS[kind]


def _limited(arrays: Arrays, joint: int) -> bool:
    return bool(arrays["jnt_limited"][joint]) and not arrays.disabled("mjDSBL_LIMIT", "mjDSBL_CONSTRAINT")


def _limits(arrays: Arrays, names: Names, joint: int, kind: int, motors: Motors) -> Limits:
    if kind not in (SLIDE, HINGE):
        return Limits()
    lower, upper = -math.inf, math.inf
    if _limited(arrays, joint):
        lower, upper = (float(value) for value in arrays["jnt_range"][joint])
        if lower > upper:  # the compiler lets none pass
            place, found = f"joint {names.joints[joint]!r}", f"a range from {lower:g} to {upper:g}"
            raise arrays.wrong(place, "limits in order", found, "correct jnt_range")
    return Limits(lower, upper, math.inf, motors.effort.get(joint, math.inf))
