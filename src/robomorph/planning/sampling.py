"""What a finished motion does at given times, from kernels alone: no interpolant, no rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from robomorph.planning.functions import ChannelList, Functions
from robomorph.planning.problem import Array
from robomorph.planning.requirements import OfJoints, OfTask, OfTorques, Requirement
from robomorph.planning.spline import Spline

if TYPE_CHECKING:
    from robomorph.robot import Robot


class Sampler:
    """Values of requirements along a spline."""

    def __init__(
        self, robot: Robot, requirements: Sequence[Requirement], functions: Functions | None = None
    ) -> None:
        self.robot, self.requirements = robot, tuple(requirements)
        wanted = [(r.task, r.reference) for r in self.requirements if isinstance(r, OfTask)]
        self._pairs = list(dict.fromkeys(wanted))
        rows = tuple(tuple(range(task.bound_size.rows)) for task, _ in self._pairs)
        channels = ChannelList(tuple(task for task, _ in self._pairs), rows)
        self._first = np.concatenate([[0], np.cumsum([len(r) for r in rows])]).astype(int)
        if functions is None or functions.list != channels:
            functions = Functions(robot, channels, False)
        self._functions = functions
        self._references = np.array([x for _, reference in self._pairs for x in reference] or [0.0])

    def values(self, index: int, spline: Spline, t: Array) -> Array:
        """(len(t), rows): what a requirement holds, at times t (n,)."""
        requirement = self.requirements[index]
        if isinstance(requirement, OfJoints):
            return spline(t, requirement.rate)[:, list(requirement.joints)]
        if isinstance(requirement, OfTorques):
            tau = self.robot.inverse_dynamics(spline(t), spline(t, 1), spline(t, 2))
            return np.asarray(tau[:, list(requirement.joints)])
        assert isinstance(requirement, OfTask)
        own = self._pairs.index((requirement.task, requirement.reference))
        return self._of_task(slice(self._first[own], self._first[own + 1]), requirement.rate, spline, t)

    def _of_task(self, own: slice, rate: int, spline: Spline, t: Array) -> Array:
        q = spline(t)
        values, gradients = self._functions.channels(q, self._references)
        if rate == 0:
            return values[:, own]
        qd = spline(t, 1)
        if rate == 1:
            return np.asarray(np.einsum("tcj,tj->tc", gradients[:, own], qd))
        out = np.einsum("tcj,tj->tc", gradients[:, own], spline(t, 2))
        for column, channel in enumerate(range(own.start, own.stop)):
            unit = np.zeros(values.shape)
            unit[:, channel] = 1.0
            bend = self._functions.channels_hessian(q, self._references, unit)
            out[:, column] += np.einsum("ti,tij,tj->t", qd, bend, qd)
        return np.asarray(out)
