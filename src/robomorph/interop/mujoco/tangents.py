"""Small changes of states."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.interop.mujoco.arguments import arrays
from robomorph.interop.mujoco.places import places_of
from robomorph.interop.mujoco.turns import rotation_of, skew
from robomorph.robot import Robot

Array = npt.NDArray[np.float64]


def tangent_to_mujoco(robot: Robot, q: npt.ArrayLike, qd: npt.ArrayLike, *, model: Any = None) -> Array:
    """(..., 2nv, 2nv) from small changes of our state (place, rates) to those of MuJoCo's, at a state."""
    return _tangent(robot, q, qd, model, back=False)


def tangent_from_mujoco(robot: Robot, q: npt.ArrayLike, qd: npt.ArrayLike, *, model: Any = None) -> Array:
    """The inverse of `tangent_to_mujoco`, at our state."""
    return _tangent(robot, q, qd, model, back=True)


def _tangent(robot: Robot, q: npt.ArrayLike, qd: npt.ArrayLike, model: Any, *, back: bool) -> Array:
    (ours, rates), lead = arrays(robot, q=(q, robot.nq), qd=(qd, robot.nv))
    nv = robot.nv
    out = np.zeros((*lead, 2 * nv, 2 * nv))
    for place in places_of(robot, model):
        to, since = (place.v, place.qvel) if back else (place.qvel, place.v)
        rows, columns = (np.arange(2 * nv).reshape(2, nv)[:, part] for part in (to, since))
        out[..., rows, columns] = 1.0
        if place.body.kind == "floating":
            block = _block(ours[..., place.q], rates[..., place.v], back=back)
            out[..., _entries(to.start, nv)[:, None], _entries(since.start, nv)] = block
    return out


def parts(start: int, nv: int) -> tuple[slice, slice, slice]:
    """Where a free joint has what MuJoCo has otherwise: linear place, turn, linear rate."""
    return slice(start, start + 3), slice(start + 3, start + 6), slice(nv + start, nv + start + 3)


def _entries(start: int, nv: int) -> npt.NDArray[np.intp]:
    """The nine indices of `parts`."""
    return np.concatenate([np.arange(2 * nv)[part] for part in parts(start, nv)])


def _block(q: Array, qd: Array, *, back: bool) -> Array:
    """(..., 9, 9) from small changes of a free joint (`parts`) to MuJoCo's: dp = R dx, turns alike, and of
    v = R v_base it is dv = R (dv_base + turn x v_base). back: from MuJoCo's to ours."""
    rotation, sway = rotation_of(q), skew(qd[..., :3])
    out = np.zeros((*q.shape[:-1], 9, 9))
    out[..., 3:6, 3:6] = np.eye(3)
    turned = rotation.swapaxes(-1, -2) if back else rotation
    out[..., :3, :3] = out[..., 6:, 6:] = turned
    out[..., 6:, 3:6] = sway if back else -(rotation @ sway)
    return out
