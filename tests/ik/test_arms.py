"""TRAC-IK's protocol in small: random reachable poses, start at mid-range, answers checked by Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ik.arms import ARMS, arm, assert_poses_met

POSES = 300


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("nearest", [False, True])
def test_every_reachable_pose_is_found(name: str, nearest: bool) -> None:
    pair, frame = arm(name), ARMS[name]
    count = 60 if nearest else POSES
    poses = pair[0].forward_kinematics(pair[0].random_state(7, count).q, frame)
    result = pair[0].inverse_kinematics(poses, frame, nearest=nearest)
    assert result.success.all(), result.reason[~result.success]
    assert_poses_met(pair, result, poses, frame)
    assert bool(result)


@pytest.mark.slow
@pytest.mark.parametrize("name", ARMS)
def test_ten_thousand_poses(name: str) -> None:
    pair, frame = arm(name), ARMS[name]
    poses = pair[0].forward_kinematics(pair[0].random_state(11, 10_000).q, frame)
    result = pair[0].inverse_kinematics(poses, frame, nearest=False)
    assert result.success.mean() >= (0.9999 if name == "iiwa14" else 0.999)
    assert_poses_met(pair, result, poses, frame)


def test_a_single_pose_has_scalar_results() -> None:
    robot, _ = arm("iiwa14")
    pose = robot.forward_kinematics(robot.random_state(1).q, ARMS["iiwa14"])
    result = robot.inverse_kinematics(pose, ARMS["iiwa14"])
    assert result.q.shape == (7,)
    assert result.success.shape == result.position_error.shape == result.iterations.shape == ()
    assert result.success and result.reason == "converged"
    assert result.position_error <= 1e-5 and result.rotation_error <= 1e-5


def test_the_reported_errors_are_the_true_ones() -> None:
    robot, reference = arm("panda")
    poses = robot.forward_kinematics(robot.random_state(5, 20).q, "panda_hand")
    poses[:10, :3, 3] *= 3.0  # out of reach: errors of all sizes
    result = robot.inverse_kinematics(poses, "panda_hand", nearest=False, starts=3)
    for q, pose, error in zip(result.q, poses, result.position_error, strict=True):
        found = reference.forward_kinematics(q, "panda_hand")
        assert np.isclose(np.linalg.norm(found[:3, 3] - pose[:3, 3]), error, rtol=1e-6, atol=1e-9)


def test_positions_alone_and_the_only_tip() -> None:
    robot, reference = arm("iiwa14")
    points = robot.forward_kinematics(robot.random_state(2, 50).q, ARMS["iiwa14"])[:, :3, 3]
    result = robot.inverse_kinematics(points)  # iiwa has one end: the frame need not be named
    assert result.success.all()
    for q, point in zip(result.q, points, strict=True):
        found = reference.forward_kinematics(q, ARMS["iiwa14"])
        assert np.linalg.norm(found[:3, 3] - point) <= 1.001e-5
    assert (result.rotation_error == 0.0).all()


def test_half_a_turn_away() -> None:
    """Orientations at and next to 180 degrees from the start, where the sine of the angle vanishes."""
    robot, _ = arm("iiwa14")
    frame, start = ARMS["iiwa14"], np.array([0.1, 0.5, -0.2, -1.2, 0.3, 0.7, 0.0])
    pose = robot.forward_kinematics(start, frame)
    poses = []
    for angle in (np.pi, np.pi - 1e-9, np.pi - 1e-4, 3.0, 2.4, 2.3):
        for axis in range(3):
            turn = np.eye(3)
            i, j = (axis + 1) % 3, (axis + 2) % 3
            turn[[i, j], [i, j]] = np.cos(angle)
            turn[j, i], turn[i, j] = np.sin(angle), -np.sin(angle)
            other = pose.copy()
            other[:3, :3] = pose[:3, :3] @ turn
            poses.append(other)
    stack = np.array(poses)
    result = robot.inverse_kinematics(stack, frame, start)
    assert_poses_met(arm("iiwa14"), result, stack, frame)
    assert result.success.mean() > 0.5  # not all are inside the limits
    alone = [robot.inverse_kinematics(p, frame, start, starts=1, max_iterations=1) for p in stack]
    first = [robot.inverse_kinematics(p, frame, start, starts=1, max_iterations=40) for p in stack]
    for one, many in zip(alone, first, strict=True):  # the search moves on, it does not sit at 180 degrees
        assert many.rotation_error < one.rotation_error or many.success


def test_a_chain_of_a_hundred_joints_with_limits() -> None:
    import robomorph
    from robomorph.model.robots.chain import chain_urdf

    text = chain_urdf(100).replace('type="continuous"', 'type="revolute"')
    text = text.replace(
        '<axis xyz="0 0 1"/>', '<axis xyz="0 0 1"/><limit lower="-0.1" upper="0.1" effort="1" velocity="1"/>'
    )
    text = text.replace(
        '<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><limit lower="-0.1" upper="0.1" effort="1" velocity="1"/>'
    )
    robot = robomorph.load(text)
    q = robot.random_state(3, 8).q * 0.9
    poses = robot.forward_kinematics(q, "tool")
    result = robot.inverse_kinematics(poses, "tool", nearest=False)
    assert result.success.all()
    assert (np.abs(result.q) <= 0.1).all()
    assert np.abs(robot.forward_kinematics(result.q, "tool")[:, :3, 3] - poses[:, :3, 3]).max() < 1e-5
