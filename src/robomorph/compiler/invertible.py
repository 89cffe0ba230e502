"""What a robot without some of its masses cannot answer: asked before anything is traced or divided."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ModelError
from robomorph.model import WORLD, Model
from robomorph.model.joints import JOINT_TYPES
from robomorph.model.masses import idle_joints
from robomorph.naming import listed

Array = npt.NDArray[Any]

# Least inertia, or eigenvalue of the matrix scaled to a unit diagonal, that is more than rounding.
_NOTHING = 1e-14
# Least eigenvalue of that matrix that rounding cannot have made negative.
_NEGATIVE = 1e-10
_STATES = 3
_REMEDY = (
    "Give the links an <inertial>, weld mass to one with payloads={link: (mass, com, tensor)} (--payload on "
    "the command line), or hold joints still with locked={joint: value} (--locked JOINT=VALUE)."
)


def require_masses(model: Model, algorithm: str) -> None:
    """Refuse a function of the masses on a robot of which nothing that moves has any."""
    if model.bodies and all(body.inertia.is_zero and not body.armature for body in model.bodies):
        joints = listed(model.joint_names)
        raise ModelError(
            f"{model.name}: {algorithm} is about masses, but nothing that moves has any (joints {joints}); "
            f"kinematics, Jacobians and inverse kinematics work. {_REMEDY}"
        )


def require_invertible(model: Model, mass: Array, algorithm: str) -> None:
    """Refuse, by name, a robot that some motion of its joints moves no inertia at all.

    mass: mass matrices (n, nv, nv) at `random_configurations`.
    """
    idle = idle_dofs(mass, _dof_scales(model))
    if not idle:
        return
    joints = _dof_joints(model)
    names = sorted({joints[i] for i in idle}, key=joints.index)
    reasons = {model.bodies[index].joint_name: why for index, why in idle_joints(model.bodies).items()}
    if all(name in reasons for name in names):
        whys = {why: [name for name in names if reasons[name] == why] for why in reasons.values()}
        found = "; ".join(f"{_joints_move(group)} {why}" for why, group in whys.items() if group)
    else:
        found = f"some motion of {listed(names)} moves no inertia, or a negative one"
    raise ModelError(
        f"{model.name}: {algorithm} divides by the mass matrix, which is singular: {found}, so accelerations "
        f"do not exist. {_REMEDY}"
    )


def _joints_move(names: list[str]) -> str:
    return f"joint {names[0]!r} moves" if len(names) == 1 else f"joints {listed(names)} move"


def random_configurations(model: Model) -> Array:
    """A few configurations (n, nq), the same for every run."""
    rng = np.random.default_rng(0)
    parts = [
        JOINT_TYPES[body.kind].random(rng, body.limits.lower, body.limits.upper, (_STATES,))
        for body in model.bodies
        if body.mimic is None
    ]
    return np.concatenate(parts, axis=-1) if parts else np.empty((_STATES, 0))


def _dof_joints(model: Model) -> list[str]:
    """The joint of each degree of freedom."""
    return [
        body.joint_name
        for body in model.bodies
        if body.mimic is None
        for _ in range(JOINT_TYPES[body.kind].nv)
    ]


def _dof_scales(model: Model) -> Array:
    """(nv,) about the most inertia that each degree of freedom could move, were everything beyond its joint
    stretched out: the size that rounding is small against."""
    moments = _stretched_moments(model)
    roots: dict[int, Array] = {}
    for index, body in enumerate(model.bodies):
        mass, _, second = moments[index]
        own = np.sqrt([second if any(s.ang) else mass for s in JOINT_TYPES[body.kind].subspace])
        source, multiplier = (index, 1.0) if body.mimic is None else body.mimic[:2]
        roots[source] = roots.get(source, 0.0) + abs(multiplier) * own
    return np.concatenate(
        [roots[i] ** 2 for i, b in enumerate(model.bodies) if b.mimic is None] or [np.empty(0)]
    )


def _stretched_moments(model: Model) -> list[tuple[float, float, float]]:
    """For each body mass, mass times distance and inertia of all that it carries, laid out in a line."""
    moments = []
    for body in model.bodies:
        inertia = body.inertia
        reach = float(np.linalg.norm(inertia.com))
        size = float(np.linalg.norm(inertia.tensor)) + inertia.mass * reach**2
        moments.append((inertia.mass, inertia.mass * reach, size))
    for index in reversed(range(len(moments))):
        body = model.bodies[index]
        if body.parent == WORLD:
            continue
        away = float(np.linalg.norm(body.placement.translation))
        mass, first, second = moments[index]
        over = moments[body.parent]
        further = second + 2.0 * away * first + mass * away**2
        moments[body.parent] = (over[0] + mass, over[1] + first + mass * away, over[2] + further)
    return moments


def idle_dofs(mass: Array, scales: Array) -> list[int]:
    """Degrees of freedom in a motion without kinetic energy, if each matrix of `mass` (n, nv, nv) has one,
    or in one of negative energy, if some matrix has.

    scales: (nv,) inertias beside which rounding is small.
    """
    motions: list[list[int]] = []
    for matrix in mass if mass.size else ():
        diagonal = np.diagonal(matrix)
        nothing = ~(diagonal > _NOTHING * scales)
        if nothing.any():
            return [int(i) for i in np.flatnonzero(nothing)]
        scale = 1.0 / np.sqrt(diagonal)
        values, vectors = np.linalg.eigh(matrix * np.outer(scale, scale))
        motion = [int(i) for i in np.flatnonzero(np.abs(vectors[:, 0]) > 0.1)]
        if values[0] < -_NEGATIVE:
            return motion
        if values[0] <= _NOTHING:
            motions.append(motion)
    return motions[-1] if motions and len(motions) == len(mass) else []
