"""The best motion is the best one however slow it is, and however its cost is weighed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robomorph.planning import Motion, Plan
from robomorph.tasks import Position
from tests.planning.motions import FRAME, arm

Q0 = np.array([0.5, 0.6, 0.0, -1.2, 0.0, 0.8, 0.0])
Q1 = np.array([-0.5, 0.9, 0.3, -0.8, 0.2, 0.4, 0.5])


def best(seconds: float, cost: Any = "jerk", solver: str = "native", torque: Any = None) -> Plan:
    motion = Motion(arm(), seconds, 8, start=Q0, end=Q1).limits(velocity=None, torque=torque)
    motion.keep(Position(FRAME), (-2, -2, 0.62), 2, during=(0.2 * seconds, 0.8 * seconds))
    plan = motion.solve(cost, solver=solver)
    assert plan.success, plan.reason
    return plan


@pytest.mark.parametrize("solver", ["native", "ipopt"])
def test_a_slow_motion_is_as_good_as_its_fast_twin(solver: str) -> None:
    """Stretched in time the same motion is the best: its jerk falls with the fifth power."""
    usual = best(2.0, solver=solver).cost * 2.0**5
    for seconds in (0.2, 20.0, 200.0, 1e4, 1e6):
        assert np.isclose(best(seconds, solver=solver).cost * seconds**5, usual, rtol=1e-5), seconds


@pytest.mark.parametrize("solver", ["native", "ipopt"])
@pytest.mark.parametrize("cost", [{"jerk": 1.0}, {"energy": 1.0}, {"jerk": 1.0, "energy": 3.0}])
def test_the_weight_of_a_cost_does_not_matter(cost: dict[str, float], solver: str) -> None:
    usual = best(2.0, cost, solver).cost
    for weight in (1e-12, 1e-6):
        weighed = {name: weight * own for name, own in cost.items()}
        assert np.isclose(best(2.0, weighed, solver).cost, weight * usual, rtol=1e-4, atol=0.0)
