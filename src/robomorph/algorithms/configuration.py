"""A model's configurations: which entries belong to which joint, their limits, steps between two of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.tree import coordinate_starts, model_sizes
from robomorph.model import Model
from robomorph.model.joints import JOINT_TYPES
from robomorph.spatial import Scalar

Array = npt.NDArray[Any]


def coordinates(model: Model, joint: str) -> tuple[slice, slice]:
    """Where a joint's coordinates are in q and its degrees of freedom in qd (a mimic joint's are those of the
    joint it follows)."""
    index = model.joint_index(joint)
    mimic = model.bodies[index].mimic
    start = coordinate_starts(model)[index if mimic is None else mimic[0]]
    kind = JOINT_TYPES[model.bodies[index].kind]
    return slice(start.nq, start.nq + kind.nq), slice(start.nv, start.nv + kind.nv)


def neutral(model: Model) -> Array:
    """(nq,) all joints at zero, bases at the origin."""
    parts = [JOINT_TYPES[body.kind].neutral() for body in model.bodies if body.mimic is None]
    return np.array([x for part in parts for x in part])


def position_limits(model: Model) -> tuple[Array, Array]:
    """(nq,) each, lower and upper: infinite where there is none, as in joints of several coordinates."""
    nq = model_sizes(model).nq
    lower, upper = np.full(nq, -np.inf), np.full(nq, np.inf)
    for i, (iq, _) in coordinate_starts(model).items():
        body = model.bodies[i]
        if JOINT_TYPES[body.kind].nq == 1:
            lower[iq], upper[iq] = body.limits.lower, body.limits.upper
    return lower, upper


def integrate(model: Model, q: Array, dq: Array) -> Array:
    """The configuration (..., nq) reached from `q` by the tangent step `dq` (..., nv), of one dtype and with
    equal batch dimensions."""
    out = np.empty(q.shape, q.dtype)
    for i, (iq, iv) in coordinate_starts(model).items():
        joint = JOINT_TYPES[model.bodies[i].kind]
        here = slice(iq, iq + joint.nq)
        out[..., here] = joint.integrate(q[..., here], dq[..., iv : iv + joint.nv])
    return out


def difference(model: Model, q0: Array, q1: Array) -> Array:
    """The tangent step (..., nv) from `q0` (..., nq) to `q1`, of one dtype; batch dimensions broadcast."""
    q0, q1 = np.broadcast_arrays(q0, q1)
    out = np.empty((*q0.shape[:-1], model_sizes(model).nv), q0.dtype)
    for i, (iq, iv) in coordinate_starts(model).items():
        joint = JOINT_TYPES[model.bodies[i].kind]
        here = slice(iq, iq + joint.nq)
        out[..., iv : iv + joint.nv] = joint.difference(q0[..., here], q1[..., here])
    return out


def lifted(model: Model, q: Sequence[Scalar], dq: Sequence[Scalar]) -> list[Scalar]:
    """(nq,) how the coordinates change with a small step `dq` (nv,): the derivative of `integrate`."""
    out: list[Scalar] = []
    for i, (iq, iv) in coordinate_starts(model).items():
        joint = JOINT_TYPES[model.bodies[i].kind]
        for row in joint.tangent(q[iq : iq + joint.nq]):
            out.append(_total(x * step for x, step in zip(row, dq[iv : iv + joint.nv], strict=True)))
    return out


def projected(model: Model, q: Sequence[Scalar], weights: Sequence[Scalar]) -> list[Scalar]:
    """(nv,) the transpose: weights of coordinates (nq,) as weights of tangent steps."""
    out: list[Scalar] = []
    for i, (iq, _) in coordinate_starts(model).items():
        joint = JOINT_TYPES[model.bodies[i].kind]
        own = weights[iq : iq + joint.nq]
        rows = joint.tangent(q[iq : iq + joint.nq])
        out += [_total(row[k] * w for row, w in zip(rows, own, strict=True)) for k in range(joint.nv)]
    return out


def _total(terms: Iterable[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for term in terms:
        total = total + term
    return total
