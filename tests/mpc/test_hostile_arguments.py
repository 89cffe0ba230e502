"""Arguments that were once taken for something else, or ended in a traceback from the depths."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError
from robomorph.mpc import Acceleration, Controller, Delay, Effort, Function, Jerk, Problem, Velocity, simulate
from robomorph.tasks import Posture

NV = 2
ZERO = np.zeros(NV)


def far_reach(horizon: int = 8) -> Problem:
    """Towards a posture far away, with next to no regard for efforts: every limit binds."""
    robot = robomorph.load("chain:2")
    problem = Problem(robot, horizon, 0.02).cost(Posture.of(robot.model), 10.0, ZERO + 5.0)
    return problem.cost(Velocity(), 0.1).cost(Effort(), 1e-6)


@pytest.mark.parametrize("name", ["position", "velocity"])
@pytest.mark.parametrize("hard_last", [False, True])
def test_a_hard_limit_stays_hard_beside_a_soft_one(name: str, hard_last: bool) -> None:
    """Whichever comes first."""
    problem = far_reach()
    wishes: list[dict[str, Any]] = [{name: [0.8] * NV}, {name: [0.5] * NV, "soft": 1e-3}]
    for wish in reversed(wishes) if hard_last else wishes:
        problem.limits(**wish)
    found = Controller(problem).step(ZERO, ZERO)
    assert found.success and found.soft_cost > 0.0
    values = found.q if name == "position" else found.qd
    assert 0.79 < np.abs(values[1:]).max() <= 0.8 * (1 + 2e-6)


@pytest.mark.parametrize(("name", "quantity"), [("torque", Effort()), ("acceleration", Acceleration())])
def test_softness_of_torques_is_one(name: str, quantity: Any) -> None:
    limits: dict[str, Any] = {name: [1.0] * NV}
    problem = far_reach().bound(quantity, -0.1, 0.1, soft=1e-3)
    with pytest.raises(ArgumentError, match="another softness"):
        problem.limits(velocity=[1.0] * NV, **limits)
    assert len(problem.bounds) == 1  # nothing of a call that is refused
    problem.limits(**limits, soft=1e-3)


def test_limits_are_numbers() -> None:
    for wrong in (np.array([1j, 1.0]), ["1", "2"], [True, True], [10**400, 1]):
        with pytest.raises(ArgumentError, match="torque: expected a number or 2 numbers"):
            far_reach().limits(torque=wrong)
    with pytest.raises(ArgumentError, match="has no such limit of 'joint_1'"):
        far_reach().limits(torque=np.True_)  # True, not one newton metre
    with np.errstate(all="raise"):
        wide = Controller(far_reach().limits(position=(-1e308, 1e308))).step(ZERO, ZERO)
    assert wide.success


@pytest.mark.parametrize("elapsed", [math.inf, 1e308])
def test_a_pause_without_end(elapsed: float) -> None:
    controller = Controller(far_reach().cost(Jerk(), 1e-4))
    first = controller.step(ZERO, ZERO)
    assert controller.step(ZERO, ZERO, elapsed=elapsed).success and first.success


def test_numbers_beyond_all_numbers() -> None:
    controller = Controller(far_reach())
    for name in ("deadline", "elapsed"):
        with pytest.raises(ArgumentError, match=name):
            huge: dict[str, Any] = {name: 10**400}
            controller.step(ZERO, ZERO, **huge)
    method: Any = []
    with pytest.raises(ArgumentError, match="method"):
        Controller(far_reach(), method=method)


@pytest.mark.parametrize(
    "f", [lambda q, qd: [q[9]], lambda q, qd: [q[0] * (1 / 0)], lambda q, qd: dict(a=1)["b"]]
)
def test_functions_that_fail(f: Any) -> None:
    with pytest.raises(ArgumentError, match="mine: its function fails with"):
        Controller(far_reach().cost(Function(f, 1, "mine"), 1.0)).step(ZERO, ZERO)


@pytest.mark.parametrize("method", ["id", "ddp"])
def test_what_is_called_standing_still_is(method: str) -> None:
    """After a plan in full motion, references whose squares overflow: no step can be computed."""
    robot = robomorph.load("chain:2")
    controller = Controller(far_reach(), method=method)
    controller.step(ZERO, ZERO + 3.0)
    found = controller.step(ZERO, ZERO, reference=ZERO + 1e300)
    assert not found.success and found.origin == "hold" and "stand still" in found.reason
    assert np.allclose(found.qdd, 0.0, atol=1e-9) and np.allclose(found.qd, 0.0, atol=1e-9)
    assert np.allclose(found.tau, robot.gravity_torque(ZERO))
    assert controller.step(ZERO, ZERO).converged


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seconds", "1"),
        ("seconds", None),
        ("rate", "50"),
        ("tolerance", math.nan),
        ("tolerance", "a"),
        ("pushes", None),
        ("pushes", [3]),
        ("noise", 0.01),
        ("delay", 0.01),
        ("delay", Delay(1e9)),
        ("late", 0.5),
        ("error", 3),
        ("viewer", 3),
        ("controller", 3),
    ],
)
def test_closed_loops_name_what_is_wrong(name: str, value: Any) -> None:
    given: dict[str, Any] = {"controller": Controller(far_reach()), "seconds": 0.1, name: value}
    with pytest.raises(ArgumentError, match=name):
        simulate(**given)


def test_two_soft_limits_have_two_prices() -> None:
    problem = far_reach(4)
    problem.limits(velocity=[1.0] * NV, soft=0.03).limits(velocity=[0.5] * NV, soft=0.03)
    found = Controller(problem).step(ZERO, ZERO)
    over = [np.maximum(np.abs(found.qd[1:]) - most, 0.0) for most in (1.0, 0.5)]
    assert found.soft_cost == pytest.approx(sum(0.015 * float(np.square(x).sum()) for x in over))
    assert over[0].max() > 0.1
