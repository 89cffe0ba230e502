"""Limits of joints and their rates: held in problems of every size, and in bands however narrow."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import robomorph
from robomorph import Robot
from robomorph.planning import Motion
from robomorph.tasks import Position, Posture
from tests.planning.motions import FRAME, arm

LINK = """<link name="{0}"><inertial><mass value="1"/><origin xyz="0.2 0 0"/><inertia ixx="0.01" iyy="0.02"
izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{0}{1}" type="revolute"><parent link="{0}"/><child link="{1}"/><origin xyz="0.4 0 0"/>
<axis xyz="0 {2} {3}"/><limit lower="-2" upper="2" effort="100" velocity="9"/></joint>"""


@cache
def chain(joints: int) -> Robot:
    names = "abcdefgh"[: joints + 1]
    links = "".join(LINK.format(name) for name in names)
    turns = [JOINT.format(*pair, k % 2, 1 - k % 2) for k, pair in enumerate(pairwise(names))]
    return robomorph.load(f"<robot name='chain'>{links}{''.join(turns)}</robot>")


@pytest.mark.parametrize("joints", range(1, 8))
def test_accelerations_and_jerks_of_motions_of_every_size(joints: int) -> None:
    """Rows are second and third differences of control points: none may be taken for a constant."""
    robot = chain(joints)
    start, end = np.full(joints, -0.8), np.full(joints, 0.8)
    for intervals in range(8, 24):
        motion = Motion(robot, 2.0, intervals, start=start, end=end)
        plan = motion.limits(acceleration=4.0, jerk=50.0).solve(None)
        assert plan.success, plan.reason
        assert not plan.violations(1000), (intervals, plan.violations(1000))


@pytest.mark.parametrize("width", [1e-6, 1e-7, 1e-8, 1e-10])
def test_a_joint_in_a_narrow_band(width: float) -> None:
    """The tool has to go elsewhere, and this joint would help."""
    q0 = np.array([0.5, 0.6, 0.0, -1.2, 0.0, 0.8, 0.0])
    place = arm().forward_kinematics(q0, FRAME)[:3, 3]
    motion = Motion(arm(), 2.0, 8, start=q0)
    elbow = Posture.of(arm().model, arm().velocity_names[3:4])
    motion.keep(elbow, -width, width, reference="start")
    low, high = np.array([[0.1, -1.0, -1.0], [2.0, 1.0, 1.0]]) + place
    motion.keep(Position(FRAME), low, high, during=2.0)
    plan = motion.solve()
    assert plan.success, plan.reason
    assert np.abs(plan.q(np.linspace(0.0, 2.0, 1001))[:, 3] - q0[3]).max() <= 1.02 * width
    assert plan.certify().proven


def test_a_bound_that_nothing_can_hold_is_refused_at_an_instant_too() -> None:
    motion = Motion(arm(), 2.0, 8, start=np.zeros(7))
    for lower, upper in (((np.inf, -9, -9), (np.inf, 9, 9)), ((-np.inf, -9, -9), (-np.inf, 9, 9))):
        with pytest.raises(robomorph.ArgumentError, match="nothing can hold"):
            motion.keep(Position(FRAME), lower, upper, during=1.0)
