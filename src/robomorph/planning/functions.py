"""The functions of a motion, on arrays: channels of tasks, torques, and their derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from robomorph.planning.kernels import MotionKernels
from robomorph.planning.problem import Array
from robomorph.tasks import AnyTask

if TYPE_CHECKING:
    from robomorph.robot import Robot

_KERNELS: WeakKeyDictionary[Robot, dict[Any, MotionKernels]] = WeakKeyDictionary()


def kernels_of(robot: Robot, tasks: tuple[AnyTask, ...], torque: bool) -> MotionKernels:
    """The kernels of a robot and a list of tasks, made once."""
    own = _KERNELS.setdefault(robot, {})
    if (tasks, torque) not in own:
        own[tasks, torque] = MotionKernels(robot, tasks, torque=torque)
    return own[tasks, torque]


class Functions:
    """Channels and torques of one robot, evaluated with arrays."""

    def __init__(self, robot: Robot, tasks: tuple[AnyTask, ...], torque: bool) -> None:
        self.robot, self.tasks = robot, tasks
        self.kernels = kernels_of(robot, tasks, torque)

    def _kernel(self, name: str) -> Any:
        return self.kernels.kernel(name, check_finite=False)

    def channels(self, q: Array, references: Array) -> tuple[Array, Array]:
        """Values (..., C) and gradients (..., C, nv) at q (..., nv)."""
        if not self.tasks:
            return np.zeros((*q.shape[:-1], 0)), np.zeros((*q.shape[:-1], 0, q.shape[-1]))
        found = self._kernel("channels")(q, references)
        return found.values, found.gradients

    def channels_hessian(self, q: Array, references: Array, multipliers: Array) -> Array:
        """(..., nv, nv): second derivative of multipliers (..., C) . channels."""
        return np.asarray(self._kernel("channel_hessian")(q, references, multipliers))

    def torque(self, q: Array, qd: Array, qdd: Array) -> Any:
        """tau (..., nv), dtau_dq, dtau_dqd, mass (..., nv, nv)."""
        return self._kernel("torque")(q, qd, qdd)

    def torque_hessian(self, q: Array, qd: Array, qdd: Array, multipliers: Array) -> Array:
        """(..., 3 nv, 3 nv): second derivative of multipliers (..., nv) . tau by (q, qd, qdd)."""
        found, nv = self._kernel("torque_hessian")(q, qd, qdd, multipliers), q.shape[-1]
        out = np.zeros((*q.shape[:-1], 3 * nv, 3 * nv))
        for place, block in (
            ((0, 0), found.qq),
            ((0, 1), found.q_qd),
            ((1, 1), found.qd_qd),
            ((0, 2), found.q_qdd),
        ):
            row, column = (slice(k * nv, (k + 1) * nv) for k in place)
            out[..., row, column] = block
            if row != column:
                out[..., column, row] = np.swapaxes(block, -1, -2)
        return out
