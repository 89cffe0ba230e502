"""What every bridge offers: the algorithms that take states alone, and steps in time."""

from __future__ import annotations

from typing import Any

from robomorph.algorithms.step import step_named
from robomorph.robot_functions import RobotFunctions


class BridgeFunctions(RobotFunctions):
    """Methods named like the robot's; whoever derives from this answers `_call`, whose arguments are a
    function's inputs and then its parameters (interop/functions.py)."""

    def step(
        self, q: Any, qd: Any, tau: Any, dt: Any, f_ext: Any = None, *, integrator: str = "implicit"
    ) -> Any:
        """Named tuple (q_next, qd_next) after `dt` seconds, as `robot.step`."""
        return self._call(step_named("step", integrator), (q, qd, tau, dt), f_ext)

    def step_gradient(
        self, q: Any, qd: Any, tau: Any, dt: Any, f_ext: Any = None, *, integrator: str = "implicit"
    ) -> Any:
        """Named tuple (A, B): derivatives of `step` in tangent spaces, as `robot.step_gradient`."""
        return self._call(step_named("step_gradient", integrator), (q, qd, tau, dt), f_ext)
