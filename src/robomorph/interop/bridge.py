"""What every bridge offers: the algorithms that take states alone, and steps in time."""

from __future__ import annotations

from typing import Any

from robomorph.algorithms.step import step_named
from robomorph.errors import ArgumentError
from robomorph.robot import Robot
from robomorph.robot_functions import RobotFunctions


def require_robot(robot: Any) -> Robot:
    """What a bridge was given, if it is a robot."""
    if isinstance(robot, Robot):
        return robot
    kind = type(robot).__name__
    raise ArgumentError(f"robot: expected a Robot, found {kind}: pass what robomorph.load(...) gives")


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
