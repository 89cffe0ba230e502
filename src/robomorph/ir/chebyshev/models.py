"""Arrays of Chebyshev models, and their sums and products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.ir.chebyshev.rounding import TINY, Array, enlarged, gamma


@dataclass(frozen=True)
class Models:
    """coefficients (D + 1, ...) of T_0 .. T_D, remainder (...) >= 0, size (...): the sum of |coefficients|,
    not less than the largest value of the polynomial but for rounding that `enlarged` covers."""

    coefficients: Array
    remainder: Array
    size: Array

    @staticmethod
    def of(coefficients: Array, remainder: Array) -> Models:
        return Models(coefficients, remainder, np.abs(coefficients).sum(axis=0))

    @property
    def degree(self) -> int:
        return len(self.coefficients) - 1

    def take(self, where: Any) -> Models:
        """Some of the models: an index, slice or array of indices into their first axis."""
        return Models(self.coefficients[:, where], self.remainder[where], self.size[where])


def add(a: Models, b: Models) -> Models:
    return _summed(a.coefficients + b.coefficients, a, b)


def subtract(a: Models, b: Models) -> Models:
    return _summed(a.coefficients - b.coefficients, a, b)


def _summed(coefficients: Array, a: Models, b: Models) -> Models:
    size = np.abs(coefficients).sum(axis=0)
    return Models(coefficients, enlarged(a.remainder + b.remainder + gamma(2) * size), size)


def negate(a: Models) -> Models:
    return Models(-a.coefficients, a.remainder, a.size)


def multiply(a: Models, b: Models) -> Models:
    """T_i T_j = (T_(i+j) + T_|i-j|) / 2; what is beyond the degree is cut off and joins the remainder."""
    product = _convolved(a.coefficients, b.coefficients)
    kept = product[: a.degree + 1]
    both = a.size * b.size
    # Every coefficient is a sum of at most 2 D + 2 products.
    rounding = gamma(2 * a.degree + 5) * both + np.where(_present(a) & _present(b), TINY, 0.0)
    carried = a.remainder * (b.size + b.remainder) + b.remainder * a.size
    return Models.of(kept, enlarged(carried + np.abs(product[a.degree + 1 :]).sum(axis=0) + rounding))


def _present(a: Models) -> npt.NDArray[np.bool_]:
    """Which models are not exactly zero: what is stays so, without an allowance for numbers too small."""
    return np.asarray((a.size > 0.0) | (a.remainder > 0.0))


def _convolved(a: Array, b: Array) -> Array:
    """(2 D + 1, ...) the coefficients of the whole product."""
    degree = len(a) - 1
    out = np.zeros((2 * degree + 1, *np.broadcast_shapes(a.shape[1:], b.shape[1:])))
    for i in range(degree + 1):
        if not a[i].any():
            continue
        terms = a[i] * b
        out[i : i + degree + 1] += terms
        out[: i + 1] += terms[i::-1]
        out[1 : degree + 1 - i] += terms[i + 1 :]
    return out * 0.5


def scale(a: Models, factor: Array, error: Array) -> Models:
    """Times a constant that is within `error` of `factor`; both broadcast against (...)."""
    coefficients = factor * a.coefficients
    size = np.abs(coefficients).sum(axis=0)
    rounding = gamma(2) * size + np.where(_present(a) & ((factor != 0.0) | (error > 0.0)), TINY, 0.0)
    carried = np.abs(factor) * a.remainder + error * (a.size + a.remainder)
    return Models(coefficients, enlarged(carried + rounding), size)


def constant(value: Array, error: Array, degree: int) -> Models:
    """Models that do not change with x."""
    coefficients = np.zeros((degree + 1, *value.shape))
    coefficients[0] = value
    return Models(coefficients, np.asarray(error), np.abs(value))


def between(low: Array, high: Array, degree: int) -> Models:
    """All that is known is that the value is between two."""
    with np.errstate(invalid="ignore", over="ignore"):
        middle = 0.5 * low + 0.5 * high
        bounded = np.isfinite(middle)
        middle = np.where(bounded, middle, 0.0)
        width = np.where(bounded, np.maximum(high - middle, middle - low), np.inf)
    return constant(middle, enlarged(width * (1.0 + gamma(4)) + gamma(4) * np.abs(middle)), degree)


def chosen(first: npt.NDArray[np.bool_], a: Models, b: Models) -> Models:
    """`a` where `first` (...), else `b`."""
    return Models(
        np.where(first, a.coefficients, b.coefficients),
        np.where(first, a.remainder, b.remainder),
        np.where(first, a.size, b.size),
    )
