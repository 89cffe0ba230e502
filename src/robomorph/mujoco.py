"""MuJoCo's states and derivatives, and ours: the one place that knows how they differ.

| | MuJoCo | here |
|---|---|---|
| quaternions | w first | w last |
| a free joint's linear velocity, acceleration and force | in the world's axes | in the base's |
| its angular velocity | in the base's axes | the same |
| its place in tangent spaces | position in the world's axes, turn in the base's | both in the base's |
| entries of joints | in the order of their ids | depth first, in the file's order among siblings |

A robot that was read from MJCF knows where its joints stand in MuJoCo's vectors; for others `model` (an
MjModel) tells, joints being known by their names. Every joint of the model must be one of the robot's.
Arguments may have leading batch dimensions; results are float64. The package mujoco is not needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.model import Body
from robomorph.naming import listed
from robomorph.robot import Robot

__all__ = [
    "State",
    "Transition",
    "accelerations_from_mujoco",
    "accelerations_to_mujoco",
    "forces_from_mujoco",
    "forces_to_mujoco",
    "state_from_mujoco",
    "state_to_mujoco",
    "tangent_from_mujoco",
    "tangent_to_mujoco",
    "transition_to_mujoco",
]
Array = npt.NDArray[np.float64]
_KINDS = {"revolute", "continuous", "prismatic", "spherical", "ball", "floating"}


class State(NamedTuple):
    """Ours: q (..., nq), qd (..., nv); MuJoCo's: qpos, qvel of the same sizes."""

    q: Array
    qd: Array


class Transition(NamedTuple):
    """Derivatives of a step as `mjd_transitionFD` gives them: A (..., 2nv, 2nv), and B (..., 2nv, nv) by
    generalised forces (`qfrc_applied`): times the transmission of actuators it is by their forces."""

    A: Array
    B: Array


class _Place(NamedTuple):
    """Where a joint's entries are: ours and MuJoCo's, in positions and in velocities."""

    body: Body
    q: slice
    v: slice
    qpos: slice
    qvel: slice


def state_from_mujoco(robot: Robot, qpos: npt.ArrayLike, qvel: npt.ArrayLike, *, model: Any = None) -> State:
    """Our q and qd of MuJoCo's qpos (..., nq) and qvel (..., nv)."""
    (theirs, rates), lead = _arrays(robot, qpos=(qpos, robot.nq), qvel=(qvel, robot.nv))
    q, qd = np.empty((*lead, robot.nq)), np.empty((*lead, robot.nv))
    for place in _places(robot, model):
        q[..., place.q] = _quaternion_moved(place, theirs[..., place.qpos], -1)
        qd[..., place.v] = rates[..., place.qvel]
        if place.body.kind == "floating":
            _turn(qd[..., place.v], _rotation(q[..., place.q]).swapaxes(-1, -2))
    return State(q, qd)


def state_to_mujoco(robot: Robot, q: npt.ArrayLike, qd: npt.ArrayLike, *, model: Any = None) -> State:
    """MuJoCo's qpos (..., nq) and qvel (..., nv) of our q and qd."""
    (ours, rates), lead = _arrays(robot, q=(q, robot.nq), qd=(qd, robot.nv))
    qpos, qvel = np.empty((*lead, robot.nq)), np.empty((*lead, robot.nv))
    for place in _places(robot, model):
        qpos[..., place.qpos] = _quaternion_moved(place, ours[..., place.q], 1)
        qvel[..., place.qvel] = rates[..., place.v]
        if place.body.kind == "floating":
            _turn(qvel[..., place.qvel], _rotation(ours[..., place.q]))
    return State(qpos, qvel)


def accelerations_from_mujoco(
    robot: Robot, q: npt.ArrayLike, qd: npt.ArrayLike, qacc: npt.ArrayLike, *, model: Any = None
) -> Array:
    """Our qdd (..., nv) of MuJoCo's qacc, at our state: a free joint's linear one is R^T a - w x v."""
    (ours, rates, theirs), lead = _arrays(robot, q=(q, robot.nq), qd=(qd, robot.nv), qacc=(qacc, robot.nv))
    qdd = np.empty((*lead, robot.nv))
    for place in _places(robot, model):
        qdd[..., place.v] = theirs[..., place.qvel]
        if place.body.kind == "floating":
            own = qdd[..., place.v]
            _turn(own, _rotation(ours[..., place.q]).swapaxes(-1, -2))
            own[..., :3] -= _sway(rates[..., place.v])
    return qdd


