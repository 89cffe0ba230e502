"""One step in time as in a textbook, in plain NumPy: rotations are matrices and quaternions multiplied out.

Semi-implicit Euler: rates change by accelerations, then places by the new rates. What slides in axes that
turn with it (free and planar joints) keeps its linear velocity in axes that stand still for the step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.tree import coordinate_starts
from robomorph.model.joints import JOINT_TYPES
from robomorph.model.manifolds import SE2, SE3, SO3, Flat, Manifold
from robomorph.verify.reference import Reference
from robomorph.verify.reference_joints import drag

Array = npt.NDArray[Any]
_SPACES = (Flat, SO3, SE3, SE2)


def stepped(
    reference: Reference, q: Array, qd: Array, tau: Array, dt: Array, *, implicit: bool
) -> dict[str, Array] | None:
    """q_next (B, nq) and qd_next (B, nv) after steps dt (B,); None if a joint type steps in a way of its own.
    implicit: drag is taken at the speed after the step."""
    model, h = reference.robot.model, dt[:, None]
    qdd = _accelerations(reference, q, qd, tau, h, implicit)
    q_next, qd_next = np.empty_like(q), np.empty_like(qd)
    for i, start in coordinate_starts(model).items():
        joint = JOINT_TYPES[model.bodies[i].kind]
        place, rates = slice(start.nq, start.nq + joint.nq), slice(start.nv, start.nv + joint.nv)
        space = joint.known_manifold
        if type(space) not in _SPACES:
            return None
        assert space is not None
        found = _advanced(space, q[:, place], qd[:, rates], qdd[:, rates], h)
        q_next[:, place], qd_next[:, rates] = found
    return {"q_next": q_next, "qd_next": qd_next}


def _accelerations(reference: Reference, q: Array, qd: Array, tau: Array, h: Array, implicit: bool) -> Array:
    """(M + h D) qdd = tau - what holds at no acceleration - h D (what turning axes add to it)."""
    mass, left = reference.mass_matrix(q), tau - reference.inverse_dynamics(q, qd, np.zeros_like(qd))
    if implicit:
        inertia, turning = drag(reference.robot.model, qd)
        mass, left = mass + h[..., None] * inertia, left - h * turning
    return np.asarray(np.linalg.solve(mass, left[..., None])[..., 0])


def _advanced(space: Manifold, q: Array, v: Array, a: Array, h: Array) -> tuple[Array, Array]:
    """Coordinates and rates of one joint after the step."""
    if isinstance(space, Flat):
        return q + h * (v + h * a), v + h * a
    if isinstance(space, SO3):
        return _turned(q, h * (v + h * a)), v + h * a
    if isinstance(space, SE3):
        spin = v[:, 3:] + h * a[:, 3:]
        still = v[:, :3] + h * (a[:, :3] + np.cross(v[:, 3:], v[:, :3]))
        before, after = q[:, 3:], _turned(q[:, 3:], h * spin)
        travel = _matrix(before) @ still[..., None]
        carried = (np.swapaxes(_matrix(after), 1, 2) @ travel)[..., 0]
        place = q[:, :3] + h * travel[..., 0]
        return np.concatenate([place, after], axis=1), np.concatenate([carried, spin], axis=1)
    # The plane as complex numbers: a turn is a factor of length one.
    spin = v[:, 2] + h[:, 0] * a[:, 2]
    speed = v[:, 0] + 1j * v[:, 1]
    speed = speed + h[:, 0] * (a[:, 0] + 1j * a[:, 1] + 1j * v[:, 2] * speed)
    before = q[:, 2] + 1j * q[:, 3]
    turn = np.exp(1j * h[:, 0] * spin)
    point = q[:, 0] + 1j * q[:, 1] + h[:, 0] * before * speed
    after, carried = before * turn, speed / turn
    return (
        np.stack([point.real, point.imag, after.real, after.imag], axis=1),
        np.stack([carried.real, carried.imag, spin], axis=1),
    )


def _turned(quaternion: Array, vector: Array) -> Array:
    """Quaternions (B, 4) [x y z w] turned by rotation vectors (B, 3) in their own axes."""
    angle = np.linalg.norm(vector, axis=1, keepdims=True)
    p = np.concatenate([0.5 * np.sinc(0.5 * angle / np.pi) * vector, np.cos(0.5 * angle)], axis=1)
    x, y, z, w = quaternion.T
    rows = [[w, -z, y, x], [z, w, -x, y], [-y, x, w, z], [-x, -y, -z, w]]
    by = np.stack([np.stack(row, axis=-1) for row in rows], axis=1)
    return np.asarray((by @ p[..., None])[..., 0])


def _matrix(quaternion: Array) -> Array:
    """(B, 3, 3) of quaternions: 1 + 2 w [u] + 2 [u]^2."""
    x, y, z, w = quaternion.T
    none = np.zeros_like(x)
    rows = [[none, -z, y], [z, none, -x], [-y, x, none]]
    skew = np.stack([np.stack(row, axis=-1) for row in rows], axis=1)
    return np.asarray(np.eye(3) + 2.0 * (w[:, None, None] * skew + skew @ skew))
