"""The one table of operations: arity, symmetry, meaning and cost.

`evaluate` is the definition: every target must compute the same up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False, slots=True)
class Op:
    """One operation. Compared by identity; `evaluate` takes and returns NumPy arrays or floats."""

    name: str
    arity: int
    commutative: bool
    cost: int  # arithmetic operations, a fused multiply-add counting two
    evaluate: Callable[..., Any] | None

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return _by_name, (self.name,)  # the one of the table again, in every process


CONST = Op("const", 0, False, 0, None)
INPUT = Op("input", 0, False, 0, None)
ADD = Op("add", 2, True, 1, np.add)
SUB = Op("sub", 2, False, 1, np.subtract)
MUL = Op("mul", 2, True, 1, np.multiply)
NEG = Op("neg", 1, False, 1, np.negative)
RECIP = Op("recip", 1, False, 1, np.reciprocal)
SIN = Op("sin", 1, False, 1, np.sin)
COS = Op("cos", 1, False, 1, np.cos)
SQRT = Op("sqrt", 1, False, 1, np.sqrt)  # NaN below zero
MIN = Op("min", 2, True, 1, np.minimum)  # NaN if either is
MAX = Op("max", 2, True, 1, np.maximum)
SELECT = Op("select", 3, False, 1, lambda x, a, b: np.where(x >= 0.0, a, b))  # a where x >= 0, else b
FMA = Op("fma", 3, False, 2, lambda a, b, c: a * b + c)  # a b + c
FMS = Op("fms", 3, False, 2, lambda a, b, c: a * b - c)  # a b - c
FNMA = Op("fnma", 3, False, 2, lambda a, b, c: c - a * b)  # c - a b

OPS: dict[str, Op] = {
    op.name: op
    for op in (
        *(CONST, INPUT, ADD, SUB, MUL, NEG, RECIP, SIN, COS),
        *(SQRT, MIN, MAX, SELECT),
        *(FMA, FMS, FNMA),
    )
}
# What integers in hardware have no form for (yet): programs with these run on the other targets.
NOT_IN_FIXED_POINT = frozenset({SQRT, MIN, MAX, SELECT})


def _by_name(name: str) -> Op:
    return OPS[name]
