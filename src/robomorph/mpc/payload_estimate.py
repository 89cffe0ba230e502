"""Which payload at the tool explains a disturbance: least squares, a share at every tick."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from robomorph.robot import Robot

Array = npt.NDArray[np.float64]
# J (3, nv) of the frame's origin and its drift (3,): its acceleration against free fall is J qdd + drift.
Rows = tuple[Array, Array]

SECONDS = 0.3  # that a disturbance takes to become a payload
_LEAST = 0.8  # share of the squared torque that a payload must explain to be taken for one
_LIGHTEST = 0.1  # N m per kg: a posture in which a payload is felt less tells nothing of it


class PayloadEstimate:
    """A point mass at the origin of a frame, into which disturbances are moved as far as it explains them.

    The sum of both torques stays what it is at the moment; what changes is how it is continued: a payload
    has inertia, and its weight turns with the arm. Only the mass is estimated: where its centre lies off the
    frame's origin, the remaining moment stays a disturbance (an estimated centre was tried: after a push it
    made up inertias of the last joints that were ten times too large, and the loop unstable).
    """

    def __init__(self, robot: Robot, frame: str, period: float, seconds: float = SECONDS) -> None:
        self.mass = 0.0  # kg
        self._jacobian = robot.compile("jacobian", frame=frame, threads=1, check_finite=False)
        self._rate = robot.compile("jacobian_rate", frame=frame, threads=1, check_finite=False)
        self._gravity = np.array(robot.gravity)
        self._share = 1.0 - math.exp(-period / seconds)

    def rows(self, q: Array, qd: Array) -> Rows:
        """How the mass moves with the joints in a state."""
        return self._jacobian(q)[:3], self._rate(q, qd)[:3] - self._gravity

    def torque(self, rows: Rows, qdd: Array) -> Array:
        """(nv,) what the mass adds to inverse dynamics."""
        jacobian, drift = rows
        return np.asarray(self.mass * (jacobian.T @ (jacobian @ qdd + drift)))

    def take(self, disturbance: Array, rows: Rows, qdd: Array) -> Array:
        """What is left of a disturbance torque (nv,), which acts with the joints' own."""
        jacobian, drift = rows
        column = jacobian.T @ (jacobian @ qdd + drift)  # N m per kg
        felt = float(column @ column)
        if felt < _LIGHTEST**2:
            return disturbance
        missing = -float(column @ disturbance) / felt  # kg
        whole = disturbance - self.mass * column
        size = float(whole @ whole)
        left = disturbance + missing * column
        explained = 1.0 - float(left @ left) / size if size > 0.0 else 0.0
        share = self._share * max(0.0, (explained - _LEAST) / (1.0 - _LEAST))
        before = self.mass
        self.mass = max(0.0, before + share * missing)
        return np.asarray(disturbance + (self.mass - before) * column)
