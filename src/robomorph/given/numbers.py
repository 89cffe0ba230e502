"""Single numbers as callers give them."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from robomorph.errors import ArgumentError


def whole_number(name: str, value: Any, least: int, most: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, (bool, np.bool_)) or not least <= number <= most:
        raise ArgumentError(f"{name}: expected a whole number from {least} to {most}, found {value!r}")
    return number


def number(name: str, value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if isinstance(value, (bool, str)) or not math.isfinite(found):
        raise ArgumentError(f"{name}: expected a finite number, found {value!r}")
    return found
