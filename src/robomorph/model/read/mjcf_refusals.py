"""What MJCF has and a robot here cannot have: refused by name, or left out if the caller says so.

Everything in this table changes how the model moves, or what drives it. What does not (contacts and their
pairs, sensors, cameras, lights, skins, keyframes, textures, solver settings) is never read. Where the model
switches a thing off itself, by a flag of <option> or `active="false"`, it is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from .base import Ignored
from .mjcf_actuators import actuator_count, driven, is_off, is_simple
from .mjcf_arrays import Arrays
from .mjcf_joints import BALL, FREE, HINGE, SLIDE
from .mjcf_names import Names

_SHOWN = 3  # of a kind, in messages


class Found(NamedTuple):
    """One thing that cannot be represented: its name (empty if it has none), and what it is."""

    name: str
    what: str


def check(arrays: Arrays, names: Names, ignored: Ignored) -> set[tuple[str, str]]:
    """The kind and the name of all that is left out; ModelError that names what cannot be represented and is
    not ignored."""
    refused, left_out = {}, set()
    for kind, find in KINDS.items():
        found = []
        for one in find(arrays, names):
            if ignored.covers(kind, one.name):
                left_out.add((kind, one.name))
            else:
                found.append(one)
        if found:
            refused[kind] = "; ".join(_described(found))
    if refused:
        raise arrays.wrong(
            "what a robot here cannot have",
            "a tree of rigid bodies and no more",
            "; ".join(refused.values()),
            f"remove it, or leave it out with ignore={list(refused)} (--ignore); single names will do, too",
        )
    return left_out


def _described(found: list[Found]) -> Iterator[str]:
    """The first few things of one kind, by name where they have one."""
    for name, what in found[:_SHOWN]:
        yield f"{what} {name!r}" if name else what.rstrip(":")
    if len(found) > _SHOWN:
        yield f"and {len(found) - _SHOWN} more"


def _equality(arrays: Arrays, names: Names) -> Iterator[Found]:
    del names
    if arrays.disabled("mjDSBL_EQUALITY", "mjDSBL_CONSTRAINT"):
        return
    for i in range(arrays.count("neq")):
        if arrays["eq_active0"][i]:
            yield Found(arrays.name("eq", i), "an equality constraint")


def _tendon(arrays: Arrays, names: Names) -> Iterator[Found]:
    del names
    yield from (Found(arrays.name("tendon", i), "a tendon") for i in range(arrays.count("ntendon")))


def _flex(arrays: Arrays, names: Names) -> Iterator[Found]:
    del names
    yield from (Found(arrays.name("flex", i), "a flex") for i in range(arrays.count("nflex")))


def _plugin(arrays: Arrays, names: Names) -> Iterator[Found]:
    """Of bodies and actuators; those of sensors and geoms move nothing."""
    del names
    for owner in ("body", "actuator"):
        for i, plugin in enumerate(arrays[f"{owner}_plugin"]):
            if plugin >= 0:
                yield Found(
                    arrays.name("plugin", int(plugin)), f"a plugin of {owner} {arrays.name(owner, i)!r}"
                )


def _gravcomp(arrays: Arrays, names: Names) -> Iterator[Found]:
    for body in np.flatnonzero(arrays["body_gravcomp"]):
        if arrays["body_dofnum"][arrays["body_weldid"][body]]:  # what never moves needs none
            yield Found(names.bodies[body], "gravity compensation of body")


def _fluid(arrays: Arrays, names: Names) -> Iterator[Found]:
    del names
    for what in ("density", "viscosity"):
        if arrays.option(what) != 0.0:
            yield Found(what, "forces of a fluid: option")


def _actuator(arrays: Arrays, names: Names) -> Iterator[Found]:
    for i in range(actuator_count(arrays)):
        name, joint = arrays.name("actuator", i), driven(arrays, i)
        off = is_off(arrays, i)
        if joint is None and not off:
            yield Found(name, "an actuator of what is no hinge or slide:")
        elif not off and not is_simple(arrays, i):
            yield Found(name, "an actuator with dynamics or delay:")
        elif _adds_polynomial(arrays, i):
            yield Found(name, "an actuator with damping that is not linear:")


def _adds_polynomial(arrays: Arrays, actuator: int) -> bool:
    return bool(np.any(arrays.get("actuator_dampingpoly", "actuator_trntype")[actuator]))


def _spring(arrays: Arrays, names: Names) -> Iterator[Found]:
    if arrays.disabled("mjDSBL_SPRING", "mjDSBL_PASSIVE"):
        return
    for joint in range(arrays.count("njnt")):
        kind, name = int(arrays["jnt_type"][joint]), names.joints[joint]
        if kind in (FREE, BALL) and arrays["jnt_stiffness"][joint]:
            yield Found(name, "the spring of the ball or free joint")
        elif np.any(arrays.get("jnt_stiffnesspoly", "jnt_type")[joint]):
            yield Found(name, "a spring that is not linear, of joint")
        elif arrays.get("jnt_springyield", "jnt_type")[joint]:
            yield Found(name, "a spring that yields, of joint")


def _damping(arrays: Arrays, names: Names) -> Iterator[Found]:
    if arrays.disabled("mjDSBL_DAMPER", "mjDSBL_PASSIVE"):
        return
    yield from _uneven(arrays, names, "dof_damping")
    crooked = np.array([np.any(row) for row in arrays.get("dof_dampingpoly", "dof_jntid")], dtype=bool)
    for joint in np.unique(arrays["dof_jntid"][crooked]):
        yield Found(names.joints[int(joint)], "damping that is not linear, of joint")


def _friction(arrays: Arrays, names: Names) -> Iterator[Found]:
    if arrays.disabled("mjDSBL_FRICTIONLOSS", "mjDSBL_CONSTRAINT"):
        return
    yield from _uneven(arrays, names, "dof_frictionloss")
    for joint in np.flatnonzero(arrays["jnt_type"] == FREE):  # along the world's axes there
        if arrays["dof_frictionloss"][int(arrays["jnt_dofadr"][joint])]:
            yield Found(names.joints[joint], "friction loss of the free joint")


def _armature(arrays: Arrays, names: Names) -> Iterator[Found]:
    yield from _uneven(arrays, names, "dof_armature")


def _uneven(arrays: Arrays, names: Names, array: str) -> Iterator[Found]:
    """The compiler gives all degrees of freedom of a joint one number; changed models may have several."""
    for joint, kind in enumerate(arrays["jnt_type"]):
        start = int(arrays["jnt_dofadr"][joint])
        count = {FREE: 6, BALL: 3, SLIDE: 1, HINGE: 1}[int(kind)]
        values = arrays[array][start : start + count]
        if np.any(values != values[0]):
            yield Found(names.joints[joint], f"{array} that differs along the axes of joint")


def _limit(arrays: Arrays, names: Names) -> Iterator[Found]:
    if arrays.disabled("mjDSBL_LIMIT", "mjDSBL_CONSTRAINT"):
        return
    for joint in np.flatnonzero(arrays["jnt_type"] == BALL):
        if arrays["jnt_limited"][joint]:
            yield Found(names.joints[joint], "the limit of ball joint")


# What `load(ignore=)` takes as a kind -> what of it a model has.
KINDS: dict[str, Callable[[Arrays, Names], Iterator[Found]]] = {
    "equality": _equality,
    "tendon": _tendon,
    "flex": _flex,
    "plugin": _plugin,
    "gravcomp": _gravcomp,
    "fluid": _fluid,
    "actuator": _actuator,
    "spring": _spring,
    "damping": _damping,
    "friction": _friction,
    "armature": _armature,
    "limit": _limit,
}
