"""What joints ask for by themselves, in plain NumPy: armatures, dampers, springs, friction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.tree import coordinate_starts, model_sizes
from robomorph.model import Body, Model
from robomorph.model.joints import JOINT_TYPES

Array = npt.NDArray[Any]


def own_masses(model: Model) -> Array:
    """(nv, nv) of armatures."""
    nv = model_sizes(model).nv
    return sum((body.armature * own.T @ own for body, own in _own_rates(model)), start=np.zeros((nv, nv)))


def own_torques(model: Model, q: Array, qd: Array, qdd: Array) -> Array:
    """(B, nv) for a motion."""
    tau = np.zeros_like(qd)
    for body, own in _own_rates(model):
        spins, slides = (np.array(units) for units in zip(*unit_motions(body), strict=True))
        rates = qd @ own.T
        # Changes of the rates as seen in axes that do not turn with the joint.
        changes = qdd @ own.T + _turning(rates, spins, slides)
        forces = body.armature * changes
        if model.passive is not None:
            forces += body.damping * rates
            forces += body.friction * rates / np.hypot(rates, model.passive.width)
            if body.stiffness:
                forces += body.stiffness * _stretch(model, body, q)[:, None]
        tau += forces @ own
    return tau


def drags(model: Model) -> bool:
    """Does anything slow joints down?"""
    return model.passive is not None and any(body.damping or body.friction for body in model.bodies)


def drag(model: Model, qd: Array) -> tuple[Array, Array]:
    """D (B, nv, nv) with the torques D qd of dampers and friction, and (B, nv) what D makes of changes of the
    rates that axes turning with a joint bring about."""
    matrix, turning = np.zeros((*qd.shape, qd.shape[-1])), np.zeros_like(qd)
    for body, own in _own_rates(model) if model.passive is not None else ():
        assert model.passive is not None
        spins, slides = (np.array(units) for units in zip(*unit_motions(body), strict=True))
        rates = qd @ own.T
        share = body.damping + body.friction / np.hypot(rates, model.passive.width)
        matrix += own.T @ (share[..., None] * own)
        turning += (share * _turning(rates, spins, slides)) @ own
    return matrix, turning


def _turning(rates: Array, spins: Array, slides: Array) -> Array:
    """What is added to changes of a joint's rates for those seen in axes that do not turn with it."""
    return np.asarray(np.cross(rates @ spins, rates @ slides) @ slides.T)


def spring_energy(model: Model, q: Array) -> Array:
    """(B,) J."""
    total = np.zeros(len(q))
    for body in model.bodies if model.passive is not None else ():
        if body.stiffness:
            total += 0.5 * body.stiffness * _stretch(model, body, q) ** 2
    return total


def coriolis_of_armature(model: Model, qd: Array) -> Array:
    """(B, nv, nv): what turning axes make of armatures that slide in them."""
    total = np.zeros((*qd.shape, qd.shape[-1]))
    for body, own in _own_rates(model):
        spins, slides = (np.array(units) for units in zip(*unit_motions(body), strict=True))
        turned = np.cross((qd @ own.T @ spins)[:, None, :], slides)  # w x every slide
        total += body.armature * own.T @ (slides @ turned.transpose(0, 2, 1)) @ own
    return total


def _own_rates(model: Model) -> Iterator[tuple[Body, Array]]:
    """Every body, and the matrix (its nv, nv) from all rates to its joint's own."""
    starts, nv = coordinate_starts(model), model_sizes(model).nv
    for i, body in enumerate(model.bodies):
        source, scale, _ = (i, 1.0, 0.0) if body.mimic is None else body.mimic
        yield body, scale * np.eye(JOINT_TYPES[body.kind].nv, nv, starts[source].nv)


def _stretch(model: Model, body: Body, q: Array) -> Array:
    """(B,) how far a spring is from where it is slack."""
    index = model.joint_index(body.joint_name)
    source, scale, offset = (index, 1.0, 0.0) if body.mimic is None else body.mimic
    return np.asarray(scale * q[:, coordinate_starts(model)[source].nq] + offset - body.rest)


def unit_motions(body: Body) -> list[tuple[Array, Array]]:
    """Angular and linear velocity in the body's frame of each unit of its joint's velocity."""
    align = aligned(body)
    subspace = JOINT_TYPES[body.kind].subspace
    return [(align @ np.array(unit.ang, float), align @ np.array(unit.lin, float)) for unit in subspace]


def aligned(body: Body) -> Array:
    """A rotation whose third column is the joint's axis: joint types are written about z."""
    axis = np.asarray(body.axis)
    if not JOINT_TYPES[body.kind].has_axis or axis.tolist() == [0.0, 0.0, 1.0]:
        return np.eye(3)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(axis)))], axis)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(axis, x), axis], axis=1)
