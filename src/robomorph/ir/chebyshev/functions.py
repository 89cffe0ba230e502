"""Functions of models: sine, cosine, reciprocal, root by interpolation; minimum, maximum, select by cases.

A function f that is analytic where p leads the ellipse with foci -1, 1 and half axes adding up to rho is
approximated by its interpolant at D + 1 Chebyshev nodes within 4 M rho^-D / (rho - 1), where M bounds |f(p)|
on the ellipse. There |T_k| <= (rho^k + rho^-k) / 2 and |Im T_k| <= (rho^k - rho^-k) / 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from robomorph.ir.chebyshev.models import Models, between, chosen, subtract
from robomorph.ir.chebyshev.ranges import bounds
from robomorph.ir.chebyshev.rounding import Array, U, enlarged, gamma
from robomorph.ir.chebyshev.tables import node_coefficients, node_values

_RHO = np.geomspace(1.02, 400.0, 28)
# The bound on an ellipse is made of exponentials and powers: far more than their rounding.
_SAFE = 1.0 + 2.0**-30
# So much of its size a value must keep away from zero, for its rounding to be nothing beside the distance.
_APART = 2.0**-12
# Of sine, cosine, reciprocal and root as the machine computes them, in units of U of a result up to 1.
_LIBRARY = 8.0


def sine(a: Models) -> Models:
    return _turned(a, np.sin)


def cosine(a: Models) -> Models:
    return _turned(a, np.cos)


def _turned(a: Models, function: Callable[[Array], Array]) -> Models:
    """|sin z| and |cos z| are at most cosh(Im z), and change no faster than their argument."""
    grown = _on_ellipses(a, -1.0)
    with np.errstate(over="ignore"):
        cut = _cut_off(np.cosh(grown), a.degree)
    exact = gamma(a.degree + 12) * a.size + _LIBRARY * U
    out = _interpolated(a, function, cut, exact, np.ones_like(a.size))
    remainder = enlarged(out.remainder + a.remainder)
    wild = ~(remainder <= 1.0)  # where nothing better is known than that it is between -1 and 1
    return Models(
        np.where(wild, 0.0, out.coefficients),
        np.where(wild, 1.0, remainder),
        np.where(wild, 0.0, out.size),
    )


def reciprocal(a: Models) -> Models:
    """Of what keeps away from zero; elsewhere nothing is known."""
    low, high = (side[0] for side in bounds(a))
    nearest = np.where(low > 0.0, low, -high)
    with np.errstate(all="ignore"):
        middle = np.abs(a.coefficients[0])
        smallest = (middle - _on_ellipses(a, 1.0)) * (1.0 - 2.0**-30)
        cut = _cut_off(np.where(smallest > 0.0, 1.0 / smallest, np.inf), a.degree)
        most = 1.0 / nearest
        exact = gamma(a.degree + 12) * a.size * most * most * _SAFE + _LIBRARY * U * most
        out = _interpolated(a, np.reciprocal, cut, exact, most)
        out = Models(out.coefficients, enlarged(out.remainder + a.remainder * most * most), out.size)
    return _known_where(nearest > _APART * a.size, out)


def root(a: Models) -> Models:
    """Of what stays above zero; elsewhere nothing is known."""
    low = bounds(a).low[0]
    with np.errstate(all="ignore"):
        spread, middle = _on_ellipses(a, 1.0), a.coefficients[0]
        inside = (middle - spread) * (1.0 - 2.0**-30) > 0.0
        cut = _cut_off(np.where(inside, np.sqrt(middle + spread), np.inf), a.degree)
        slope = 1.0 / np.sqrt(low)  # twice what it can be
        most = np.sqrt(a.size + a.remainder) * _SAFE
        out = _interpolated(
            a, np.sqrt, cut, gamma(a.degree + 12) * a.size * slope + _LIBRARY * U * most, most
        )
        out = Models(out.coefficients, enlarged(out.remainder + a.remainder * slope), out.size)
    return _known_where(low > _APART * a.size, out)


def minimum(a: Models, b: Models) -> Models:
    return _either(a, b, np.minimum, -1.0)


def maximum(a: Models, b: Models) -> Models:
    return _either(a, b, np.maximum, 1.0)


def _either(a: Models, b: Models, function: Callable[[Array, Array], Array], sign: float) -> Models:
    """One of the two where it is certain which, else what lies between both."""
    low, high = (side[0] for side in bounds(subtract(a, b)))
    first, second = (low >= 0.0, high <= 0.0) if sign > 0.0 else (high <= 0.0, low >= 0.0)
    (low_a, high_a), (low_b, high_b) = ((x.low[0], x.high[0]) for x in (bounds(a), bounds(b)))
    both = between(function(low_a, low_b), function(high_a, high_b), a.degree)
    return chosen(first, a, chosen(second, b, both))


def select(x: Models, a: Models, b: Models) -> Models:
    """`a` where x >= 0, else `b`: the one that is certain, else what lies between both."""
    low, high = (side[0] for side in bounds(x))
    (low_a, high_a), (low_b, high_b) = ((y.low[0], y.high[0]) for y in (bounds(a), bounds(b)))
    both = between(np.minimum(low_a, low_b), np.maximum(high_a, high_b), a.degree)
    return chosen(low >= 0.0, a, chosen(high < 0.0, b, both))


def _on_ellipses(a: Models, sign: float) -> Array:
    """(rhos, ...): the sum over k >= 1 of |c_k| (rho^k + sign rho^-k) / 2."""
    k = np.arange(1, a.degree + 1)
    weights = 0.5 * (_RHO[:, None] ** k + sign * _RHO[:, None] ** -k)
    sizes = np.abs(a.coefficients[1:]).reshape(a.degree, -1)
    return np.asarray((weights @ sizes * _SAFE).reshape(len(_RHO), *a.remainder.shape))


def _cut_off(most: Array, degree: int) -> Array:
    """(...) the best of the bounds that `most` (rhos, ...) gives."""
    factors = 4.0 * _RHO**-degree / (_RHO - 1.0)
    found = most * factors.reshape(-1, *[1] * (most.ndim - 1))
    return np.asarray(np.where(np.isnan(found), np.inf, found).min(axis=0) * _SAFE)


def _interpolated(
    a: Models, function: Callable[[Array], Array], cut: Array, exact: Array, most: Array
) -> Models:
    """The interpolant of a function of the polynomial. `exact`: how far values at nodes may be off; `most`:
    how large they may be. The remainder of `a` itself is not counted here."""
    degree, shape = a.degree, a.remainder.shape
    values = function(node_values(degree) @ a.coefficients.reshape(degree + 1, -1))
    coefficients = (node_coefficients(degree) @ values).reshape(degree + 1, *shape)
    lebesgue = 1.0 + 2.0 / math.pi * math.log(degree + 1.0)
    rounding = 2.0 * (degree + 1) * gamma(degree + 14) * most
    return Models.of(coefficients, enlarged(cut + lebesgue * exact * _SAFE + rounding))


def _known_where(known: npt.NDArray[np.bool_], models: Models) -> Models:
    nothing = between(np.full(known.shape, -np.inf), np.full(known.shape, np.inf), models.degree)
    return chosen(known & np.isfinite(models.coefficients).all(axis=0), models, nothing)
