"""Which joints do not move, and at what pose they stand still."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ..errors import ArgumentError
from .arrays import Array
from .description import SCALAR_KINDS, Joint
from .naming import unknown_name
from .notes import LOCKED_OUTSIDE, MIMIC_OF_FIXED, Notes
from .pose import Pose, cos_sin, rotation_about, rotation_from_quaternion
from .structure import Tree, joint_place

_COORDINATES = {
    "revolute": "one angle (rad)",
    "continuous": "one angle (rad)",
    "prismatic": "one distance (m)",
    "planar": "four numbers [x, y, cos, sin]",
    "floating": "seven numbers [x, y, z, qx, qy, qz, qw]",
}
_SIZES = {"planar": 4, "floating": 7}
_UNIT_TOLERANCE = 1e-3


def standing_poses(tree: Tree, locked: Mapping[str, Array], notes: Notes, snap: float) -> dict[str, Pose]:
    """The motion (pose of the child link's frame in the joint frame) of every joint that does not move.

    Those are fixed joints, locked joints and the joints that mimic one of these.
    """
    joints = {joint.name: joint for joint in tree.joints}
    values = _locked_values(tree, joints, locked, notes)
    poses = {joint.name: Pose.identity() for joint in tree.joints if joint.kind == "fixed"}
    for name, value in values.items():
        joint = joints[name]
        _check_limits(tree, joint, value, notes)
        poses[name] = motion(joint.kind, joint.axis, value, snap)
    return poses


def _locked_values(
    tree: Tree, joints: Mapping[str, Joint], locked: Mapping[str, Array], notes: Notes
) -> dict[str, Array]:
    values = {name: _checked(tree, joints, name, value) for name, value in locked.items()}
    for name, follows in tree.mimics.items():
        source = joints[follows.joint]
        if name in locked:
            raise ArgumentError(
                f"locked[{name!r}]: this joint mimics {source.name!r}, so it cannot be locked alone. "
                f"Lock {source.name!r}, or load with mimic=False."
            )
        if source.kind == "fixed":
            notes.add(MIMIC_OF_FIXED, joint_place(tree.description, joints[name]), f"mimics {source.name!r}")
            values[name] = np.array([follows.offset])
        elif source.name in values:
            values[name] = follows.multiplier * values[source.name] + follows.offset
    return values


def _checked(tree: Tree, joints: Mapping[str, Joint], name: str, value: Array) -> Array:
    argument = f"locked[{name!r}]"
    moving = [joint.name for joint in tree.joints if joint.kind != "fixed"]
    if name not in joints:
        raise ArgumentError(f"{argument}: {unknown_name(tree.description.source, 'joint', name, moving)}")
    kind = joints[name].kind
    if kind == "fixed":
        raise ArgumentError(f"{argument}: this joint is fixed already; remove it from locked.")
    if value.shape != (_SIZES.get(kind, 1),):
        raise ArgumentError(
            f"{argument}: expected {_COORDINATES[kind]} for a {kind} joint, found {value.tolist()}."
        )
    turn = value[2:] if kind == "planar" else value[3:]
    if turn.size and abs(float(np.linalg.norm(turn)) - 1.0) > _UNIT_TOLERANCE:
        raise ArgumentError(
            f"{argument}: expected {_COORDINATES[kind]} with a turn of length 1, found {turn.tolist()}."
        )
    return value


def _check_limits(tree: Tree, joint: Joint, value: Array, notes: Notes) -> None:
    if joint.kind in SCALAR_KINDS and not joint.limits.lower <= value[0] <= joint.limits.upper:
        detail = f"{value[0]:g} is not in [{joint.limits.lower:g}, {joint.limits.upper:g}]"
        notes.add(LOCKED_OUTSIDE, joint_place(tree.description, joint), detail)


def motion(kind: str, axis: Array, value: Array, snap: float) -> Pose:
    """The pose of the child link's frame in the joint frame at coordinates `value`."""
    if kind == "prismatic":
        return Pose(np.eye(3), value[0] * axis)
    if kind == "planar":
        x, y, cosine, sine = value
        return Pose(_turn(axis, math.atan2(sine, cosine), snap), np.array([x, y, 0.0]))
    if kind == "floating":
        return Pose(rotation_from_quaternion(value[3:]), value[:3])
    return Pose(_turn(axis, float(value[0]), snap), np.zeros(3))


def _turn(axis: Array, angle: float, snap: float) -> Array:
    return rotation_about(axis, *cos_sin(angle, snap))
