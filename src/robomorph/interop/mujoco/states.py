"""Positions, velocities, accelerations and forces."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.interop.mujoco.arguments import arrays, with_unit_quaternions
from robomorph.interop.mujoco.places import places_of
from robomorph.interop.mujoco.turns import quaternion_moved, rotation_of, sway, turn_linear
from robomorph.robot import Robot

Array = npt.NDArray[np.float64]


class State(NamedTuple):
    """Ours: q (..., nq), qd (..., nv); MuJoCo's: qpos, qvel of the same sizes."""

    q: Array
    qd: Array


def state_from_mujoco(robot: Robot, qpos: npt.ArrayLike, qvel: npt.ArrayLike, *, model: Any = None) -> State:
    """Our q and qd of MuJoCo's qpos (..., nq) and qvel (..., nv)."""
    (theirs, rates), lead = arrays(robot, qpos=(qpos, robot.nq), qvel=(qvel, robot.nv))
    places = list(places_of(robot, model))
    theirs = with_unit_quaternions(places, theirs)
    q, qd = np.empty((*lead, robot.nq)), np.empty((*lead, robot.nv))
    for place in places:
        q[..., place.q] = quaternion_moved(place, theirs[..., place.qpos], -1)
        qd[..., place.v] = rates[..., place.qvel]
        if place.body.kind == "floating":
            turn_linear(qd[..., place.v], rotation_of(q[..., place.q]).swapaxes(-1, -2))
    return State(q, qd)


def state_to_mujoco(robot: Robot, q: npt.ArrayLike, qd: npt.ArrayLike, *, model: Any = None) -> State:
    """MuJoCo's qpos (..., nq) and qvel (..., nv) of our q and qd."""
    (ours, rates), lead = arrays(robot, q=(q, robot.nq), qd=(qd, robot.nv))
    qpos, qvel = np.empty((*lead, robot.nq)), np.empty((*lead, robot.nv))
    for place in places_of(robot, model):
        qpos[..., place.qpos] = quaternion_moved(place, ours[..., place.q], 1)
        qvel[..., place.qvel] = rates[..., place.v]
        if place.body.kind == "floating":
            turn_linear(qvel[..., place.qvel], rotation_of(ours[..., place.q]))
    return State(qpos, qvel)


def accelerations_from_mujoco(
    robot: Robot, q: npt.ArrayLike, qd: npt.ArrayLike, qacc: npt.ArrayLike, *, model: Any = None
) -> Array:
    """Our qdd (..., nv) of MuJoCo's qacc, at our state: a free joint's linear one is R^T a - w x v."""
    (ours, rates, theirs), lead = arrays(robot, q=(q, robot.nq), qd=(qd, robot.nv), qacc=(qacc, robot.nv))
    qdd = np.empty((*lead, robot.nv))
    for place in places_of(robot, model):
        qdd[..., place.v] = theirs[..., place.qvel]
        if place.body.kind == "floating":
            own = qdd[..., place.v]
            turn_linear(own, rotation_of(ours[..., place.q]).swapaxes(-1, -2))
            own[..., :3] -= sway(rates[..., place.v])
    return qdd


def accelerations_to_mujoco(
    robot: Robot, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, *, model: Any = None
) -> Array:
    """MuJoCo's qacc (..., nv) of our qdd, at our state."""
    (ours, rates, change), lead = arrays(robot, q=(q, robot.nq), qd=(qd, robot.nv), qdd=(qdd, robot.nv))
    qacc = np.empty((*lead, robot.nv))
    for place in places_of(robot, model):
        own = change[..., place.v].copy()
        if place.body.kind == "floating":
            own[..., :3] += sway(rates[..., place.v])
            turn_linear(own, rotation_of(ours[..., place.q]))
        qacc[..., place.qvel] = own
    return qacc


def forces_from_mujoco(robot: Robot, q: npt.ArrayLike, qfrc: npt.ArrayLike, *, model: Any = None) -> Array:
    """Our tau (..., nv) of MuJoCo's generalised forces (qfrc_applied, qfrc_inverse ...), at our q."""
    (ours, theirs), lead = arrays(robot, q=(q, robot.nq), qfrc=(qfrc, robot.nv))
    tau = np.empty((*lead, robot.nv))
    for place in places_of(robot, model):
        tau[..., place.v] = theirs[..., place.qvel]
        if place.body.kind == "floating":
            turn_linear(tau[..., place.v], rotation_of(ours[..., place.q]).swapaxes(-1, -2))
    return tau


def forces_to_mujoco(robot: Robot, q: npt.ArrayLike, tau: npt.ArrayLike, *, model: Any = None) -> Array:
    """MuJoCo's generalised forces (..., nv) of our tau, at our q."""
    (ours, own), lead = arrays(robot, q=(q, robot.nq), tau=(tau, robot.nv))
    qfrc = np.empty((*lead, robot.nv))
    for place in places_of(robot, model):
        qfrc[..., place.qvel] = own[..., place.v]
        if place.body.kind == "floating":
            turn_linear(qfrc[..., place.qvel], rotation_of(ours[..., place.q]))
    return qfrc