def accelerations_to_mujoco(
    robot: Robot, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, *, model: Any = None
) -> Array:
    """MuJoCo's qacc (..., nv) of our qdd, at our state."""
    (ours, rates, change), lead = _arrays(robot, q=(q, robot.nq), qd=(qd, robot.nv), qdd=(qdd, robot.nv))
    qacc = np.empty((*lead, robot.nv))
    for place in _places(robot, model):
        own = change[..., place.v].copy()
        if place.body.kind == "floating":
            own[..., :3] += _sway(rates[..., place.v])
            _turn(own, _rotation(ours[..., place.q]))
        qacc[..., place.qvel] = own
    return qacc


def forces_from_mujoco(robot: Robot, q: npt.ArrayLike, qfrc: npt.ArrayLike, *, model: Any = None) -> Array:
    """Our tau (..., nv) of MuJoCo's generalised forces (qfrc_applied, qfrc_inverse ...), at our q."""
    (ours, theirs), lead = _arrays(robot, q=(q, robot.nq), qfrc=(qfrc, robot.nv))
    tau = np.empty((*lead, robot.nv))
    for place in _places(robot, model):
        tau[..., place.v] = theirs[..., place.qvel]
        if place.body.kind == "floating":
            _turn(tau[..., place.v], _rotation(ours[..., place.q]).swapaxes(-1, -2))
    return tau


def forces_to_mujoco(robot: Robot, q: npt.ArrayLike, tau: npt.ArrayLike, *, model: Any = None) -> Array:
    """MuJoCo's generalised forces (..., nv) of our tau, at our q."""
    (ours, own), lead = _arrays(robot, q=(q, robot.nq), tau=(tau, robot.nv))
    qfrc = np.empty((*lead, robot.nv))
    for place in _places(robot, model):
        qfrc[..., place.qvel] = own[..., place.v]
        if place.body.kind == "floating":
            _turn(qfrc[..., place.qvel], _rotation(ours[..., place.q]))
    return qfrc


def tangent_to_mujoco(robot: Robot, q: npt.ArrayLike, qd: npt.ArrayLike, *, model: Any = None) -> Array:
    """(..., 2nv, 2nv) from small changes of our state (place, rates) to those of MuJoCo's, at a state.

    A free joint's: dp = R dx, turns alike, and of v = R v_base it is dv = R (dv_base + turn x v_base).
    """
    return _tangent(robot, q, qd, model, back=False)


def tangent_from_mujoco(robot: Robot, q: npt.ArrayLike, qd: npt.ArrayLike, *, model: Any = None) -> Array:
    """The inverse of `tangent_to_mujoco`, at our state."""
    return _tangent(robot, q, qd, model, back=True)


def transition_to_mujoco(
    robot: Robot,
    gradient: Any,
    before: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike],
    after: tuple[npt.ArrayLike, npt.ArrayLike],
    *,
    model: Any = None,
) -> Transition:
    """`robot.step_gradient(...)` (A and B) in MuJoCo's tangent spaces. before: our q, qd and tau; after: what
    `robot.step` gives. A force on a free joint counts as constant in the world's axes, as there."""
    nv = robot.nv
    a, b = np.asarray(gradient[0], np.float64), np.asarray(gradient[1], np.float64)
    if a.shape[-2:] != (2 * nv, 2 * nv) or b.shape[-2:] != (2 * nv, nv):
        raise ArgumentError(
            f"gradient: expected A (..., {2 * nv}, {2 * nv}) and B (..., {2 * nv}, {nv}), found shapes "
            f"{a.shape} and {b.shape}"
        )
    out = tangent_to_mujoco(robot, *after, model=model)
    q, qd, tau = before
    back = tangent_from_mujoco(robot, q, qd, model=model)
    turned = _turned_forces(robot, tau, model)
    if turned is not None:
        a = a + b @ turned
    # Forces turn as velocities do.
    return Transition(out @ a @ back, out @ b @ back[..., nv:, nv:])


def _tangent(robot: Robot, q: npt.ArrayLike, qd: npt.ArrayLike, model: Any, *, back: bool) -> Array:
    (ours, rates), lead = _arrays(robot, q=(q, robot.nq), qd=(qd, robot.nv))
    nv = robot.nv
    out = np.zeros((*lead, 2 * nv, 2 * nv))
    for place in _places(robot, model):
        mine, theirs = np.arange(nv)[place.v], np.arange(nv)[place.qvel]
        rows, columns = (mine, theirs) if back else (theirs, mine)
        turns = np.broadcast_to(np.eye(len(mine)), (*lead, len(mine), len(mine))).copy()
        if place.body.kind == "floating":
            rotation = _rotation(ours[..., place.q])
            turns[..., :3, :3] = rotation.swapaxes(-1, -2) if back else rotation
            # turn x v = -[v] turn
            moved = np.cross(np.eye(3), rates[..., None, place.v][..., :3]).swapaxes(-1, -2)
            moved = -moved if back else rotation @ moved
            out[..., nv + rows[:3, None], columns[None, 3:]] = moved
        out[..., rows[:, None], columns[None, :]] = turns
        out[..., nv + rows[:, None], nv + columns[None, :]] = turns
    return out


