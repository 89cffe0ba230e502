"""Random coordinates that simply add stay inside their limits, wherever those lie."""

from __future__ import annotations

import math

import numpy as np
import pytest

import robomorph

_URDF = """<robot name="r"><link name="a"/>
<joint name="j" type="{kind}"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="{lower!r}" upper="{upper!r}" velocity="1" effort="1"/></joint>
<link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
</link></robot>"""
LIMITS = [
    *((4.0, 5.0), (-5.0, -4.0), (math.pi, 4.0), (-4.0, -math.pi), (100.0, 1000.0), (-1000.0, -100.0)),
    *((3.0, 5.0), (-5.0, -3.0), (-7.0, 7.0), (0.1, 0.2), (4.0, 4.0), (1e15, 1e15 + 1)),
]


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize(("lower", "upper"), LIMITS)
def test_random_states_stay_inside_the_limits(kind: str, lower: float, upper: float) -> None:
    robot = robomorph.load(_URDF.format(kind=kind, lower=lower, upper=upper))
    q = robot.random_state(rng=3, batch=2000).q[:, 0]
    assert q.min() >= lower
    assert q.max() <= upper
    # They fill a range too: what is left of (-pi, pi), or pi beyond the limit.
    left = min(upper, math.pi) - max(lower, -math.pi)
    width = left if left > 0.0 else min(upper - lower, math.pi)
    assert np.ptp(q) >= 0.9 * width


def test_states_in_limits_within_pi_are_the_uniform_draws() -> None:
    robot = robomorph.load(_URDF.format(kind="revolute", lower=-1.0, upper=2.0))
    expected = np.random.default_rng(5).uniform(-1.0, 2.0, (50, 1))
    assert np.array_equal(robot.random_state(rng=5, batch=50).q, expected)
