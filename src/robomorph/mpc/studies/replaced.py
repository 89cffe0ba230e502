"""A controller's kernels with the gradient of the dynamics replaced."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from robomorph.mpc.kernels import LANES, Code, ControlKernels
from robomorph.mpc.studies.code import Evaluate, PythonCode
from robomorph.mpc.studies.gradients import Gradient, States

if TYPE_CHECKING:
    from robomorph.mpc.problem import Problem

Array = npt.NDArray[np.float64]


class ReplacedGradient(ControlKernels):
    """Values stay those of float64, so that costs, motions and line searches are exact: only what a step
    takes for the derivatives of the dynamics comes from `gradient`.

    - accelerations as controls: d tau / d q, d qd and M from it, or with `exact_mass` M in float64;
    - torques as controls, as in the papers: qdd and M^-1 in float64, -M^-1 dtau from it."""

    def __init__(self, problem: Problem, gradient: Gradient, *, exact_mass: bool = False) -> None:
        from robomorph.mpc.layout import lay_out

        super().__init__(problem.robot, lay_out(problem).pieces)
        self.gradient = gradient
        self._mass = (
            problem.robot.compile("mass_matrix", threads=1, check_finite=False) if exact_mass else None
        )
        self._codes: list[PythonCode] = []
        self._exact = problem.robot.compile("inverse_dynamics", threads=1, check_finite=False)
        self._forward = problem.robot.compile(
            "forward_dynamics_gradient", outputs=("qdd", "minv"), threads=1, check_finite=False
        )

    def again(self) -> None:
        """Raise what the gradient raised while native code was waiting."""
        for code in self._codes:
            code.again()

    @cached_property
    def handles(self) -> dict[str, Code]:
        return {**ControlKernels(self.robot, self.pieces).handles, "torque": self._code(self._torque)}

    @cached_property
    def forward_handles(self) -> dict[str, Code]:
        plain = ControlKernels(self.robot, self.pieces).forward_handles
        return {**plain, "acceleration_gradient": self._code(self._acceleration)}

    def _code(self, evaluate: Evaluate) -> PythonCode:
        """Three vectors in; one vector and three matrices out."""
        nv = self.robot.nv
        self._codes.append(PythonCode(evaluate, (nv,) * 3, (nv, nv * nv, nv * nv, nv * nv), LANES))
        return self._codes[-1]

    def _torque(self, q: Array, qd: Array, qdd: Array) -> Sequence[Array]:
        q, qd, qdd = (np.ascontiguousarray(x) for x in (q, qd, qdd))
        at = States(q, qd, qdd)
        mass = self.gradient.mass(at) if self._mass is None else self._mass(q)
        return self._exact(q, qd, qdd), *self.gradient.torques(at), mass

    def _acceleration(self, q: Array, qd: Array, tau: Array) -> Sequence[Array]:
        q, qd, tau = (np.ascontiguousarray(x) for x in (q, qd, tau))
        qdd, minv = self._forward(q, qd, tau)
        return qdd, *self.gradient.accelerations(States(q, qd, qdd, minv)), minv
