"""Which payload explains a disturbance: least squares, a share at every tick."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

SECONDS = 0.3  # that a disturbance takes to become a payload
_LEAST = 0.8  # share of the squared torque that a payload must explain to be taken for one
_LIGHTEST = 0.1  # N m per kg: a posture in which a payload is felt less tells nothing of it


class PayloadEstimate:
    """A point mass, into which disturbances are moved as far as it explains them.

    The sum of both torques stays what it is at the moment; what changes is how it is continued: a payload
    has inertia, and its weight turns with the arm. Only the mass is estimated: where its centre lies off the
    frame's origin, the remaining moment stays a disturbance (an estimated centre was tried: after a push it
    made up inertias of the last joints that were ten times too large, and the loop unstable).
    """

    def __init__(self, period: float, seconds: float = SECONDS) -> None:
        self.mass = 0.0  # kg
        self._share = 1.0 - math.exp(-period / seconds)

    def take(self, disturbance: Array, kilogram: Array) -> Array:
        """What is left of a disturbance torque (nv,), which acts with the joints' own; kilogram (nv,) is what
        the joints give for every kilogram of the payload."""
        felt = float(kilogram @ kilogram)
        if felt < _LIGHTEST**2:
            return disturbance
        missing = -float(kilogram @ disturbance) / felt  # kg
        whole = disturbance - self.mass * kilogram
        left = disturbance + missing * kilogram
        # Either may be nothing: all is explained already, or a payload is gone again.
        size = max(float(whole @ whole), float(disturbance @ disturbance))
        explained = 1.0 - float(left @ left) / size if size > 0.0 else 0.0
        share = self._share * max(0.0, (explained - _LEAST) / (1.0 - _LEAST))
        before = self.mass
        self.mass = max(0.0, before + share * missing)
        return np.asarray(disturbance + (self.mass - before) * kilogram)
