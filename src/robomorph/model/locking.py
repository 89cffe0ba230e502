"""Which joints do not move, and at what pose they stand still."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robomorph.naming import unknown_name

from ..errors import ArgumentError
from ..spatial import Transform
from .arrays import Array
from .description import Joint
from .joints import JOINT_TYPES
from .kinds import is_scalar
from .notes import LOCKED_OUTSIDE, MIMIC_OF_FIXED, Notes
from .pose import Pose, axis_frame
from .structure import Tree, joint_place

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
    joint_type = JOINT_TYPES[kind]
    if value.shape != (joint_type.nq,):
        raise ArgumentError(
            f"{argument}: expected {joint_type.coordinates} for a {kind} joint, found {value.tolist()}."
        )
    turn = value[joint_type.unit_part]
    length = float(np.linalg.norm(turn)) if turn.size else 1.0
    if abs(length - 1.0) > _UNIT_TOLERANCE:
        raise ArgumentError(
            f"{argument}: expected {joint_type.coordinates} with a turn of length 1, found {turn.tolist()}."
        )
    exact: Array = value.copy()
    exact[joint_type.unit_part] /= length
    return exact


def _check_limits(tree: Tree, joint: Joint, value: Array, notes: Notes) -> None:
    if is_scalar(joint.kind) and not joint.limits.lower <= value[0] <= joint.limits.upper:
        detail = f"{value[0]:g} is not in [{joint.limits.lower:g}, {joint.limits.upper:g}]"
        notes.add(LOCKED_OUTSIDE, joint_place(tree.description, joint), detail)


def motion(kind: str, axis: Array, value: Array, snap: float) -> Pose:
    """The pose of the child link's frame in the joint frame at coordinates `value`."""
    joint_type = JOINT_TYPES[kind]
    moves = Transform(joint_type.standing(value.tolist(), snap))
    columns = [moves.moment_back(unit) for unit in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]
    align = axis_frame(axis) if joint_type.has_axis else np.eye(3)
    rotation = align @ np.array(columns, dtype=float).T @ align.T
    return Pose(rotation, align @ np.array(moves.point_back((0.0, 0.0, 0.0)), dtype=float))
