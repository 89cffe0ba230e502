"""Several solutions of one problem: which of the many that the starts led to are distinct."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.configuration import difference
from robomorph.ik.solver import Raw

if TYPE_CHECKING:
    from robomorph.robot import Robot

Array = npt.NDArray[Any]
# Two solutions are one if no step from the one to the other is longer (rad, m).
APART = 0.05


def choose_distinct(robot: Robot, raw: Raw, posture: Array, wanted: int) -> Raw:
    """Of every start's answer (n, starts), at most `wanted` that differ, nearest to the posture first:
    (n * wanted). Left-over places repeat the best answer with success False."""
    count, starts, nq = raw.q.shape
    picked = np.zeros((count, wanted), int)
    valid = np.zeros((count, wanted), bool)
    for i in range(count):
        found = _distinct(robot, raw.q[i], raw.success[i], posture[i], wanted)
        if found:
            picked[i, :] = found[0]
            picked[i, : len(found)] = found
            valid[i, : len(found)] = True
        else:
            picked[i, :] = int(np.argmin(raw.position_error[i] + raw.rotation_error[i]))
    flat = (np.arange(count)[:, None] * starts + picked).ravel()
    fields = (raw.position_error, raw.rotation_error, raw.iterations, raw.starts)
    position, rotation, iterations, used = (f.reshape(-1)[flat] for f in fields)
    return Raw(
        raw.q.reshape(-1, nq)[flat], valid.ravel(), position, rotation, iterations, np.full_like(used, starts)
    )


def _distinct(robot: Robot, q: Array, success: Array, posture: Array, wanted: int) -> list[int]:
    q = np.where(success[:, None], q, posture)
    distance = np.linalg.norm(_steps(robot, posture, q), axis=-1)
    order = [int(k) for k in np.argsort(distance, kind="stable") if success[k]]
    kept: list[int] = []
    for k in order:
        if len(kept) == wanted:
            break
        if not kept or np.abs(_steps(robot, q[kept], q[k])).max(axis=-1, initial=0.0).min() > APART:
            kept.append(k)
    return kept


def _steps(robot: Robot, q0: Array, q1: Array) -> Array:
    """Steps of the manifold from q0 to q1: two quaternions stand for one rotation."""
    # Of what is searched, only coordinates that add are as many as the degrees of freedom.
    return np.asarray(q1 - q0) if robot.nq == robot.nv else difference(robot.model, q0, q1)
