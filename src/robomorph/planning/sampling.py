"""What a finished motion does at given times, from kernels alone: no interpolant, no rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from robomorph.planning.channels import Channels
from robomorph.planning.functions import Functions
from robomorph.planning.problem import Array
from robomorph.planning.requirements import OfJoints, OfTask, OfTorques, Requirement
from robomorph.planning.spline import Spline

if TYPE_CHECKING:
    from robomorph.robot import Robot


class Sampler:
    """Values of requirements along a spline."""

    def __init__(self, robot: Robot, requirements: Sequence[Requirement]) -> None:
        self.robot, self.requirements = robot, tuple(requirements)
        self._channels = Channels(self.requirements)
        self._functions = Functions(robot, self._channels.tasks, False)

    def values(self, index: int, spline: Spline, t: Array) -> Array:
        """(len(t), rows): what a requirement holds, at times t (n,)."""
        requirement = self.requirements[index]
        if isinstance(requirement, OfJoints):
            return spline(t, requirement.rate)[:, list(requirement.joints)]
        if isinstance(requirement, OfTorques):
            tau = self.robot.inverse_dynamics(spline(t), spline(t, 1), spline(t, 2))
            return np.asarray(tau[:, list(requirement.joints)])
        assert isinstance(requirement, OfTask)
        places = [self._channels.place(index, k) for k in range(len(requirement.lower))]
        return self._of_task([c for c, _ in places], [x for _, x in places], requirement.rate, spline, t)

    def _of_task(self, own: list[int], offsets: list[float], rate: int, spline: Spline, t: Array) -> Array:
        q, references = spline(t), self._channels.references
        values, gradients = self._functions.channels(q, references)
        if rate == 0:
            return np.asarray(values[:, own] - np.array(offsets))
        qd = spline(t, 1)
        if rate == 1:
            return np.asarray(np.einsum("tcj,tj->tc", gradients[:, own], qd))
        out = np.einsum("tcj,tj->tc", gradients[:, own], spline(t, 2))
        for column, channel in enumerate(own):
            unit = np.zeros(values.shape)
            unit[:, channel] = 1.0
            bend = self._functions.channels_hessian(q, references, unit)
            out[:, column] += np.einsum("ti,tij,tj->t", qd, bend, qd)
        return np.asarray(out)
