"""The words of a problem and of its result on the chip's streams, 32 bits each.

In:  x, y, z; the squared threshold, its low 32 bits and the others; the most iterations; control; then the
     coordinates. Control: bits 0-1 the mode (bit 0 relaxed, bit 1 Newton), 4-7 log2 of the speculations,
     8-15 the iterations without gain after which a problem is given up (0: never), 16-31 a seed.
Out: status (bits 0-1: 0 converged, 1 cap reached, 2 stalled; bit 4: something saturated); iterations; the
     squared error, low and high; then the coordinates.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.targets.rtl.ik.plan import HEADER_IN, HEADER_OUT, IkPlan

Array = npt.NDArray[Any]
CONVERGED, CAP, STALLED = 0, 1, 2
STATUS = {CONVERGED: "converged", CAP: "cap reached", STALLED: "stalled"}
SATURATED = 16  # a bit of the status
RELAXED_BIT, NEWTON_BIT = 1, 2
CAP_BITS = 24  # of the count of iterations
_SEED_MASK = 0xACE1  # a seed of zero would stay zero


class Header(NamedTuple):
    """What a problem asks for, (n,) each; target (n, 3)."""

    target: Array
    threshold: Array
    cap: Array
    relaxed: Array
    newton: Array
    k_log: Array
    patience: Array
    seed: Array


def problem_words(
    target: Array,
    threshold: Array,
    cap: int | Array,
    mode: int,
    k_log: int,
    patience: int,
    seed: Array,
    theta: Array,
) -> Array:
    """Words (n, input_words) of target words (n, 3), squared thresholds (n,), the most iterations (of each
    or of all), seeds (n,) and coordinates (n, C)."""
    n = len(target)
    control = mode | k_log << 4 | patience << 8 | np.asarray(seed, np.int64) << 16
    words = np.empty((n, HEADER_IN + theta.shape[1]), np.int64)
    words[:, :3] = target
    words[:, 3], words[:, 4] = threshold & 0xFFFFFFFF, threshold >> 32
    words[:, 5], words[:, 6] = cap, control
    words[:, HEADER_IN:] = theta
    return _signed(words)


def read_words(plan: IkPlan, words: Array) -> tuple[Header, Array]:
    """What the chip reads: fields of the width that it has, and the coordinates (n, C)."""
    words = np.asarray(words, np.int64)
    plain = words & 0xFFFFFFFF
    control = plain[:, 6]
    seed = (control >> 16) ^ _SEED_MASK
    head = Header(
        _low(words[:, :3], plan.target_bits),
        (plain[:, 3] | plain[:, 4] << 32) & ((1 << plan.square_bits) - 1),
        plain[:, 5] & ((1 << CAP_BITS) - 1),
        (control & RELAXED_BIT) != 0,
        (control & NEWTON_BIT) != 0,
        np.minimum((control >> 4) & 15, plan.knobs.most_log),
        (control >> 8) & 255,
        np.where(seed == 0, 1, seed),
    )
    return head, _low(words[:, HEADER_IN:], plan.theta_bits)


def result_words(status: Array, iterations: Array, square: Array, theta: Array, overflow: Array) -> Array:
    words = np.empty((len(status), HEADER_OUT + theta.shape[1]), np.int64)
    words[:, 0] = status | np.where(overflow, SATURATED, 0)
    words[:, 1] = iterations
    words[:, 2], words[:, 3] = square & 0xFFFFFFFF, square >> 32
    words[:, HEADER_OUT:] = theta
    return _signed(words)


def squared_error(words: Array) -> Array:
    """Of result words (n, output_words)."""
    return np.asarray((words[:, 2] & 0xFFFFFFFF) | words[:, 3] << 32)


def _low(words: Array, bits: int) -> Array:
    half = 1 << bits - 1
    return np.asarray(((words + half) & (2 * half - 1)) - half)


def _signed(words: Array) -> Array:
    return _low(words, 32)
