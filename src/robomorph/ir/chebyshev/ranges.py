"""How small and large a model can be: its Bernstein coefficients enclose a polynomial."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robomorph.ir.chebyshev.models import Models
from robomorph.ir.chebyshev.rounding import TINY, Array, enlarged, gamma
from robomorph.ir.chebyshev.tables import bernstein_matrices

# Bernstein coefficients of T_k overestimate it more and more: beyond this degree its size, 1, is better.
_HULL = 9


class Bounds(NamedTuple):
    """Enclosures over equal parts of [-1, 1]: (parts, ...)."""

    low: Array
    high: Array


def bounds(models: Models, parts: int = 1) -> Bounds:
    """What the models can be in each of so many equal parts of their pieces."""
    degree = min(models.degree, _HULL)
    low_part, tail = models.coefficients[: degree + 1], models.coefficients[degree + 1 :]
    matrix = bernstein_matrices(degree, parts)
    flat = low_part.reshape(degree + 1, -1)
    values = matrix @ flat  # (parts, degree + 1, models)
    # The matrix's entries are rounded once, the sums degree + 1 times, and what is done with them below.
    off = gamma(degree + 8) * (np.abs(matrix) @ np.abs(flat)) + np.where(flat.any(axis=0), TINY, 0.0)
    beyond = enlarged(models.remainder + np.abs(tail).sum(axis=0)).reshape(-1)
    shape = (parts, *models.remainder.shape)
    with np.errstate(invalid="ignore"):
        low = (values - enlarged(off)).min(axis=1) - beyond
        high = (values + enlarged(off)).max(axis=1) + beyond
    return Bounds(_outward(low, -np.inf).reshape(shape), _outward(high, np.inf).reshape(shape))


def _outward(value: Array, side: float) -> Array:
    """Past the rounding of the last sum; zero, which no rounding made, stays."""
    moved = np.where(value == 0.0, value, np.nextafter(np.nextafter(value, side), side))
    return np.asarray(np.where(np.isnan(value), side, moved))
