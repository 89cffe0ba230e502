"""Control rate against horizon: points of a curve, and the longest horizon that keeps up with a rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# The papers' lines (Hz): the least for nonlinear predictive control, and what joints respond to.
RATES = (250.0, 1000.0)

MEASURED, ESTIMATE, PUBLISHED = "measured", "estimate", "derived from the papers"


@dataclass(frozen=True, slots=True)
class RatePoint:
    """What one plan of `iterations` iterations over `horizon` steps takes (s), and how that is known."""

    robot: str
    who: str
    horizon: int
    seconds: float
    iterations: int
    known: str  # MEASURED, ESTIMATE or PUBLISHED

    @property
    def rate(self) -> float:
        """Plans a second."""
        return 1.0 / self.seconds


def curves(points: Sequence[RatePoint]) -> dict[tuple[str, str], list[RatePoint]]:
    """Points by robot and by who made them, in order of their horizon."""
    found: dict[tuple[str, str], list[RatePoint]] = {}
    for point in points:
        found.setdefault((point.robot, point.who), []).append(point)
    return {key: sorted(mine, key=lambda point: point.horizon) for key, mine in found.items()}


def longest(points: Sequence[RatePoint], rate: float) -> tuple[int, bool]:
    """The longest horizon of one curve that keeps up with a rate (Hz), by straight lines between its points,
    and whether the curve ends there: it might then be longer. 0 if even the shortest does not."""
    allowed = 1.0 / rate
    fits = [point for point in points if point.seconds <= allowed]
    if not fits:
        return 0, False
    last = max(fits, key=lambda point: point.horizon)
    beyond = [point for point in points if point.horizon > last.horizon]
    if not beyond:
        return last.horizon, True
    next_ = min(beyond, key=lambda point: point.horizon)
    share = (allowed - last.seconds) / (next_.seconds - last.seconds)
    return last.horizon + int(share * (next_.horizon - last.horizon)), False


def papers_points(horizons: Sequence[int], iterations: int = 10) -> list[RatePoint]:
    """The papers' model of a manipulator as we derive it: time grows with the horizon, and the horizons that
    they name at 250 Hz with ten iterations (about 80 steps on a CPU, 100 with an FPGA, 115 with a chip)
    say how long a step of an iteration takes: 5, 4 and 3.5 us."""
    named = {"papers' model, CPU": 80, "papers' model, FPGA": 100, "papers' model, chip": 115}
    made = []
    for who, steps in named.items():
        each = 1.0 / (RATES[0] * 10 * steps)
        made += [RatePoint("iiwa14", who, n, each * n * iterations, iterations, PUBLISHED) for n in horizons]
    return made
