"""Which payload at the tool explains a disturbance: least squares, a share at every tick."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robomorph.mpc.point_mass import Motion, PointMass
from robomorph.robot import Robot

Array = npt.NDArray[np.float64]

SECONDS = 0.1  # that a disturbance takes to become a payload
# What a unit of disturbance (N m) is weighed against: kg, and kg m of first moment.
_SPREAD = np.array([5.0, 1.0, 1.0, 1.0])
_FARTHEST = 0.5  # m, of the payload's centre from the frame's origin


class PayloadEstimate:
    """Moves what a point mass at `frame` explains out of a disturbance into that mass.

    The sum of both torques stays what it is at the moment; what changes is how it is continued: a payload
    has inertia, and its weight turns with the arm.
    """

    def __init__(self, robot: Robot, frame: str, period: float, seconds: float = SECONDS) -> None:
        self.point = PointMass(robot, frame)
        self._moments = np.zeros(4)  # mass, first moment
        self._share = 1.0 - np.exp(-period / seconds)

    def take(self, disturbance: Array, motion: Motion, qdd: Array) -> Array:
        """What is left of a disturbance torque (nv,), which acts with the joints' own."""
        before = self.point.torque(motion, qdd)
        rows = self.point.regressor(motion, qdd)
        normal = rows.T @ rows + np.diag(_SPREAD**-2)
        self._set(self._moments - self._share * np.linalg.solve(normal, rows.T @ disturbance))
        return np.asarray(disturbance + self.point.torque(motion, qdd) - before)

    def _set(self, moments: Array) -> None:
        mass = max(0.0, float(moments[0]))
        first = moments[1:]
        reach = float(np.sqrt(first @ first))
        if reach > _FARTHEST * mass:
            first = first * (_FARTHEST * mass / reach)
        self._moments = np.concatenate([[mass], first])
        self.point.mass, self.point.centre = mass, first / mass if mass > 0.0 else np.zeros(3)
