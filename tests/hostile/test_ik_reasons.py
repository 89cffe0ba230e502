"""What a failed search says must be true: of targets that are reachable, of limits, and of mimics."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import ModelWarning, Robot
from robomorph.ik import IKResult, PositionTarget
from tests.ik.arms import ARMS, arm
from tests.oracle.chains import LIMITS, chain

Array = npt.NDArray[Any]
FRAME = "lbr_iiwa_link_7"
# Searches that are bound to miss some targets that can be met.
HASTY: dict[str, dict[str, Any]] = {
    "one start": {"starts": 1},
    "five steps": {"starts": 1, "max_iterations": 5},
    "two starts": {"starts": 2, "nearest": False},
    "one method": {"method": "quick-ik", "max_iterations": 30},
}


def texts(result: IKResult) -> list[str]:
    return [str(text) for text in np.atleast_1d(result.reason)]


@pytest.mark.parametrize("haste", HASTY)
@pytest.mark.parametrize("name", ["iiwa14", "talos_left_arm", "panda"])
def test_nothing_false_is_said_of_targets_that_can_be_met(name: str, haste: str) -> None:
    robot, _ = arm(name)
    frame = ARMS[name]
    poses = robot.forward_kinematics(robot.random_state(5, 100).q, frame)
    failures = 0
    for target in (poses, poses[:, :3, 3]):
        result = robot.inverse_kinematics(target, frame, **HASTY[haste])
        for text, success in zip(texts(result), result.success, strict=True):
            failures += not success
            assert success == (text == "converged")
            assert not re.search(r"blocked|unreachable|out of reach|impossible", text), text
            if not success:
                assert re.match(r"none found inside the limits; without them|no solution found", text), text
                assert all(float(x) > 1e-8 for x in re.findall(r"_joint\S* by ([\d.e+-]+)", text)), text
    assert failures > 0  # or nothing was tested


def test_excesses_are_those_of_a_solution_without_limits() -> None:
    """The joints named, taken that far beyond, do meet the target."""
    robot, _ = arm("iiwa14")
    outside = np.array([0.0, 0.3, 0.0, 2.6, 0.0, 0.0, 0.0])  # the elbow ends at 2.09
    result = robot.inverse_kinematics(robot.forward_kinematics(outside, FRAME), FRAME)
    text = result.reason
    assert text.startswith("none found inside the limits; without them a solution would exceed ")
    first = text.split(";")[1]
    named = {name: float(over) for name, over in re.findall(r"(lbr_iiwa_joint_\d) by ([\d.e+-]+)", first)}
    assert named
    limits = robot.limits
    wide = {name: over + 1e-3 for name, over in named.items()}
    free = robot.inverse_kinematics(
        robot.forward_kinematics(outside, FRAME), FRAME, limits=False, solutions=40
    )
    slack = np.array([wide.get(name, 1e-9) for name in robot.joint_names])
    inside = ((free.q >= limits.lower - slack) & (free.q <= limits.upper + slack)).all(axis=-1)
    assert (inside & free.success).any()


def test_one_turn_less_is_not_beyond_a_limit() -> None:
    """The free search goes beyond the end near the start, though the same pose is inside at the other."""
    turn = '<limit lower="-3.1" upper="3.1" effort="9" velocity="9"/>'
    robot = robomorph.load(chain("revolute z", "revolute y", "revolute y", extra={0: turn}))
    tip = robot.link_names[-1]
    start, wanted = np.array([-3.0, 0.4, 0.6]), np.array([3.0, 0.4, 0.6])
    pose = robot.forward_kinematics(wanted, tip)
    result = robot.inverse_kinematics(pose, tip, start, starts=1)
    assert not result.success, "the start no longer leads into the limit: choose another"
    assert result.reason.startswith("no solution found by this search, though one exists inside the limits")


def test_a_follower_is_named_for_its_own_limit() -> None:
    """j2 follows j1 at twice its rate: what j1 may do, j2 may not."""
    follow = f'{LIMITS["revolute"]}<mimic joint="j1" multiplier="2"/>'
    robot = robomorph.load(chain("revolute z", "revolute y", "revolute y", "revolute y", extra={2: follow}))
    q = np.array([0.2, 1.2, 0.4])  # j2 at 2.4, its limit is 1.5
    tip = robot.link_names[-1]
    result = robot.inverse_kinematics(robot.forward_kinematics(q, tip), tip)
    assert not result.success
    exceeded = result.reason.split(";")[1]
    assert re.search(r"exceed j2 by 0\.9", exceeded) and "j1" not in exceeded, result.reason


def robot_with_limits_in_the_way() -> tuple[Robot, str]:
    robot = robomorph.load(chain("revolute z", "revolute y", "revolute y"))
    return robot, robot.link_names[-1]


def test_contradictory_targets_are_not_blamed_on_limits() -> None:
    robot, tip = robot_with_limits_in_the_way()
    point = robot.forward_kinematics(robot.random_state(1).q, tip)[:3, 3]
    targets = [PositionTarget(tip, point), PositionTarget(tip, point + np.array([0.0, 0.05, 0.0]))]
    result = robot.inverse_kinematics(targets, starts=8)
    assert not result.success and result.reason.startswith("no solution found; best of 8 starts misses by")


def test_fixed_joints_are_not_said_to_exceed() -> None:
    """A joint held outside its limits is the caller's wish, and no excess."""
    robot, tip = robot_with_limits_in_the_way()
    q0 = np.array([2.5, 0.0, 0.0])
    point = robot.forward_kinematics(np.array([0.5, 0.3, 0.2]), tip)[:3, 3]
    result = robot.inverse_kinematics(point, tip, q0, fixed=["j0"], starts=4)
    assert not result.success
    assert "j0" not in result.reason and "out of reach" not in result.reason


