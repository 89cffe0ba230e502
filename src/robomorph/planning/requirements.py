"""What is asked of a motion, as numbers: rows of tasks, of joints and of torques between bounds."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from robomorph.planning.problem import Array
from robomorph.tasks import AnyTask

Window = tuple[float, float]  # from when to when, in s at sigma = 1


@dataclass(frozen=True, eq=False)
class Requirement:
    """Values between bounds (rows,) during a window. rate: which time derivative is held. `names`: of the
    rows, for messages. shares: the window in shares of the duration, if that was stretched."""

    name: str
    lower: Array
    upper: Array
    window: Window
    rate: int
    names: tuple[str, ...]
    unit: str
    shares: Window | None = field(default=None, kw_only=True)

    @property
    def live(self) -> list[int]:
        """Rows that have a bound."""
        return [k for k in range(len(self.lower)) if np.isfinite(self.lower[k]) or np.isfinite(self.upper[k])]

    @property
    def instant(self) -> bool:
        return self.window[0] == self.window[1]


@dataclass(frozen=True, eq=False)
class Ends:
    """What is asked of a motion as a whole: start and end (3, nv) or None, whether it goes round, and its
    shortest and longest duration (s)."""

    start: Array | None
    end: Array | None
    periodic: bool
    seconds: tuple[float, float]


@dataclass(frozen=True, eq=False)
class OfTask(Requirement):
    """Bound rows of a task from a reference, as numbers. given: the caller's own bounds, lower and upper."""

    task: AnyTask = field(kw_only=True)
    reference: tuple[float, ...] = field(kw_only=True)
    given: tuple[tuple[float, ...], tuple[float, ...]] = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class OfJoints(Requirement):
    """Coordinates of joints or their time derivatives (rate 0 to 3): exact on splines. share: of the robot's
    own limits, if these are it."""

    joints: tuple[int, ...] = field(kw_only=True)
    share: float | None = field(default=None, kw_only=True)


@dataclass(frozen=True, eq=False)
class OfTorques(Requirement):
    """Torques of the joints. share: of the robot's own limits, if these are it."""

    joints: tuple[int, ...] = field(kw_only=True)
    share: float | None = field(default=None, kw_only=True)


# A band is at least this share of what its row is divided by: the solver widens bands below 2e-7, and its
# answers miss bounds by up to 1e-8.
_NARROWEST = 1e-6


def scale_of(requirement: Requirement, row: int) -> float:
    """What a row is divided by: what is sensible for its unit, or less for a band that is much narrower."""
    lower, upper = float(requirement.lower[row]), float(requirement.upper[row])
    scale, width = _usual_scale(requirement, lower, upper), upper - lower
    return min(scale, width / _NARROWEST) if width > 0.0 else scale


def _usual_scale(requirement: Requirement, lower: float, upper: float) -> float:
    size = max((abs(b) for b in (lower, upper) if np.isfinite(b)), default=1.0)
    if isinstance(requirement, OfTorques) or (isinstance(requirement, OfJoints) and requirement.rate):
        return size if size > 0.0 else 1.0
    if isinstance(requirement, OfJoints):
        return 1.0
    return 0.01 if requirement.rate == 0 else max(0.01, min(1.0, size))
