"""Problems that a number format is put to: an easy reach, as the papers' is, and hard ones, from seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from robomorph.mpc.problem import Problem
from robomorph.mpc.studies.reaches import Reach, random_reach, reach_problem
from robomorph.robot import Robot


@dataclass(frozen=True)
class Family:
    """Reaches of one kind. share: of every joint's range, in the middle of which starts and goals are. dt: s
    between nodes. weights: for `Controller.step`. limits: does the robot keep its own? patience: how many
    times the iterations of others it is given."""

    name: str
    words: str
    share: float
    dt: float = 0.01
    weights: Mapping[str, float] = field(default_factory=dict)
    limits: bool = False
    patience: int = 1


EASY = Family("easy", "a reach nearby, as the papers'", 0.15)
HARD = (
    Family("far", "goals anywhere, the same costs", 0.9),
    Family("cheap", "goals anywhere, little cost on the way", 0.9, weights={"goal": 0.1, "velocity": 0.01}),
    Family(
        "limited", "torque, speed and position limits of the robot", 0.4, dt=0.02, limits=True, patience=2
    ),
)


@dataclass(frozen=True, eq=False)
class Instance:
    """One problem of a family."""

    family: Family
    index: int
    problem: Problem
    reach: Reach

    @property
    def name(self) -> str:
        return f"{self.family.name} {self.index + 1}"


def instances(robot: Robot, family: Family, count: int, horizon: int) -> list[Instance]:
    """So many of a family, always the same for a robot."""
    problem = reach_problem(robot, horizon, family.dt, limits=family.limits)
    seeds = [[k, sum(map(ord, family.name))] for k in range(count)]
    reaches = [random_reach(robot, np.random.default_rng(seed), family.share) for seed in seeds]
    return [Instance(family, k, problem, reach) for k, reach in enumerate(reaches)]


def families(robot: Robot) -> tuple[Family, ...]:
    """The hard ones that this robot can be given: limits only where it has some."""
    limits = robot.limits
    every = all(np.isfinite(x).all() for x in (limits.lower, limits.upper, limits.velocity, limits.effort))
    some = every and (limits.velocity > 0.0).all() and (limits.effort > 0.0).all()
    return tuple(family for family in HARD if some or not family.limits)
