"""The generic scalar and the few functions of it that algorithms may use."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# Anything with + - * and unary minus. Algorithms never ask a scalar for its value.
Scalar = Any

_EIGHTH_TURN = math.tan(math.pi / 8)
# (atan(r) - r) / r^3 in powers of r^2 for |r| <= tan(pi/8), through Chebyshev points: off by 1.5e-18 at most.
_ATAN = (
    -0.3333333333333333,
    0.19999999999999993,
    -0.14285714285711518,
    0.11111111110754729,
    -0.0909090906700999,
    0.07692306736000173,
    -0.06666642020055166,
    0.058819252531928636,
    -0.05258041554297779,
    0.04719395030027433,
    -0.04104436265755082,
    0.030635704112969498,
    -0.01391822929102443,
)


def sin(x: Scalar) -> Scalar:
    """Sine of a scalar (radians)."""
    return x.sin() if hasattr(x, "sin") else np.sin(x)


def cos(x: Scalar) -> Scalar:
    """Cosine of a scalar (radians)."""
    return x.cos() if hasattr(x, "cos") else np.cos(x)


def reciprocal(x: Scalar) -> Scalar:
    """1/x."""
    return x.reciprocal() if hasattr(x, "reciprocal") else 1.0 / x


def sqrt(x: Scalar) -> Scalar:
    """Square root; NaN below zero."""
    return x.sqrt() if hasattr(x, "sqrt") else np.sqrt(x)


def minimum(a: Scalar, b: Scalar) -> Scalar:
    """The smaller of two; NaN if either is."""
    return _either("minimum", a, b)


def maximum(a: Scalar, b: Scalar) -> Scalar:
    """The larger of two; NaN if either is."""
    return _either("maximum", a, b)


def _either(name: str, a: Scalar, b: Scalar) -> Scalar:
    if hasattr(a, name):
        return getattr(a, name)(b)
    return getattr(b, name)(a) if hasattr(b, name) else getattr(np, name)(a, b)


def select(x: Scalar, a: Scalar, b: Scalar) -> Scalar:
    """`a` where x >= 0, else `b` (also where x is NaN)."""
    if hasattr(x, "select"):
        return x.select(a, b)
    if np.ndim(x) == 0:
        return a if x >= 0.0 else b
    return np.where(x >= 0.0, a, b)


def absolute(x: Scalar) -> Scalar:
    """The size of a scalar."""
    return maximum(x, -x)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """The angle (rad, in (-pi, pi]) of the point (x, y), 0 at the origin; the sign of a zero does not count.

    Made of the operations above, so that every target, interval and derivative has it: the ratio is brought
    below tan(pi/8), where a polynomial is good to an ulp or two.
    """
    across, along = absolute(x), absolute(y)
    larger, smaller = maximum(across, along), minimum(across, along)
    ratio = smaller * reciprocal(select(-larger, 1.0, larger))  # 0 at the origin
    steep = ratio - _EIGHTH_TURN
    r = select(steep, (ratio - 1.0) * reciprocal(ratio + 1.0), ratio)
    z = r * r
    series: Scalar = _ATAN[-1]
    for coefficient in reversed(_ATAN[:-1]):
        series = series * z + coefficient
    angle = select(steep, math.pi / 4, 0.0) + (r + r * z * series)
    angle = select(across - along, angle, math.pi / 2 - angle)
    angle = select(x, angle, math.pi - angle)
    return select(y, angle, -angle)
