"""Lengths of quaternions and (cos, sin) pairs: checked where a kernel runs, NaN passes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robomorph.runtime.array_kinds import Array
from robomorph.runtime.values import UNIT_TOLERANCE, UnitPart, check_units


def check_lengths(q: Array, units: Sequence[UnitPart]) -> None:
    """Refuse configurations (..., nq) with units of another length than one, as the robot's methods do. NaN
    is no length: what has become NaN gives NaN."""
    tolerance = UNIT_TOLERANCE[q.dtype.name]
    for unit in units:
        own = q[..., unit.start : unit.stop]
        with np.errstate(over="ignore", invalid="ignore"):
            off = np.abs(np.einsum("...i,...i->...", own, own) - 1.0) > tolerance
        if off.any():  # the square is off twice as far: look again
            check_units("q", _without_nan(q, unit), [unit])


def _without_nan(q: Array, unit: UnitPart) -> Array:
    some = np.zeros(unit.stop - unit.start, q.dtype)
    some[0] = 1.0
    out: Array = q.copy()
    nan = np.isnan(q[..., unit.start : unit.stop]).any(axis=-1)
    out[nan, unit.start : unit.stop] = some
    return out
