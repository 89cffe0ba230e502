"""What is allowed, how far off a kernel is, and what follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Allowed(NamedTuple):
    """Error allowed against each yardstick. float64: largest error over the largest entry; float32: relative
    L2 norm. What divides by the mass matrix may lose as many digits more as its condition number has."""

    interpreter: float
    textbook: float
    differences: float


# The textbook is as good as float64: real robots agree to 1e-13. Differences are good to about 1e-9.
ALLOWED = {"float64": Allowed(1e-9, 1e-11, 1e-6), "float32": Allowed(2e-4, 2e-4, 2e-4)}
# Numbers that are this small count as none.
_NOTHING = 1e-11


class DistrustError(Exception):
    """The function that differences would be taken of is wrong itself."""


@dataclass(frozen=True)
class Verdict:
    """The largest error of a kernel over all its outputs and both of its code paths (single, lanes), by what
    it was compared with (None: nothing was), and what is allowed."""

    interpreter: float
    textbook: float | None
    differences: float | None
    allowed: Allowed
    distrust: str | None = None  # why there are no differences to compare with

    @property
    def independent(self) -> float | None:
        """The largest error against textbook and differences, None if there was neither."""
        found = [x for x in (self.textbook, self.differences) if x is not None]
        return max(found) if found and self.distrust is None else None

    @property
    def checked_against(self) -> str:
        """What the kernel was compared with: never more than was there to compare with."""
        if self.distrust is not None:
            return f"the interpreter only: the differences are not trusted, for {self.distrust}"
        if self.independent is None:
            return "the interpreter only"
        return "the interpreter, and finite differences or textbook formulas"

    @property
    def passed(self) -> bool:
        found = (self.interpreter, self.textbook, self.differences)
        within = all(x is None or x <= most for x, most in zip(found, self.allowed, strict=True))
        return within and self.distrust is None


def error(found: Array, expected: Array, dtype: str, least: float = 0.0) -> float:
    """Largest error over the largest entry (float64) or relative L2 norm (float32), where entries count as no
    smaller than `least`; infinite for NaN."""
    if not np.all(np.isfinite(found)):
        return float("inf")
    if not expected.size:
        return 0.0
    off = np.asarray(found, np.float64) - expected
    if dtype == "float32":
        size, distance = float(np.linalg.norm(expected)), float(np.linalg.norm(off))
        least *= float(np.sqrt(off.size))
    else:
        size, distance = float(np.abs(expected).max()), float(np.abs(off).max())
    if size <= _NOTHING and not found.any():
        return 0.0
    size = max(size, least)
    return distance / size if size > 0.0 else distance
