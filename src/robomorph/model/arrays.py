"""Small read-only float64 arrays, the only kind that models hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Metres, kilograms and kg m^2 beyond this mean nothing in a robot; below it none of our sums and
# products overflows.
LARGEST = 1e30


def frozen(values: ArrayLike | Sequence[float], shape: tuple[int, ...]) -> Array:
    """A read-only float64 copy of `values`, checked against `shape`; -0.0 becomes 0.0.

    One zero only: equal models must have equal bits, because their digest is taken over bits.
    """
    array = np.array(values, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"expected an array of shape {shape}, found shape {array.shape}")
    array += 0.0
    array.flags.writeable = False
    return array
