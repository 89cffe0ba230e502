"""Number formats in closed loop: one iteration a tick, the gradient in the format, the plant in float64."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.mpc.disturbances import Push
from robomorph.mpc.problem import Problem
from robomorph.mpc.simulate import simulate
from robomorph.mpc.simulation import Simulation
from robomorph.mpc.studies.formats import FLOAT, FORMS, Form, Solver, Tell, ranges
from robomorph.mpc.studies.gradients import Gradient, make_gradient
from robomorph.mpc.studies.hard import EASY, HARD, Instance
from robomorph.mpc.studies.reaches import Reach, random_reach, reach_problem
from robomorph.robot import Robot

Array = npt.NDArray[np.float64]
_HORIZON, _DT, _PERIOD = 50, 0.01, 0.005
_WEIGHTS = (10.0, 0.1, 1e-3)  # of posture, velocity and effort, as the problem has them


@dataclass(frozen=True)
class Scenario:
    """Goals that follow each other, one every `seconds / len(reaches)`; with a push at the tool."""

    name: str
    words: str
    reaches: tuple[Reach, ...]
    seconds: float
    pushes: tuple[Push, ...] = ()

    def told(self, time: float) -> dict[str, Array]:
        """What the controller is told then."""
        which = int(time / self.seconds * len(self.reaches))
        return self.reaches[min(which, len(self.reaches) - 1)].reference

    def cost(self, ran: Simulation) -> float:
        """The mean of the running cost, over the time that was asked for; infinite after a divergence."""
        if not ran.success:
            return math.inf
        told = [self.told(t) for t in ran.times]
        goals, efforts = (np.array([x[name] for x in told]) for name in ("goal", "effort"))
        parts = zip(_WEIGHTS, (ran.q - goals, ran.qd, ran.tau - efforts), strict=True)
        return float(np.mean(sum(0.5 * w * np.sum(np.square(x), axis=1) for w, x in parts)))


@dataclass(frozen=True)
class LoopRun:
    """One scenario in one form with one gradient. cost: the mean along the loop. left: the error at its end.
    reason: how it went."""

    scenario: str
    form: str
    gradient: str
    cost: float
    left: float
    reason: str
    states: int
    saturated: int


def scenarios(robot: Robot) -> tuple[Scenario, ...]:
    """A reach nearby with a push, and goals that jump about, always the same for a robot."""

    def reach(seed: int, share: float) -> Reach:
        return random_reach(robot, np.random.default_rng([seed, 1234]), share)

    push = Push((0.0, 100.0, 0.0), start=1.0, seconds=0.05)
    return (
        Scenario("easy", "a reach nearby, pushed by 100 N for 50 ms", (reach(0, EASY.share),), 2.0, (push,)),
        Scenario(
            "jumps",
            "goals that jump anywhere every second",
            tuple(reach(k, HARD[0].share) for k in range(4)),
            4.0,
        ),
    )


def format_loops(robot: Robot, formats: Sequence[str], *, tell: Tell | None = None) -> list[LoopRun]:
    """Every scenario in every form with every gradient, float64 first."""
    problem = reach_problem(robot, _HORIZON, _DT)
    runs = []
    for form in FORMS:
        for name in dict.fromkeys((FLOAT, *formats)):
            if tell is not None:
                tell(f"loop, {form.name}, {name}")
            gradient = make_gradient(robot, name, *ranges(robot))
            runs += [_loop(problem, scenario, form, gradient) for scenario in scenarios(robot)]
    return runs


def _loop(problem: Problem, scenario: Scenario, form: Form, gradient: Gradient) -> LoopRun:
    states, saturated = gradient.states, gradient.saturated
    first = scenario.reaches[0]
    solver = Solver(Instance(EASY, 0, problem, first), form, gradient, 100, iterations=1, period=_PERIOD)

    def error(time: float, q: Array) -> Any:
        return q - scenario.told(time)["goal"]

    ran = simulate(
        solver.controller,
        seconds=scenario.seconds,
        start=first.start,
        reference=scenario.told,
        error=error,
        pushes=scenario.pushes,
        observer=False,
    )
    solver.kernels.again()
    return LoopRun(
        scenario.name,
        form.name,
        gradient.name,
        scenario.cost(ran),
        ran.left if ran.success else math.inf,
        ran.reason,
        gradient.states - states,
        gradient.saturated - saturated,
    )