def _turned_forces(robot: Robot, tau: npt.ArrayLike, model: Any) -> Array | None:
    """(..., nv, 2nv) how forces R^T f in the base's axes change with its turn while f stays, tau x turn;
    None where there are none."""
    (given,), lead = _arrays(robot, tau=(tau, robot.nv))
    free = [place for place in _places(robot, model) if place.body.kind == "floating"]
    if not any(given[..., place.v][..., :3].any() for place in free):
        return None
    out = np.zeros((*lead, robot.nv, 2 * robot.nv))
    for place in free:
        rows = np.arange(robot.nv)[place.v]
        turned = np.cross(given[..., None, place.v][..., :3], np.eye(3)).swapaxes(-1, -2)
        out[..., rows[:3, None], rows[None, 3:]] = turned
    return out


def _places(robot: Robot, model: Any) -> Iterator[_Place]:
    """Every joint, checked to be one that MuJoCo can have."""
    known = robot.model.addresses if model is None else _addresses(model)
    total = 0
    for body in robot.model.bodies:
        name = body.joint_name
        if body.mimic is not None or body.kind not in _KINDS:
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
        mine, rates = robot.coordinates(name)
        at, dof = known[name]
        width, size = mine.stop - mine.start, rates.stop - rates.start
        total += size
        yield _Place(body, mine, rates, slice(at, at + width), slice(dof, dof + size))
    missing = set(known) - set(robot.joint_names)
    if missing:
        raise ArgumentError(
            f"{robot.name}: expected every joint of MuJoCo's model, found none for "
            f"{listed(sorted(missing))}: load the robot without locking or leaving out joints"
        )


def _addresses(model: Any) -> dict[str, tuple[int, int]]:
    """Joint name -> where its entries begin in qpos and in qvel."""
    joints = (model.joint(index) for index in range(model.njnt))
    return {joint.name: (int(joint.qposadr[0]), int(joint.dofadr[0])) for joint in joints}


def _arrays(robot: Robot, **given: tuple[npt.ArrayLike, int]) -> tuple[list[Array], tuple[int, ...]]:
    """Arguments in float64 with their batch dimensions broadcast, and those."""
    arrays = []
    for name, (value, size) in given.items():
        array = np.asarray(value, np.float64)
        if array.ndim == 0 or array.shape[-1] != size:
            raise ArgumentError(f"{name}: expected shape (..., {size}) for {robot.name}, found {array.shape}")
        arrays.append(array)
    try:
        lead = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
    except ValueError:
        found = ", ".join(f"{name} {a.shape}" for name, a in zip(given, arrays, strict=True))
        raise ArgumentError(f"expected batch dimensions that broadcast, found {found}") from None
    return [np.broadcast_to(array, (*lead, array.shape[-1])) for array in arrays], lead


def _quaternion_moved(place: _Place, coordinates: Array, by: int) -> Array:
    """The last four of a ball's or free joint's coordinates rolled by one, so that w changes its end."""
    if place.body.kind not in ("spherical", "ball", "floating"):
        return coordinates
    return np.concatenate([coordinates[..., :-4], np.roll(coordinates[..., -4:], by, -1)], axis=-1)


def _rotation(coordinates: Array) -> Array:
    """(..., 3, 3) from the base's axes to the world's, of [.. qx qy qz qw]."""
    u, w = coordinates[..., -4:-1], coordinates[..., -1:, None]
    square = np.sum(u * u, -1)[..., None, None]
    cross = np.cross(np.eye(3), u[..., None, :]).swapaxes(-1, -2)  # -[u]
    outer = u[..., :, None] * u[..., None, :]
    return np.asarray((w * w - square) * np.eye(3) + 2.0 * (outer - w * cross))


def _turn(velocity: Array, rotation: Array) -> None:
    """Turn the linear half in place."""
    velocity[..., :3] = (rotation @ velocity[..., :3, None])[..., 0]


def _sway(rates: Array) -> Array:
    """w x v: what base axes that turn leave out of accelerations."""
    return np.asarray(np.cross(rates[..., 3:], rates[..., :3]))
