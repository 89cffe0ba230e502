"""Failures say which constraint, when and by how much."""

from __future__ import annotations

import time

import numpy as np
import pytest

from robomorph.planning import Motion
from robomorph.tasks import Position, Posture
from tests.planning.motions import FRAME, arm

Q0 = np.array([0.5, 0.6, 0.0, -1.2, 0.0, 0.8, 0.0])
Q1 = np.array([-0.5, 0.9, 0.3, -0.8, 0.2, 0.4, 0.5])


def motion(seconds: float = 2.0) -> Motion:
    return Motion(arm(), seconds, 8, start=Q0, end=Q1)


def test_the_start_alone_breaks_a_limit() -> None:
    """Exactly what the clamped state breaks, at once."""
    share = float(np.abs(arm().gravity_torque(Q1) / arm().limits.effort).max())
    joint = arm().velocity_names[int(np.abs(arm().gravity_torque(Q1) / arm().limits.effort).argmax())]
    plan = motion().limits(torque=0.9 * share).solve()
    assert not plan.success and plan.iterations == 0
    beyond = 0.1 * share * arm().limits.effort[arm().velocity_names.index(joint)]
    assert f"torque limits, {joint}: {beyond:.4g} N m or N beyond" in plan.reason
    assert "the start or end state alone breaks" in plan.reason and "t = 2 s" in plan.reason


def test_an_end_outside_its_limits() -> None:
    outside = Q1.copy()
    outside[1] = arm().limits.upper[1] + 0.25
    plan = Motion(arm(), 2.0, 8, start=Q0, end=outside).limits().solve()
    assert f"position limits, {arm().velocity_names[1]}: 0.25 rad or m beyond its upper bound" in plan.reason


def test_a_start_too_fast_for_its_limit() -> None:
    """The speed is right at the limit, and what follows from acceleration would break it."""
    limit = arm().limits.velocity
    plan = Motion(arm(), 2.0, 8, start=(Q0, 0.999 * limit, 5.0 * limit), end=Q1).limits().solve()
    assert not plan.success and "velocity limits" in plan.reason


def test_ends_that_decide_the_middle_of_a_short_spline() -> None:
    """Of four intervals three control points belong to each end: the speed half-way is theirs alone."""
    near, far = Q0.copy(), Q0.copy()
    far[0] += 2.0
    plan = Motion(arm(), 2.2, 4, start=near, end=far).limits().solve()
    assert not plan.success and "with so few intervals" in plan.reason and "velocity limits" in plan.reason
    assert "t = 1.1 s" in plan.reason and "give more intervals" in plan.reason
    assert Motion(arm(), 2.2, 12, start=near, end=far).limits().solve().success


@pytest.mark.parametrize(("intervals", "refine"), [(4, 4), (8, 2)])
def test_a_start_that_moves_towards_its_limit_but_not_beyond(intervals: int, refine: int) -> None:
    """It brakes in time: only the bounds of a long piece are beyond the limit, and finer ones are not."""
    upper = arm().limits.upper[0]
    state = np.zeros((3, arm().nv))
    state[:, 0] = upper - 0.04, 0.6, -6.0  # it would stop 0.03 rad further
    asked = Motion(arm(), 2.0, intervals, start=state, end=Q1).limits(velocity=None)
    plan = asked.solve()
    assert not plan.success and plan.iterations == 0
    assert f"position limits, {arm().velocity_names[0]}, near t" in plan.reason
    assert plan.reason.endswith(f"give refine={refine}, or more intervals")
    finer = asked.refined(refine).solve()
    assert finer.success and finer.certify().proven, finer.reason
    assert asked.solve(method="grid").success  # which shows nothing between its points
    state[2] = 0.0  # and now it does not brake
    plan = Motion(arm(), 2.0, intervals, start=state, end=Q1).limits(velocity=None).solve()
    assert not plan.success


def test_windows_that_contradict() -> None:
    both = motion().keep(Position(FRAME), (-9, -9, 0.5), 9, during=(0.5, 1.0))
    plan = both.keep(Position(FRAME), -9, (9, 9, 0.4), during=(0.8, 1.2)).solve()
    assert not plan.success and plan.iterations == 0
    assert "contradict each other from t = 0.8 s on" in plan.reason and "0.1 m above" in plan.reason
    joints = Posture.of(arm().model, arm().velocity_names[:1])
    plan = (
        motion().keep(joints, 0.3, 0.4, during=(0.5, 1.0)).keep(joints, -0.3, 0.2, during=(0.5, 1.0)).solve()
    )
    assert "contradict each other" in plan.reason and arm().velocity_names[0] in plan.reason


@pytest.mark.parametrize("solver", ["native", "ipopt"])
def test_out_of_reach(solver: str) -> None:
    asked = motion().limits().keep(Position(FRAME), (-9, -9, 2.0), 9, during=(0.9, 1.1))
    plan = asked.solve(solver=solver)
    assert not plan.success
    assert f"position of '{FRAME}', z" in plan.reason and "would hold with that bound wider" in plan.reason


def test_too_little_time() -> None:
    plan = motion(0.2).limits().solve()
    assert not plan.success and "velocity limits" in plan.reason


def test_reasons_come_soon() -> None:
    motion().limits(torque=True).keep(Position(FRAME), -9, (9, 9, 2.0)).solve()  # compiles
    taken = []
    for _ in range(3):  # in one Python may collect the garbage of all tests before
        begin = time.process_time()
        motion().limits(torque=0.01).solve()
        taken.append(time.process_time() - begin)
    assert min(taken) < 0.3
