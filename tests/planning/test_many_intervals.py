"""The cost of motions of many short intervals keeps its digits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import robomorph
from robomorph.planning import Motion


def exact_jerk(control: np.ndarray, knot: float) -> float:
    """The integral of squared jerk over all joints, in rationals."""
    total = Fraction(0)
    for column in control.T:
        p = [Fraction(float(x)) for x in column]
        for i in range(len(p) - 3):
            total += (p[i + 3] - 3 * p[i + 2] + 3 * p[i + 1] - p[i]) ** 2
    return float(total / Fraction(knot) ** 5)


@pytest.mark.parametrize("intervals", [100, 300])
def test_the_jerk_of_many_intervals(intervals: int) -> None:
    robot = robomorph.load("iiwa14")
    start, end = np.full(7, -0.4), np.array([0.5, 0.4, -0.2, -1.3, 0.3, 0.9, 0.2])
    motion = Motion(robot, seconds=2.0, intervals=intervals, start=start, end=end)
    motion.limits(position=True)
    plan = motion.solve(cost="jerk")
    exact = exact_jerk(plan.control, 2.0 / intervals)
    assert plan.success, plan.reason
    assert plan.cost == pytest.approx(exact, rel=1e-6)
    # From rest to rest without a limit in the way: 720 d^2 / T^5, a polynomial that splines come near to.
    assert exact == pytest.approx(720.0 * ((end - start) ** 2).sum() / 2.0**5, rel=2e-3)


def test_too_many_are_refused() -> None:
    motion = Motion(robomorph.load("iiwa14"), seconds=2.0, intervals=301, start=np.zeros(7), end=np.ones(7))
    motion.limits(position=True)
    with pytest.raises(robomorph.RobomorphError, match="expected at most 300 intervals, found 301"):
        motion.solve(cost="jerk")
