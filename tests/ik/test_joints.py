"""Joints of every type: planar, floating, prismatic, mimic; a wheeled base with an arm."""

from __future__ import annotations

import numpy as np
import pytest

import robomorph
from robomorph.ik import PoseTarget, PositionTarget
from tests.ik.arms import angle_between
from tests.oracle.reference import Reference, build


def link(name: str) -> str:
    return (
        f'<link name="{name}"><inertial><mass value="1"/><origin xyz="0.1 0 0"/>'
        '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def joint(name: str, kind: str, parent: str, child: str, axis: str, more: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0.3 0 0.1" rpy="0.2 0.1 0.3"/><axis xyz="{axis}"/>{more}</joint>'
    )


LIMIT = '<limit lower="-1.5" upper="1.5" effort="9" velocity="9"/>'
SHORT = '<limit lower="-0.2" upper="0.3" effort="9" velocity="9"/>'


def robot_text(root: str, last: str = "") -> str:
    """A root joint, then turn, slide, turn, turn."""
    names = "abcdef"
    joints = [
        joint("slide", "prismatic", "b", "c", "0 1 0", SHORT),
        joint("turn_1", "revolute", "c", "d", "0 0 1", LIMIT),
        joint("turn_2", "revolute", "d", "e", "1 0 0", LIMIT),
        joint("turn_3", "revolute", "e", "f", "0 1 0", LIMIT + last),
    ]
    return f'<robot name="r">{"".join(map(link, names))}{root}{"".join(joints)}</robot>'


ROOTS = {
    "planar": joint("root", "planar", "a", "b", "0 0 1"),
    "floating": joint("root", "floating", "a", "b", "0 0 1"),
    "continuous": joint("root", "continuous", "a", "b", "0 0 1"),
}


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("nearest", [False, True])
def test_every_type_of_joint(root: str, nearest: bool) -> None:
    text = robot_text(ROOTS[root])
    robot = robomorph.load(text)
    reference = Reference(robot, build(text))
    wanted = robot.random_state(3, 12).q
    poses = robot.forward_kinematics(wanted, "f")
    target = PositionTarget("f", poses[:, :3, 3]) if root == "continuous" else PoseTarget("f", poses)
    result = robot.inverse_kinematics(target, nearest=nearest)
    assert result.success.all(), result.reason
    for q, pose in zip(result.q, poses, strict=True):
        found = reference.forward_kinematics(q, "f")
        assert np.linalg.norm(found[:3, 3] - pose[:3, 3]) <= 1.001e-5
        if root != "continuous":
            assert angle_between(pose[:3, :3], found[:3, :3]) <= 1.001e-5
        assert ((q >= robot.limits.lower) & (q <= robot.limits.upper)).all()
        part = {"planar": slice(2, 4), "floating": slice(3, 7)}.get(root)
        assert part is None or np.isclose(np.linalg.norm(q[part]), 1.0)


def test_quick_ik_moves_a_planar_base_too() -> None:
    robot = robomorph.load(robot_text(ROOTS["planar"]))
    point = robot.forward_kinematics(robot.random_state(5).q, "f")[:3, 3]
    result = robot.inverse_kinematics(point, "f", method="quick-ik", tolerance=1e-3)
    assert result.success
    assert np.linalg.norm(robot.forward_kinematics(result.q, "f")[:3, 3] - point) <= 1e-3


def test_mimic_joints_keep_their_own_limits() -> None:
    """turn_3 follows turn_1 at twice its rate: turn_1 must stay within half of turn_3's range."""
    follow = '<mimic joint="turn_1" multiplier="2" offset="0.1"/>'
    text = robot_text(ROOTS["continuous"], last=follow)
    robot = robomorph.load(text)
    reference = Reference(robot, build(text))
    place = robot.coordinates("turn_1")[0].start
    wanted = robot.random_state(3, 200).q
    wanted = wanted[np.abs(2.0 * wanted[:, place] + 0.1) <= 1.5][:20]
    points = robot.forward_kinematics(wanted, "f")[:, :3, 3]
    result = robot.inverse_kinematics(points, "f")
    assert result.success.all()
    for q, point in zip(result.q, points, strict=True):
        assert np.linalg.norm(reference.forward_kinematics(q, "f")[:3, 3] - point) <= 1.001e-5
        assert abs(2.0 * q[place] + 0.1) <= 1.5 + 1e-12


def test_continuous_joints_take_the_short_way_round() -> None:
    robot = robomorph.load(robot_text(ROOTS["continuous"]))
    start = robot.random_state(1).q
    start[0] = 40.0
    wanted = start.copy()
    wanted[0] += 0.5
    point = robot.forward_kinematics(wanted, "f")[:3, 3]
    result = robot.inverse_kinematics(point, "f", start)
    assert result.success and abs(result.q[0] - 40.0) <= np.pi
