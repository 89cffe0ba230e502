"""Problems for a chip: targets and starts as its words, and what its answers are worth in metres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.accelerators.ik.make import IkChip
from robomorph.errors import ArgumentError
from robomorph.targets.rtl.ik.plan import HEADER_OUT, Knobs
from robomorph.targets.rtl.ik.stream_words import NEWTON_BIT, RELAXED_BIT, problem_words

Array = npt.NDArray[Any]
MODES = {"quick-ik": 0, "relaxed-quick-ik": RELAXED_BIT, "speculative-newton": NEWTON_BIT}
PATIENCE = 255  # iterations without gain before the chip gives a problem up
_NEWTON_LENGTHS = 16  # that Newton steps are tried with: more gain nothing


def mode_speculations(mode: str, knobs: Knobs) -> int:
    """Lengths that a mode tries on a chip with these knobs, unless a problem says otherwise."""
    return min(_NEWTON_LENGTHS, knobs.speculations) if MODES[mode] & NEWTON_BIT else knobs.speculations


def check_tolerance(chip: IkChip, tolerance: float) -> None:
    """ArgumentError if the chip cannot judge a distance so short (m)."""
    if not 0.0 < tolerance < float("inf"):
        raise ArgumentError(f"tolerance: expected a positive number of metres, found {tolerance:g}")
    if chip.threshold_words(tolerance) < 1:
        raise ArgumentError(
            f"tolerance: this chip's own error may be {chip.own_error:.2g} m, expected more than that, found "
            f"{tolerance:g} m: allow more, or give the chip wider words (unit, angle, serial)"
        )


@dataclass(frozen=True, eq=False)
class Problems:
    """Words (n, input_words) of problems to a tolerance (m): targets (n, 3) in the world (m), starts (n, nq),
    and the whole turns (n, C) that the words of starts leave out."""

    chip: IkChip
    mode: str
    speculations: int
    tolerance: float
    words: Array
    targets: Array
    starts: Array
    whole: Array

    def configurations(self, results: Array) -> Array:
        """(n, nq) of result words (n, output_words)."""
        return self.chip.configurations(results[:, HEADER_OUT:], self.whole, self.starts)

    def distances(self, results: Array) -> Array:
        """m (n,): how far from their targets the chip says results are."""
        return self.chip.distance(results)


def make_problems(
    chip: IkChip,
    mode: str,
    targets: Array,
    starts: Array,
    *,
    tolerance: float,
    cap: int,
    patience: int = PATIENCE,
    seed: int = 1,
) -> Problems:
    """Problems in a mode, each ended at `tolerance` (m), after `cap` iterations, or `patience` of them
    without gain."""
    count, tried = len(targets), mode_speculations(mode, chip.plan.knobs)
    theta, whole = chip.theta_words(starts)
    words = problem_words(
        chip.target_words(targets)[0],
        np.full(count, chip.threshold_words(tolerance)),
        cap,
        MODES[mode],
        tried.bit_length() - 1,
        patience,
        np.random.default_rng(seed).integers(0, 1 << 16, count),
        theta,
    )
    return Problems(chip, mode, tried, tolerance, words, targets, starts, whole)
