"""A point mass at a frame whose mass and place are numbers of the call: what it adds to a robot's dynamics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.model.pose import skew
from robomorph.robot import Robot

Array = npt.NDArray[np.float64]


class Motion(NamedTuple):
    """How the frame moves with the joints, in the world's axes: linear and angular rows of its Jacobian
    (3, nv), their drift dJ/dt qd without gravity (3,), its rotation (3, 3) and angular velocity (3,)."""

    linear: Array
    angular: Array
    falling: Array
    drifting: Array
    rotation: Array
    turning: Array


class PointMass:
    """mass (kg) at `centre` (3,) m in a frame's axes; zero until they are set."""

    def __init__(self, robot: Robot, frame: str) -> None:
        self.mass, self.centre = 0.0, np.zeros(3)
        quiet = {"frame": frame, "threads": 1, "check_finite": False}
        self._jacobian = robot.compile("jacobian", **quiet)  # type: ignore[arg-type]
        self._rate = robot.compile("jacobian_rate", **quiet)  # type: ignore[arg-type]
        self._pose = robot.compile("forward_kinematics", **quiet)  # type: ignore[arg-type]
        self._gravity = np.array(robot.gravity)

    def motion(self, q: Array, qd: Array) -> Motion:
        """The frame's motion in a state."""
        jacobian, rate = self._jacobian(q), self._rate(q, qd)
        turning = jacobian[3:] @ qd
        falling = rate[:3] - self._gravity
        return Motion(jacobian[:3], jacobian[3:], falling, rate[3:], self._pose(q)[:3, :3], turning)

    def rows(self, motion: Motion) -> tuple[Array, Array]:
        """J (3, nv) and drift (3,) of the mass point: its acceleration against free fall is J qdd + drift."""
        arm = motion.rotation @ self.centre
        spin = motion.turning
        jacobian = motion.linear - skew(arm) @ motion.angular
        drift = motion.falling + _cross(motion.drifting, arm) + _cross(spin, _cross(spin, arm))
        return jacobian, drift

    def torque(self, motion: Motion, qdd: Array) -> Array:
        """(nv,) what the mass adds to inverse dynamics."""
        jacobian, drift = self.rows(motion)
        return np.asarray(self.mass * (jacobian.T @ (jacobian @ qdd + drift)))

    def regressor(self, motion: Motion, qdd: Array) -> Array:
        """(nv, 4): torques per kg at the frame's origin, and per kg m of first moment along its axes. Second
        moments, which gravity does not show, are left out."""
        pull = motion.linear @ qdd + motion.falling
        angular = motion.angular @ qdd + motion.drifting
        spin = skew(motion.turning)
        swing = (skew(angular) + spin @ spin) @ motion.rotation
        moments = motion.linear.T @ swing - motion.angular.T @ skew(pull) @ motion.rotation
        return np.column_stack([motion.linear.T @ pull, moments])


def _cross(a: Array, b: Array) -> Array:
    """a x b of two (3,); numpy.cross takes ten times as long."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
