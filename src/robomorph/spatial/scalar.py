"""The generic scalar and the few functions of it that algorithms may use."""

from __future__ import annotations

from typing import Any

import numpy as np

# Anything with + - * and unary minus. Algorithms never ask a scalar for its value.
Scalar = Any


def sin(x: Scalar) -> Scalar:
    """Sine of a scalar (radians)."""
    return x.sin() if hasattr(x, "sin") else np.sin(x)


def cos(x: Scalar) -> Scalar:
    """Cosine of a scalar (radians)."""
    return x.cos() if hasattr(x, "cos") else np.cos(x)


def reciprocal(x: Scalar) -> Scalar:
    """1/x."""
    return x.reciprocal() if hasattr(x, "reciprocal") else 1.0 / x
