"""Reaches in joint space for studies: the same costs for every robot, starts and goals from a seed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.mpc.problem import Problem
from robomorph.mpc.quantities import Effort, Velocity
from robomorph.robot import Robot
from robomorph.tasks import Posture

Array = npt.NDArray[np.float64]
_WIDE = np.pi  # rad: half the range that stands for a joint without limits


class Reach(NamedTuple):
    """From `start` (nv,), at rest, to `goal` (nv,); `holding` (nv,) are the torques that hold the goal."""

    start: Array
    goal: Array
    holding: Array

    @property
    def reference(self) -> dict[str, Array]:
        """For `Controller.step`."""
        return {"goal": self.goal, "effort": self.holding}


def reach_problem(robot: Robot, horizon: int, dt: float = 0.01, *, limits: bool = False) -> Problem:
    """Costs of a reach: posture 10, velocity 0.1, effort 1e-3; at the end posture 1000, velocity 10."""
    problem = Problem(robot, horizon=horizon, dt=dt)
    posture = Posture.of(robot.model)
    problem.cost(posture, weight=10.0, name="goal")
    problem.cost(Velocity(), weight=0.1)
    problem.cost(Effort(), weight=1e-3, name="effort")
    problem.terminal(posture, weight=1e3, name="goal")
    problem.terminal(Velocity(), weight=10.0)
    if limits:
        problem.limits(torque=True, velocity=True, position=True)
    return problem


def random_reach(robot: Robot, rng: np.random.Generator, share: float = 0.3) -> Reach:
    """Start and goal within the middle `share` of every joint's range."""
    lower, upper = (np.asarray(bound, float) for bound in (robot.limits.lower, robot.limits.upper))
    lower, upper = (
        np.where(np.isfinite(lower), lower, -_WIDE),
        np.where(np.isfinite(upper), upper, _WIDE),
    )
    middle, half = 0.5 * (lower + upper), 0.5 * share * (upper - lower)
    start, goal = (middle + half * rng.uniform(-1.0, 1.0, robot.nv) for _ in range(2))
    return Reach(start, goal, np.asarray(robot.bias_torque(goal, np.zeros(robot.nv))))
