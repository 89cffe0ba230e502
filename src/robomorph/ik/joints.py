"""A robot's joints as the search steps them: by their manifolds, with limits and the caller's wishes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.configuration import coordinates, position_limits
from robomorph.algorithms.tree import coordinate_starts
from robomorph.errors import ArgumentError
from robomorph.model import Model
from robomorph.model.joints import JOINT_TYPES, JointType
from robomorph.model.manifolds import SE2, SE3, SO3, Flat, Manifold
from robomorph.spatial import Transform

Array = npt.NDArray[Any]
SCALAR = 0  # the kind of a coordinate that adds
# The manifolds that native code can step (IkJointKind). A subclass may step otherwise, so it is another.
_NATIVE_KIND: dict[type[Manifold], int] = {Flat: SCALAR, SE3: 1, SE2: 2, SO3: 3}
# Where a joint is asked whether one turn further is the same pose: anywhere will do.
_SOMEWHERE = (0.3, -1.1, 2.7)


class StepJoint(NamedTuple):
    """What steps as one, in native code's order: a coordinate that adds, or all those of another manifold."""

    kind: int
    q: int
    v: int
    wraps: bool  # one turn further is the same pose
    held: bool


def step_joints(model: Model, fixed: tuple[str, ...], counted: frozenset[int]) -> list[StepJoint]:
    """Every joint with coordinates of its own; joints whose manifold is not known are refused by name. Where
    the coordinate itself counts (`counted`), a turn further is not the same."""
    held = {coordinates(model, name)[0].start for name in fixed}
    # A joint that follows another at a rate of its own is not back after one turn of it.
    followed = {body.mimic[0] for body in model.bodies if body.mimic is not None}
    out: list[StepJoint] = []
    for i, (iq, iv) in coordinate_starts(model).items():
        joint = JOINT_TYPES[model.bodies[i].kind]
        manifold = _manifold(joint, model.bodies[i].joint_name, model.bodies[i].kind)
        kind = _NATIVE_KIND[type(manifold)]
        if isinstance(manifold, Flat):
            for k in range(joint.nq):
                free = i not in followed and iq + k not in counted
                out.append(StepJoint(kind, iq + k, iv + k, free and _turns_back(joint, k), iq in held))
        else:
            out.append(StepJoint(kind, iq, iv, False, iq in held))
    return out


def _manifold(joint: JointType, name: str, kind: str) -> Manifold:
    manifold = joint.known_manifold
    if type(manifold) in _NATIVE_KIND:
        assert manifold is not None
        return manifold
    known = ", ".join(cls.__name__ for cls in _NATIVE_KIND)
    found = "none named and coordinates that may not add" if manifold is None else repr(manifold)
    raise ArgumentError(
        f"inverse kinematics: joint {name!r} of type {kind!r} ({type(joint).__name__}): expected a manifold "
        f"that can be searched ({known}), found {found}: name one as `manifold` in its class, or load the "
        f"robot with locked={{{name!r}: ...}}"
    )


def _turns_back(joint: JointType, k: int) -> bool:
    """Is the pose the same one turn further along coordinate k? A screw turns too, but is elsewhere then."""
    for at in _SOMEWHERE:
        q = [at] * joint.nq
        here = _matrix(joint, q)
        q[k] += 2 * math.pi
        if np.abs(_matrix(joint, q) - here).max() > 1e-12:
            return False
    return any(joint.subspace[k].ang)  # a slide of no effect must not be moved by turns


def _matrix(joint: JointType, q: list[float]) -> Array:
    return np.array(Transform(joint.transform(q, 0.0)).matrix(), dtype=float)


def bounds(model: Model, fixed: tuple[str, ...], limits: bool) -> tuple[Array, Array]:
    """(nq,) each: the joints' limits, and where a mimic joint reaches its own first, those. Joints that
    the caller fixes have none: they stay where they are, wherever that is."""
    lower, upper = position_limits(model)
    if not limits:
        return np.full_like(lower, -np.inf), np.full_like(upper, np.inf)
    for body in model.bodies:
        if body.mimic is None or body.mimic[1] == 0.0:
            continue
        place = coordinates(model, body.joint_name)[0].start
        _, scale, offset = body.mimic
        ends = sorted((x - offset) / scale for x in (body.limits.lower, body.limits.upper))
        low, high = max(lower[place], ends[0]), min(upper[place], ends[1])
        if low <= high:  # limits that exclude each other cannot both be kept: the source's stand
            lower[place], upper[place] = low, high
    for name in fixed:
        place = coordinates(model, name)[0]
        lower[place], upper[place] = -np.inf, np.inf
    return lower, upper


def maskable(joints: list[StepJoint], nv: int, lower: Array, upper: Array) -> tuple[bool, ...]:
    """Per degree of freedom: may a limit or the caller hold it?"""
    ends = [*(joint.v for joint in joints[1:]), nv]
    out: list[bool] = []
    for joint, end in zip(joints, ends, strict=True):
        limited = joint.kind == SCALAR and bool(np.isfinite(lower[joint.q]) or np.isfinite(upper[joint.q]))
        out += [joint.held or limited] * (end - joint.v)
    return tuple(out)
