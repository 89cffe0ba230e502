"""Is a robot's mass matrix singular whatever its configuration? Asked before anything divides by it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.model import Model
from robomorph.model.joints import JOINT_TYPES

Array = npt.NDArray[Any]

# Least eigenvalue, of the matrix scaled to a unit diagonal, that is more than rounding.
_NOTHING = 1e-14
_STATES = 3


def random_configurations(model: Model) -> Array:
    """A few configurations (n, nq), the same for every run."""
    rng = np.random.default_rng(0)
    parts = [
        JOINT_TYPES[body.kind].random(rng, body.limits.lower, body.limits.upper, (_STATES,))
        for body in model.bodies
        if body.mimic is None
    ]
    return np.concatenate(parts, axis=-1) if parts else np.empty((_STATES, 0))


def dof_joints(model: Model) -> list[str]:
    """The joint of each degree of freedom."""
    return [
        body.joint_name
        for body in model.bodies
        if body.mimic is None
        for _ in range(JOINT_TYPES[body.kind].nv)
    ]


def idle_dofs(mass: Array) -> list[int]:
    """Degrees of freedom in a motion without kinetic energy, if each matrix of `mass` (n, nv, nv) has one."""
    found: list[int] = []
    if mass.size == 0:
        return found
    for matrix in mass:
        diagonal = np.diagonal(matrix)
        if not np.all(diagonal > 0.0):
            return [int(i) for i in np.flatnonzero(~(diagonal > 0.0))]
        scale = 1.0 / np.sqrt(diagonal)
        values, vectors = np.linalg.eigh(matrix * np.outer(scale, scale))
        if values[0] > _NOTHING:
            return []
        found = [int(i) for i in np.flatnonzero(np.abs(vectors[:, 0]) > 0.1)]
    return found
