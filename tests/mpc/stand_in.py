"""A controller of a few lines with the face of `mpc.Controller`: computed torque, and a plan by rollout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph import Robot

Array = npt.NDArray[np.float64]


@dataclass
class StandInProblem:
    robot: Robot
    dt: float = 0.01


@dataclass
class StandInAnswer:
    success: bool
    reason: str
    tau: Array
    qdd: Array
    torques: Array
    violation: float = 0.0


class StandIn:
    """qdd = stiffness (reference - q) - damping qd, planned 20 nodes ahead."""

    def __init__(
        self, robot: Robot, period: float = 1e-3, stiffness: float = 100.0, damping: float = 20.0
    ) -> None:
        self.problem, self.period = StandInProblem(robot), period
        self._stiffness, self._damping = stiffness, damping
        self.resets = 0
        self.elapsed: list[float | None] = []
        self.references: list[Any] = []

    def reset(self) -> None:
        self.resets += 1

    def step(
        self,
        q: Array,
        qd: Array,
        *,
        reference: Any = None,
        deadline: float | None = None,
        elapsed: float | None = None,
        offset: Array | None = None,
        out: Any = None,
    ) -> StandInAnswer:
        del deadline, out
        beyond = np.zeros_like(qd) if offset is None else offset
        self.elapsed.append(elapsed)
        self.references.append(reference)
        goal = np.zeros_like(q) if reference is None else np.atleast_2d(reference)[0]
        robot, dt = self.problem.robot, self.problem.dt
        torques, accelerations = [], []
        for _ in range(20):
            qdd = self._stiffness * (goal - q) - self._damping * qd
            torques.append(robot.inverse_dynamics(q, qd, qdd) + beyond)
            accelerations.append(qdd)
            qd = qd + dt * qdd
            q = q + dt * qd
        return StandInAnswer(True, "planned", torques[0], np.array(accelerations), np.array(torques))
