"""Where the entries of a robot's joints stand in MuJoCo's vectors, and in ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from robomorph.errors import ArgumentError
from robomorph.model import Body
from robomorph.model.read.mjcf import LIBRARY
from robomorph.naming import listed
from robomorph.robot import Robot

_KINDS = {0: "free joint", 1: "ball", 2: "slide", 3: "hinge"}  # MuJoCo's mjtJoint
NAMES = {  # of our kinds of joints
    **dict.fromkeys(("revolute", "continuous"), "hinge"),
    **dict.fromkeys(("spherical", "ball"), "ball"),
    **{"prismatic": "slide", "floating": "free joint"},
}
TURNING = ("ball", "free joint")  # those with a quaternion
# How many entries they have in q and in qd.
_SIZES = {"hinge": (1, 1), "slide": (1, 1), "ball": (4, 3), "free joint": (7, 6)}


class Place(NamedTuple):
    """Where a joint's entries are: ours and MuJoCo's, in positions and in velocities."""

    body: Body
    q: slice
    v: slice
    qpos: slice
    qvel: slice


def places_of(robot: Robot, model: Any) -> Iterator[Place]:
    """Every joint, checked to be one that MuJoCo can have."""
    own = robot.model.addresses if robot.model.library == LIBRARY else {}
    known = own if model is None else _addresses(robot, model)
    _check_all_there(robot, known)
    q = v = 0
    for body in robot.model.bodies:
        name = body.joint_name
        if body.mimic is not None or body.kind not in NAMES:
            what = "follows another" if body.mimic is not None else f"is of type {body.kind!r}"
            raise ArgumentError(
                f"{robot.name}: joint {name!r} {what}, which no joint of MuJoCo does: expected hinges, "
                "slides, balls and free joints; load the robot with mimic=False, or lock it"
            )
        if name not in known:
            raise ArgumentError(
                f"{robot.name}: joint {name!r}: expected one that MuJoCo's model has, found none of that "
                "name: load the robot from MJCF, or give model=, an MjModel with the same names"
            )
        (at, dof), (width, size) = known[name], _SIZES[NAMES[body.kind]]
        yield Place(
            body, slice(q, q + width), slice(v, v + size), slice(at, at + width), slice(dof, dof + size)
        )
        q, v = q + width, v + size


def _check_all_there(robot: Robot, known: Mapping[str, tuple[int, int]]) -> None:
    """Before any place is used: without a joint the others stand beyond vectors of the robot's own sizes."""
    missing = set(known) - set(robot.joint_names)
    if missing:
        raise ArgumentError(
            f"{robot.name}: expected every joint of MuJoCo's model, found none for "
            f"{listed(sorted(missing))}: load the robot without locking or leaving out joints"
        )


def _addresses(robot: Robot, model: Any) -> dict[str, tuple[int, int]]:
    """Joint name -> where its entries begin in qpos and in qvel; kinds are checked to be the robot's."""
    if not (hasattr(model, "njnt") and hasattr(model, "joint")):
        raise ArgumentError(f"model: expected an MjModel, found {type(model).__name__}")
    joints = [model.joint(index) for index in range(model.njnt)]
    theirs = {joint.name: _KINDS[int(joint.type[0])] for joint in joints}
    for body in robot.model.bodies:
        wanted = NAMES.get(body.kind)
        if wanted is not None and theirs.get(body.joint_name, wanted) != wanted:
            raise ArgumentError(
                f"{robot.name}: joint {body.joint_name!r}: expected a {wanted} of that name in MuJoCo's "
                f"model, as the robot's is of type {body.kind!r}, found a {theirs[body.joint_name]}: give "
                "the model of this robot"
            )
    return {joint.name: (int(joint.qposadr[0]), int(joint.dofadr[0])) for joint in joints}
