"""Which numbers suffice for the gradient inside a controller: the papers' figure 12, put to harder tests.

Costs, motions and line searches are in float64 throughout; only the derivatives of the dynamics are in the
format (`replaced.py`). So a cost that a format reaches is a true cost, and what differs is how well its steps
aim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robomorph.mpc.controller import Controller
from robomorph.mpc.studies.gradients import make_gradient
from robomorph.mpc.studies.hard import EASY, Family, Instance, families, instances
from robomorph.mpc.studies.replaced import ReplacedGradient
from robomorph.robot import Robot

FLOAT = "float64"
FORMATS = (
    *(FLOAT, "float32", "Q16.16", "Q16.8", "Q14.6", "Q16.6", "Q12.5", "Q16.4", "Q12.12"),
    *("24 bit", "20 bit", "16 bit", "14 bit", "12 bit", "none"),
)
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Form:
    """Which controls, and what of the gradient is in the format."""

    name: str
    words: str
    method: str
    exact_mass: bool = False


FORMS = (
    Form(
        "forward", "torques as controls, the papers' form: -M^-1 dtau in the format, M^-1 in float64", "ddp"
    ),
    Form("inverse", "accelerations as controls: M and dtau in the format", "id"),
    Form("inverse, M exact", "the same, M in float64", "id", exact_mass=True),
)


@dataclass(frozen=True)
class Run:
    """One problem solved in one form with one gradient. costs: at the start and after every iteration. cost:
    of the plan, infinite if that breaks a limit. states: at which the gradient was computed; saturated: those
    in which a number did not fit."""

    problem: str
    family: str
    form: str
    gradient: str
    costs: tuple[float, ...]
    cost: float
    states: int
    saturated: int


@dataclass(frozen=True)
class FormatStudy:
    """All runs on one robot, each of at most so many iterations."""

    robot: str
    horizon: int
    iterations: int
    formats: tuple[str, ...]
    families: tuple[Family, ...]
    runs: tuple[Run, ...]

    def of(self, **wanted: str) -> list[Run]:
        return [run for run in self.runs if all(getattr(run, k) == v for k, v in wanted.items())]

    def ratios(self, form: str, gradient: str, family: str) -> list[float]:
        """Costs after all iterations over those of float64 in the same form, problem by problem."""
        exact = {run.problem: run.cost for run in self.of(form=form, gradient=FLOAT)}
        runs = self.of(form=form, gradient=gradient, family=family)
        return [run.cost / exact[run.problem] if run.cost != exact[run.problem] else 1.0 for run in runs]

    def saturated(self, form: str, gradient: str, family: str) -> float:
        """The share of states in which a number did not fit."""
        runs = self.of(form=form, gradient=gradient, family=family)
        return sum(run.saturated for run in runs) / max(1, sum(run.states for run in runs))


def format_study(
    robot: Robot,
    formats: Sequence[str] = FORMATS,
    *,
    horizon: int = 100,
    iterations: int = 60,
    count: int = 10,
    tell: Tell | None = None,
) -> FormatStudy:
    """Solve the easy reach and `count` problems of every hard family in every form with every gradient."""
    names = tuple(dict.fromkeys((FLOAT, *formats)))
    chosen = families(robot)
    problems = instances(robot, EASY, 1, horizon)
    for family in chosen:
        problems += instances(robot, family, count, horizon)
    runs = []
    for form in FORMS:
        for name in names:
            if tell is not None:
                tell(f"{form.name}, {name}")
            runs += _runs(robot, form, name, problems, iterations)
    return FormatStudy(robot.name, horizon, iterations, names, (EASY, *chosen), tuple(runs))


def steps(formats: Sequence[str]) -> int:
    """How often `format_study` tells what it does."""
    return len(FORMS) * len(dict.fromkeys((FLOAT, *formats)))


def _runs(robot: Robot, form: Form, name: str, problems: list[Instance], iterations: int) -> list[Run]:
    """All problems, one controller for each that differs."""
    speed, acceleration = ranges(robot)
    gradient = make_gradient(robot, name, speed, acceleration)
    solvers: dict[int, Solver] = {}
    runs = []
    for instance in problems:
        key = id(instance.problem)
        if key not in solvers:
            solvers[key] = Solver(instance, form, gradient, iterations * instance.family.patience)
        runs.append(solvers[key].run(instance))
    return runs


def ranges(robot: Robot) -> tuple[float, float]:
    """Speeds and accelerations for which signals get formats of their own: what the robot's limits let it do
    twice over, 5 rad/s and 100 rad/s^2 without limits."""
    speed = robot.limits.velocity
    fastest = 2.0 * float(speed.max()) if np.isfinite(speed).all() and (speed > 0.0).all() else 5.0
    return fastest, 20.0 * fastest


class Solver:
    """A controller of one form whose gradient is replaced."""

    def __init__(self, instance: Instance, form: Form, gradient: Any, cap: int, **options: Any) -> None:
        self.form, self.gradient = form, gradient
        self.kernels = ReplacedGradient(instance.problem, gradient, exact_mass=form.exact_mass)
        self.controller = Controller(
            instance.problem, method=form.method, cap=cap, kernels=self.kernels, **options
        )

    def run(self, instance: Instance) -> Run:
        """From nothing."""
        gradient, start = self.gradient, instance.reach.start
        states, saturated = gradient.states, gradient.saturated
        self.controller.reset()
        result = self.controller.step(
            start, np.zeros_like(start), instance.reach.reference, dict(instance.family.weights)
        )
        self.kernels.again()
        return Run(
            instance.name,
            instance.family.name,
            self.form.name,
            gradient.name,
            tuple(map(float, self.controller.trace)),
            float(result.cost) if result.success else math.inf,
            gradient.states - states,
            gradient.saturated - saturated,
        )
