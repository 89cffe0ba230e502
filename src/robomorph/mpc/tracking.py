"""How far a robot is from what a problem's tasks want of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.mpc.kernels import ControlKernels
from robomorph.mpc.layout import ROWS
from robomorph.mpc.problem import Problem
from robomorph.mpc.terms import Cost
from robomorph.tasks import AnyTask

Array = npt.NDArray[np.float64]


class Tracking:
    """Rows of the problem's costs on tasks, against references as steps are given them. Where there are other
    tasks than postures, those count alone: a posture beside them only says which of many ways is liked."""

    def __init__(self, problem: Problem) -> None:
        costs = [c for c in problem.costs.values() if isinstance(c.what, AnyTask) and not c.rate]
        rows = [cost for cost in costs if cost.subject.symbol == ROWS]
        self._costs = rows or costs
        self._all = costs
        self._nv = problem.robot.nv
        self._kernels = ControlKernels(problem.robot, [p for cost in rows for p in cost.subject.pieces])

    def error(self, reference: Any, q: Array) -> Array:
        """(n,) rad and m at q (nv,), for what a step is told; (0,) if there is no task."""
        wanted = [self._wanted(cost, reference) for cost in self._costs]
        if not wanted:
            return np.zeros(0)
        if self._kernels.pieces:
            return np.asarray(self._kernels.rows(q, np.concatenate(wanted))[0])
        parts = [q[list(c.subject.joints)] - w for c, w in zip(self._costs, wanted, strict=True)]
        return np.concatenate(parts)

    def configuration(self, reference: Any) -> Array | None:
        """(nv,) the posture that is wanted, if it is of all joints and what counts."""
        found = np.full(self._nv, np.nan)
        for cost in self._costs:
            if cost.subject.symbol != ROWS:
                found[list(cost.subject.joints)] = self._wanted(cost, reference)
        return found if np.isfinite(found).all() else None

    def _wanted(self, cost: Cost, reference: Any) -> Array:
        """(numbers,) of node 0."""
        given = self._given(cost, reference)
        numbers = cost.reference if given is None else np.asarray(cost.subject.read(given))
        assert isinstance(numbers, np.ndarray)  # a step without it has been refused
        return numbers if numbers.ndim == 1 else numbers[0]

    def _given(self, cost: Cost, reference: Any) -> Any:
        if not isinstance(reference, Mapping):
            return reference if len(self._all) == 1 else None
        for key, value in reference.items():
            if key == cost.name or (not isinstance(key, str) and key == cost.what):
                return value
        return None
