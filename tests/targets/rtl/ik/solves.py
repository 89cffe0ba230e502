"""Chips of robots, problems for them, and what the definition and the simulated hardware make of these."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

import robomorph
from robomorph.accelerators.ik.chain import make_chain
from robomorph.accelerators.ik.make import IkChip, make_chip
from robomorph.bench.chain_problems import chain_problems
from robomorph.errors import ModelWarning
from robomorph.robot import Robot
from robomorph.targets.rtl.ik.chip import IkDesign
from robomorph.targets.rtl.ik.definition import Answers, solve
from robomorph.targets.rtl.ik.plan import HEADER_OUT, Knobs, Widths
from robomorph.targets.rtl.ik.stream_words import problem_words
from robomorph.targets.rtl.simulate import Run, Simulation
from tests.oracle.mixed_chains import mixed_chain

Array = npt.NDArray[Any]
MODES = {"quick-ik": 0, "relaxed": 1, "newton": 2, "relaxed newton": 3}
FRAMES = {"iiwa14": "lbr_iiwa_link_7", "hyq": "lf_lowerleg", "atlas": "r_hand"}
QUIET = 10**9


@cache
def loaded(name: str) -> tuple[Robot, str]:
    """A robot and its frame by name; "mixed:3" is a random chain of joints of all kinds."""
    if name.startswith("mixed:"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            return robomorph.load(mixed_chain(int(name[6:]))), "tool"
    return robomorph.load(name), FRAMES.get(name, "tool")


@dataclass(frozen=True)
class Case:
    """A chip, and how it is used."""

    robot: Robot
    frame: str
    chip: IkChip
    design: IkDesign

    def words(
        self,
        targets: Array,
        starts: Array,
        *,
        mode: int = 0,
        k_log: int | None = None,
        cap: int = 10_000,
        tolerance: float | None = 1e-2,
        patience: int = 0,
    ) -> Array:
        """Problems (n, input_words); without a tolerance the threshold is zero."""
        goal, _ = self.chip.target_words(targets)
        theta, _ = self.chip.theta_words(starts)
        limit = 0 if tolerance is None else self.chip.threshold_words(tolerance)
        log = self.chip.plan.knobs.most_log if k_log is None else k_log
        seeds = np.random.default_rng(11).integers(0, 65536, len(goal))
        return problem_words(goal, np.full(len(goal), limit), cap, mode, log, patience, seeds, theta)

    def random(self, count: int, seed: int, **options: Any) -> Array:
        """Problems with reachable targets, from starts inside the limits."""
        starts, ends = (self.robot.random_state(rng=seed + k, batch=(count,)).q for k in (0, 1))
        targets = self.robot.forward_kinematics(ends, self.frame)[:, :3, 3]
        return self.words(targets, starts, **options)

    def set_b(self, count: int, **options: Any) -> tuple[Array, Array, Array]:
        """The paper's problems on a chain: words, targets and starts."""
        problems = chain_problems(self.robot, "B", count)
        return self.words(problems.targets, problems.starts, **options), problems.targets, problems.starts

    def solve(self, words: Array) -> Answers:
        return solve(self.chip.plan, words)

    def errors(self, answers: Answers, targets: Array, starts: Array) -> tuple[Array, Array]:
        """m: the true distance (n,) from each target, by float64, and the chip's own."""
        _, whole = self.chip.theta_words(starts)
        q = self.chip.configurations(answers.words[:, HEADER_OUT:], whole, starts)
        places = self.robot.forward_kinematics(q, self.frame)[:, :3, 3]
        true = np.linalg.norm(places - targets, axis=1)
        return true, self.chip.distance(answers.words)


def case(name: str, widths: Widths | None = None, *, limits: bool = True, **knobs: Any) -> Case:
    robot, frame = loaded(name)
    lower, upper = robot.limits.lower, robot.limits.upper
    if not limits:
        lower, upper = np.full(robot.nq, -np.inf), np.full(robot.nq, np.inf)
    chip = make_chip(make_chain(robot.model, frame, lower, upper), widths or Widths(), Knobs(**knobs))
    return Case(robot, frame, chip, IkDesign(chip.plan))


def check_run(one: Case, answers: Answers, run: Run) -> None:
    """Every word, count, status and flag."""
    np.testing.assert_array_equal(run.words, answers.words)
    np.testing.assert_array_equal(run.overflow, answers.overflow)
    assert run.sticky_overflow == bool(answers.overflow.any())


def check_cycles(one: Case, words: Array, answers: Answers, run: Run) -> None:
    """Of problems that were sent one by one: as the formula says, but where one stalled."""
    control = words[:, 6] & 0xFFFFFFFF
    counts = 1 << np.minimum((control >> 4) & 15, one.chip.plan.knobs.most_log)
    for k, latency in enumerate(run.latency):
        if answers.status[k] == 2:
            continue
        mode = int(control[k] & 3)
        expected = one.design.timing.solve(
            int(answers.iterations[k]), int(counts[k]), newton=bool(mode & 2), relaxed=bool(mode & 1)
        )
        assert latency == expected, f"problem {k}"


def simulated(one: Case, words: Array, **options: Any) -> Run:
    return Simulation(one.design).run(words, quiet=QUIET, **options)
