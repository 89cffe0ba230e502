"""Problems that show an inverse-kinematics chip at work: for its testbench, and for simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.accelerators.ik.make import IkChip
from robomorph.accelerators.ik.problems import MODES, Problems, make_problems
from robomorph.robot import Robot
from robomorph.targets.rtl.ik.chip import IkDesign
from robomorph.targets.rtl.ik.definition import Answers, solve

Array = npt.NDArray[Any]
TOLERANCE = 0.01  # m, the Quick-IK paper's
_EACH = 8  # problems of every mode
_FAR = 3.0  # the last two of them: their targets this many times as far from the base
_BUDGET = 600_000  # cycles of the testbench, about
_LEAST, _MOST = 3, 40  # iterations of a problem there


@dataclass(frozen=True, eq=False)
class Vectors:
    """Problems by mode, and what the chip answers to each. No result is more than `quiet` cycles behind the
    one before it."""

    problems: tuple[Problems, ...]
    answers: tuple[Answers, ...]
    quiet: int

    @property
    def words(self) -> Array:
        return np.concatenate([problems.words for problems in self.problems])

    @property
    def results(self) -> Array:
        return np.concatenate([answers.words for answers in self.answers])

    @property
    def flags(self) -> Array:
        return np.concatenate([answers.overflow for answers in self.answers])


def default_tolerance(chip: IkChip) -> float:
    """m: what solves have to reach unless somebody says so; more than a coarse chip's own error."""
    return max(TOLERANCE, 3.0 * chip.own_error)


def reachable(robot: Robot, frame: str, count: int, seed: int) -> tuple[Array, Array]:
    """Targets (n, 3) in the world (m), the frame's positions at random configurations, and starts (n, nq)."""
    starts, ends = (robot.random_state(rng=seed + k, batch=(count,)).q for k in (0, 1))
    return np.ascontiguousarray(robot.forward_kinematics(ends, frame)[:, :3, 3]), starts


def make_vectors(robot: Robot, chip: IkChip) -> Vectors:
    """Problems of every mode, among them targets out of reach, with iterations that a testbench has time
    for."""
    timing = IkDesign(chip.plan).timing
    most = chip.plan.knobs.speculations
    each = max(timing.iteration(most, newton=n, relaxed=r) for n in (False, True) for r in (False, True))
    cap = int(np.clip(_BUDGET // (each * _EACH * len(MODES)), _LEAST, _MOST))
    targets, starts = reachable(robot, chip.chain.frame, _EACH, seed=7)
    centre = chip.chain.base.translation
    targets[-2:] = centre + _FAR * (targets[-2:] - centre)
    made = tuple(
        make_problems(chip, mode, targets, starts, tolerance=default_tolerance(chip), cap=cap, patience=10)
        for mode in MODES
    )
    answers = tuple(solve(chip.plan, problems.words) for problems in made)
    # A problem may wait for all others that are in flight; the streams rest in a quarter of the cycles.
    slowest = timing.solve(cap + 1, most, newton=True, relaxed=True)
    beats = chip.plan.input_words + chip.plan.output_words
    return Vectors(made, answers, 2 * (chip.plan.knobs.problems + 1) * (slowest + 2 * beats))