def test_reach_is_a_proof() -> None:
    """Random points near the edge: where the reason says 'out of reach', no search finds one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = robomorph.load(chain("prismatic z", "revolute y", "spherical", "revolute x"))
    tip = robot.link_names[-1]
    points = np.random.default_rng(1).normal(size=(60, 3))
    points *= np.linspace(0.6, 2.6, 60)[:, None] / np.linalg.norm(points, axis=-1, keepdims=True)
    points += np.array([0.3, 0.0, 0.1])
    result = robot.inverse_kinematics(points, tip, starts=1, max_iterations=3)
    said = np.array(["out of reach" in text for text in texts(result)])
    assert 5 < said.sum() < 55
    again = robot.inverse_kinematics(points, tip, nearest=False)
    assert not (said & again.success).any()


@pytest.mark.parametrize("way", ["short", "general"])
def test_the_target_that_failed_is_the_one_explained(way: str) -> None:
    """The caller may use his arrays again before he asks for the reason."""
    robot, _ = arm("iiwa14")
    points = np.array([[2.0, 0.0, 0.36], [3.0, 0.0, 0.36]])
    target = points if way == "short" else PositionTarget(FRAME, points, tolerance=1e-4)
    result = robot.inverse_kinematics(target, FRAME if way == "short" else None, starts=2)
    points[:] = 0.4
    assert "is 2 m from the first joint" in result.reason[0] and "is 3 m from" in result.reason[1]


def test_a_jump_is_said_of_the_solution_found() -> None:
    robot, _ = arm("iiwa14")
    q = np.array([[0.3, 0.6, -0.2, -1.3, 0.1, 0.9, 0.0], [1.9, 0.6, -0.2, -1.3, 0.1, 0.9, 0.0]])
    track = robot.inverse_kinematics(robot.forward_kinematics(q, FRAME), FRAME, q[0], path=True)
    assert track.success.tolist() == [True, False]
    assert track.reason[1].startswith("would jump: in the solution found a joint moves by")
