"""Limits of joints that follow others are never left unsaid."""

from __future__ import annotations

import numpy as np
import pytest

import robomorph
from robomorph.planning import Motion
from robomorph.robot import Robot

LINK = """<link name="{0}"><inertial><mass value="1"/><origin xyz="0.1 0 0"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="0.2 0 0"/><axis xyz="0 0 1"/><limit lower="{lower}" upper="{upper}" velocity="{speed}"
effort="100"/>{mimic}</joint>"""


def gripper(
    multiplier: float = 1.0, offset: float = 0.0, lower: float = -1, upper: float = 1, speed: float = 2
) -> Robot:
    """A joint `lead` within +-1 rad and 2 rad/s, and `follow`."""
    lead = JOINT.format(name="lead", parent="a", child="b", lower=-1, upper=1, speed=2, mimic="")
    mimic = f'<mimic joint="lead" multiplier="{multiplier}" offset="{offset}"/>'
    follow = JOINT.format(
        name="follow", parent="b", child="c", lower=lower, upper=upper, speed=speed, mimic=mimic
    )
    links = "".join(LINK.format(x) for x in "abc")
    return robomorph.load(f'<robot name="gripper">{links}{lead}{follow}</robot>')


def motion(robot: Robot) -> Motion:
    return Motion(robot, seconds=2, intervals=6, start=np.array([-0.5]), end=np.array([0.5]))


@pytest.mark.parametrize("multiplier, offset", [(1.0, 0.0), (-1.0, 0.0), (0.5, 0.4), (0.0, 0.3)])
def test_followers_within_their_own_limits(multiplier: float, offset: float) -> None:
    assert motion(gripper(multiplier, offset)).limits().solve().success


@pytest.mark.parametrize(
    "given, entry",
    [
        ({"multiplier": 2.0, "speed": 9}, "within -0.5 and 0.5"),
        ({"offset": 0.25}, "within -1.25 and 0.75"),
        ({"multiplier": -1.0, "upper": 0.5}, "within -0.5 and 1"),
    ],
)
def test_positions_beyond_them_are_refused(given: dict[str, float], entry: str) -> None:
    with pytest.raises(robomorph.RobomorphError, match=f"'follow' follows 'lead' .*{entry}"):
        motion(gripper(**given)).limits()


def test_speeds_beyond_them_are_refused_and_numbers_help() -> None:
    robot = gripper(speed=0.5)
    with pytest.raises(robomorph.RobomorphError, match=r"'follow' follows 'lead' at up to 2 .*at most 0\.5"):
        motion(robot).limits()
    with pytest.raises(robomorph.RobomorphError, match=r"at most 0\.25"):
        motion(robot).limits(velocity=0.5)
    assert motion(robot).limits(velocity=[2.0]).solve().success  # the caller's own numbers are taken
