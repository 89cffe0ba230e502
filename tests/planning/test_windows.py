"""Windows at their edges: very short ones, beginnings and ends that are rounded, several in one interval."""

from __future__ import annotations

import numpy as np
import pytest

from robomorph import ArgumentError
from robomorph.given.references import value_at
from robomorph.planning import Motion
from robomorph.tasks import Position, Posture
from tests.planning.motions import FRAME, arm

Q0 = np.array([0.5, 0.6, 0.0, -1.2, 0.0, 0.8, 0.0])
Q1 = np.array([-0.5, 0.9, 0.3, -0.8, 0.2, 0.4, 0.5])
FIRST = Posture.of(arm().model, arm().velocity_names[:1])
HEIGHT = float(value_at(arm(), Position(FRAME), Q0)[2])


def motion(**other: object) -> Motion:
    return Motion(arm(), **{"seconds": 2.0, "intervals": 8, "start": Q0, "end": Q1, **other}).limits()  # type: ignore[arg-type]


def test_a_window_too_short_to_be_held_is_refused() -> None:
    for begin, end in ((0.7, 0.7 + 1e-10), (0.25 - 1e-10, 0.25 + 1e-10)):
        with pytest.raises(ArgumentError, match="give the instant"):
            motion().keep(Position(FRAME), (-5, -5, 0.7), 5, during=(begin, end))


def test_a_window_that_is_an_instant_up_to_rounding() -> None:
    for during in ((0.3, 0.1 + 0.2), (0.7, 0.7 + 1e-12)):
        plan = motion().keep(FIRST, 0.45, 0.9, during=during).solve()
        assert plan.success and plan.q(during[0])[0] >= 0.45 - 1e-9 and plan.certify().proven


@pytest.mark.parametrize("begin", [0.0, 5e-17, 1e-12])
def test_a_moving_start_below_its_bound_however_the_window_is_rounded(begin: float) -> None:
    """The motion rises from below: nothing but the start itself breaks the bound."""
    start = np.stack([Q0, [0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0]])
    asked = motion(start=start).keep(Position(FRAME), (-5, -5, HEIGHT + 0.005), 5, during=(begin, 1.0))
    plan = asked.solve()
    assert not plan.success and "the start or end state alone breaks" in plan.reason


@pytest.mark.parametrize("end", [2.0, np.nextafter(2.0, 0.0), 2.0 - 1e-12])
def test_a_moving_end_above_its_bound_however_the_window_is_rounded(end: float) -> None:
    final = np.stack([Q0, [0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0]])
    asked = motion(start=Q1, end=final).keep(Position(FRAME), -5, (5, 5, HEIGHT - 0.005), during=(1.5, end))
    plan = asked.solve()
    assert not plan.success and "the start or end state alone breaks" in plan.reason


def test_windows_one_after_the_other_in_one_interval_do_not_contradict() -> None:
    asked = motion(intervals=4).keep(FIRST, 0.02, 2, during=(0.9, 0.95))
    plan = asked.keep(FIRST, -2, 0.01, during=(1.0, 1.1)).solve()
    assert plan.success, plan.reason
    ends = motion(intervals=4, end=None).keep(Position(FRAME), (-5, 0.1, -5), 5, during=1.5)
    plan = ends.keep(Position(FRAME), -5, (5, 0.05, 5), during=2.0).solve()
    assert plan.success and plan.certify().proven, plan.reason


def test_the_time_of_what_a_joint_misses() -> None:
    plan = motion().keep(FIRST, 1.5, 2, during=0.7).solve()
    assert not plan.success and f"posture, {arm().velocity_names[0]}" in plan.reason
    assert "near t = 0.7 s" in plan.reason
