"""Checking what a caller gives to a motion: durations, states, windows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.given.numbers import number
from robomorph.planning.problem import Array
from robomorph.tasks.numbers import finite

if TYPE_CHECKING:
    from robomorph.robot import Robot

_LONGEST = 1e6  # s
_SHORTEST = 1e-6
_INSTANT = 1e-12  # of the duration: a window this short is an instant, up to rounding


@dataclass(frozen=True)
class Duration:
    """`nominal` seconds; with bounds, a solver stretches it between them."""

    nominal: float
    bounds: tuple[float, float] | None = None

    @property
    def free(self) -> bool:
        return self.bounds is not None


def read_duration(seconds: Any) -> Duration:
    pair = isinstance(seconds, (tuple, list, np.ndarray)) and np.ndim(seconds) == 1
    if pair and len(seconds) != 2:
        raise ArgumentError(
            f"seconds: expected a number or (shortest, longest), found {len(seconds)} numbers"
        )
    values = [number("seconds", value) for value in (seconds if pair else [seconds])]
    if not all(_SHORTEST <= value <= _LONGEST for value in values):
        raise ArgumentError(f"seconds: expected {_SHORTEST:g} to {_LONGEST:g} s, found {seconds!r}")
    if not pair:
        return Duration(values[0])
    if not values[0] < values[1]:
        raise ArgumentError(f"seconds: expected shortest < longest, found {values[0]:g} and {values[1]:g}")
    return Duration(math.sqrt(values[0] * values[1]), (values[0], values[1]))


def read_state(robot: Robot, name: str, value: npt.ArrayLike | None) -> Array | None:
    """(3, nv): q, qd, qdd, what is left out being zero."""
    if value is None:
        return None
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{name}: expected q ({robot.nv},), (q, qd) or (q, qd, qdd), found {type(value).__name__}"
        ) from None
    if array.shape not in ((robot.nv,), (1, robot.nv), (2, robot.nv), (3, robot.nv)):
        raise ArgumentError(
            f"{name}: expected q ({robot.nv},), or (q, qd) or (q, qd, qdd), found shape {array.shape}"
        )
    finite(name, array, ())
    rows = np.atleast_2d(array)
    return np.concatenate([rows, np.zeros((3 - len(rows), robot.nv))])


def read_window(name: str, during: Any, duration: Duration) -> tuple[float, float]:
    """From when to when, in s of the nominal duration."""
    if during is None:
        return 0.0, duration.nominal
    most, unit = (1.0, "shares of the duration") if duration.free else (duration.nominal, "s")
    pair = [during, during] if np.ndim(during) == 0 else list(during)
    if len(pair) != 2:
        raise ArgumentError(f"{name}: expected (from, to) or one instant, found {len(pair)} numbers")
    begin, end = (number(name, t) for t in pair)
    slack = 1e-9 * most
    if not (-slack <= begin <= end <= most + slack):
        raise ArgumentError(
            f"{name}: expected a window within 0 to {most:g} ({unit}), from first to last, found {during!r}"
        )
    if end - begin <= _INSTANT * most:
        end = begin
    stretch = duration.nominal if duration.free else 1.0
    return max(0.0, begin) * stretch, min(most, end) * stretch
