"""Configurations as free coordinates, over traced scalars.

What CasADi's solvers change are coordinates, so quaternions and (cos, sin) pairs need not have length one: a
function of q is that of q normalised, and so are its derivatives. A change of coordinates then is the change
E(q) dq of the tangent vector, which has no part along a quaternion's own length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robomorph.algorithms.tree import coordinate_starts, model_sizes
from robomorph.compiler.unit_parts import unit_parts
from robomorph.errors import DerivativeError
from robomorph.model import Model
from robomorph.model.joints import JOINT_TYPES, JointType
from robomorph.spatial import reciprocal, sqrt

Scalars = Sequence[Any]


def normalised(model: Model, q: Scalars) -> tuple[list[Any], list[Any]]:
    """q (nq) with its unit parts of length one; and by coordinate what dq is to be multiplied by: one over
    the length of the part that it belongs to."""
    unit, scales = list(q), [1.0] * len(q)
    for part in unit_parts(model):
        own = slice(part.start, part.stop)
        total: Any = 0.0
        for x in q[own]:
            total = total + x * x
        scale = reciprocal(sqrt(total))
        unit[own] = [x * scale for x in q[own]]
        scales[own] = [scale] * len(q[own])
    return unit, scales


def tangent_rows(model: Model, unit: Scalars, scales: Scalars) -> list[dict[int, Any]]:
    """E (nv, nq), each row by column: from changes of coordinates to the tangent vector. `unit` and `scales`
    are those of `normalised`."""
    rows: list[dict[int, Any]] = [{} for _ in range(model_sizes(model).nv)]
    for index, (iq, iv) in coordinate_starts(model).items():
        joint = JOINT_TYPES[model.bodies[index].kind]
        lift = joint.tangent(unit[iq : iq + joint.nq])
        squares = _squares(joint, model.bodies[index].joint_name)
        for k in range(joint.nq):
            for j in range(joint.nv):
                if not (isinstance(lift[k][j], float) and lift[k][j] == 0.0):
                    rows[iv + j][iq + k] = lift[k][j] * (scales[iq + k] * (1.0 / squares[j]))
    return rows


def _squares(joint: JointType, name: str) -> list[float]:
    """The squared lengths of the lift's columns, which are the same everywhere and at right angles: so its
    transpose, divided by them, is its inverse."""
    if not joint.nv:
        return []
    lift = np.array(joint.tangent(joint.neutral()), float)
    product = lift.T @ lift
    squares = np.diag(product)
    if np.abs(product - np.diag(squares)).max() > 1e-12 * squares.max():
        raise DerivativeError(
            f"joint {name}: expected coordinates that change at right angles with each degree of freedom, "
            f"found joint type {type(joint).__name__}, for which they do not: no derivative by q"
        )
    return [float(x) for x in squares]
