"""Efforts measured from what holds the robot still: gravity's torques, and those of springs that count."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from robomorph.mpc.layout import Layout
from robomorph.mpc.terms import Cost

Array = npt.NDArray[np.float64]


class GravityReference:
    """References of efforts: what holds the robot still where the posture is to be, node by node, or where it
    is now, and what the drives give beyond the model's, `beyond` (problems, nv). No new arrays after the
    first time."""

    def __init__(self, layout: Layout, arrays: dict[str, Array], beyond: Array) -> None:
        self._index = {cost.name: (cost, layout.index(cost.subject.joints)) for cost in layout.gravity}
        self._left: set[str] = set()  # costs that have numbers of their own for now
        q = arrays["q_reference"][:, : layout.horizon] if layout.posture else arrays["state_q"][:, None]
        self._q, self._given = q, np.ascontiguousarray(q)
        self._beyond = beyond
        self._torque: Array = np.empty_like(self._given)
        self._sum: Array = np.empty_like(self._given)
        robot, self._arguments = layout.robot, [self._given]
        springs = robot.model.passive is not None and any(body.stiffness for body in robot.model.bodies)
        if springs:  # of which gravity knows nothing
            self._arguments.append(np.zeros((*q.shape[:-1], robot.nv)))
        function = "bias_torque" if springs else "gravity_torque"
        self._kernel = robot.compile(function, check_finite=False)

    def leave(self, cost: Cost) -> None:
        """The cost has numbers of its own."""
        self._left.add(cost.name)

    def take(self, cost: Cost) -> None:
        self._left.discard(cost.name)

    def compute(self) -> None:
        """The torques that hold it where they are wanted now."""
        np.copyto(self._given, self._q)
        self._kernel(*self._arguments, out=self._torque)

    def set(self, write: Callable[[Cost, Array], None]) -> None:
        """Hand each cost its numbers (problems, nodes or 1, n)."""
        np.add(self._torque, self._beyond[:, None], out=self._sum)
        for name, (cost, index) in self._index.items():
            if name not in self._left:
                write(cost, self._sum[:, :, index])
