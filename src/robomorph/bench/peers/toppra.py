"""TOPPRA: the fastest timing of a path under limits that are held at its grid points."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.bench.peers.peer import Peer, PeerError, module

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Retimed:
    """A timing of a path. `states(t)` are q, qd, qdd (n, nv) each at times (n,); compute_s: what it took."""

    seconds: float
    compute_s: float
    states: Callable[[Array], tuple[Array, Array, Array]]


class Toppra(Peer):
    name = "toppra"
    package = "toppra"
    modules = ("toppra",)

    @classmethod
    def retime(
        cls,
        path: Array,
        velocity: Array,
        torque: Array,
        dynamics: Callable[[Array, Array, Array], Array],
        points: int,
        scheme: str,
    ) -> Retimed:
        """Through path (n, nv), at rest at both ends, with `points` grid points. velocity, torque: largest
        magnitudes (nv,); dynamics: torques (nv,) of one state; scheme: its name for how torques are held."""
        toppra: Any = module("toppra")
        logging.getLogger("toppra").setLevel(logging.ERROR)
        begin = time.perf_counter()
        lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
        spline = toppra.SplineInterpolator(lengths / lengths[-1], path)
        constraints = [
            toppra.constraint.JointVelocityConstraint(np.stack([-velocity, velocity], axis=1)),
            toppra.constraint.JointTorqueConstraint(
                dynamics,
                np.stack([-torque, torque], axis=1),
                np.zeros(len(torque)),
                getattr(toppra.constraint.DiscretizationType, scheme),
            ),
        ]
        method = toppra.algorithm.TOPPRA(
            constraints,
            spline,
            gridpoints=np.linspace(0.0, 1.0, points),
            parametrizer="ParametrizeConstAccel",
        )
        found = method.compute_trajectory(0.0, 0.0)
        if found is None:
            raise PeerError("toppra: found no timing of the path")
        spent = time.perf_counter() - begin
        return Retimed(float(found.duration), spent, lambda t: (found(t), found(t, 1), found(t, 2)))
