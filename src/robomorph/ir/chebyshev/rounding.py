"""How much rounding to nearest can be off."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
U = 2.0**-53
# Above what products of numbers too small for floating point can lose, and below anything that matters.
TINY = 2.0**-1000
_MORE = 1.0 + 2.0**-40


def gamma(count: int) -> float:
    """Of `count` roundings one after another: their product is within 1 +- gamma."""
    return count * U / (1.0 - count * U) * _MORE


def enlarged(remainder: Array) -> Array:
    """A remainder whose own computation was rounded, a few dozen operations at most. What is not a number
    (infinity times zero) bounds nothing."""
    larger = remainder * _MORE
    return np.asarray(np.where(np.isnan(larger), np.inf, larger))


def constant_error(value: Array, largest: float) -> Array:
    """How far a constant of a program may be from what the robot's file means: the rounding of its decimals,
    and of what was folded while tracing, which sums and turns numbers no larger than `largest`."""
    return np.where(value == 0.0, 0.0, 4.0 * U * np.abs(value) + 32.0 * U * max(1.0, largest))
