"""Which solution: nearest, a posture, several, fixed joints, along a path; nothing else decides it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robomorph.ik import METHODS
from tests.ik.arms import ARMS, arm, assert_poses_met, inside

FRAME = ARMS["iiwa14"]


def test_nearest_is_nearer_than_any() -> None:
    robot, _ = arm("iiwa14")
    q = robot.random_state(1, 40).q
    poses = robot.forward_kinematics(q, FRAME)
    start = robot.random_state(2, 40).q
    near = robot.inverse_kinematics(poses, FRAME, start)
    first = robot.inverse_kinematics(poses, FRAME, start, nearest=False)
    assert near.success.all() and first.success.all()
    distance, other = (np.linalg.norm(r.q - start, axis=-1) for r in (near, first))
    assert (distance <= other + 1e-3).mean() >= 0.95
    assert distance.mean() < 0.9 * other.mean()
    # The configuration that made the pose is itself a solution: never much farther than that.
    assert (distance <= np.linalg.norm(q - start, axis=-1) + 1e-3).mean() >= 0.9


def test_nearest_is_a_stationary_point_of_the_distance() -> None:
    """What is left of the way to the start has no part in the null space, where no limit is active."""
    robot, _ = arm("iiwa14")
    start = robot.random_state(2, 30).q * 0.5
    poses = robot.forward_kinematics(start + 0.3 * np.random.default_rng(0).normal(size=start.shape), FRAME)
    result = robot.inverse_kinematics(poses, FRAME, start)
    checked = 0
    for q, q0, limits in zip(result.q, start, result.active_limits, strict=True):
        if limits.any():
            continue
        null = np.linalg.svd(robot.jacobian(q, FRAME))[2][6]
        way = q0 - q
        assert abs(null @ way) <= 0.1 * np.linalg.norm(way) + 1e-3
        checked += 1
    assert checked >= 15


def test_a_posture_is_approached_and_the_target_still_met() -> None:
    pair = arm("panda")
    robot, _ = pair
    posture = np.array([0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.8, 0.02])
    poses = robot.forward_kinematics(
        posture + 0.2 * np.random.default_rng(1).normal(size=(20, 8)), "panda_hand"
    )
    start = robot.random_state(4, 20).q
    plain = robot.inverse_kinematics(poses, "panda_hand", start, nearest=False)
    posed = robot.inverse_kinematics(poses, "panda_hand", start, posture=posture)
    assert posed.success.all()
    assert_poses_met(pair, posed, poses, "panda_hand")
    off_plain, off_posed = (np.linalg.norm(r.q - posture, axis=-1) for r in (plain, posed))
    assert (off_posed <= off_plain + 1e-6).all()
    assert off_posed.mean() < 0.5 * off_plain.mean()


def test_a_target_that_is_met_already_leaves_the_start() -> None:
    robot, _ = arm("iiwa14")
    start = robot.random_state(6).q
    result = robot.inverse_kinematics(robot.forward_kinematics(start, FRAME), FRAME, start)
    assert result.success and np.allclose(result.q, start, atol=1e-9) and result.iterations <= 1


def test_distinct_solutions_of_a_six_axis_arm() -> None:
    pair = arm("ur5_robot")
    robot, _ = pair
    pose = robot.forward_kinematics(np.array([0.5, -1.2, 1.4, -0.9, 1.1, 0.3]), "tool0")
    result = robot.inverse_kinematics(pose, "tool0", solutions=20)
    assert result.q.shape == (20, 6) and result.success.shape == (20,)
    found = result.q[result.success]
    assert len(found) >= 8  # eight branches, and more by whole turns inside the limits
    assert_poses_met(pair, result, np.broadcast_to(pose, (20, 4, 4)), "tool0")
    apart = np.abs(found[:, None] - found[None]).max(axis=-1) + np.eye(len(found))
    assert apart.min() > 0.04


def test_fixed_joints_do_not_move() -> None:
    pair = arm("iiwa14")
    robot, _ = pair
    start = robot.random_state(8).q
    fixed = [robot.joint_names[2], robot.joint_names[5]]
    wanted = start.copy()
    wanted[[0, 1, 3, 4, 6]] += 0.3
    wanted = np.clip(wanted, robot.limits.lower, robot.limits.upper)
    point = robot.forward_kinematics(wanted, FRAME)[:3, 3]
    result = robot.inverse_kinematics(point, FRAME, start, fixed=fixed)
    assert result.success
    assert result.q[2] == start[2] and result.q[5] == start[5]


def test_a_fixed_joint_stays_even_outside_its_limits() -> None:
    robot, _ = arm("iiwa14")
    start = 0.4 * robot.random_state(8).q
    start[2] = robot.limits.upper[2] + 0.4
    point = robot.forward_kinematics(start + np.array([0.1, 0.1, 0.0, 0.1, 0.1, 0.1, 0.0]), FRAME)[:3, 3]
    for nearest in (True, False):
        result = robot.inverse_kinematics(point, FRAME, start, fixed=robot.joint_names[2], nearest=nearest)
        assert result.success and result.q[2] == start[2]
        others = np.delete(np.arange(7), 2)
        assert (result.q >= robot.limits.lower)[others].all() and (result.q <= robot.limits.upper)[
            others
        ].all()
        found = robot.forward_kinematics(result.q, FRAME)[:3, 3]
        assert np.linalg.norm(found - point) <= 1.001e-5
    far = robot.inverse_kinematics([5.0, 0.0, 0.0], FRAME, start, fixed=robot.joint_names[2])
    assert far.q[2] == start[2] and "out of reach" in far.reason


def test_a_start_slightly_outside_the_limits_is_brought_inside() -> None:
    robot, _ = arm("iiwa14")
    start = robot.limits.upper + 1e-8
    pose = robot.forward_kinematics(robot.random_state(3).q, FRAME)
    result = robot.inverse_kinematics(pose, FRAME, start)
    assert result.success and inside(robot, result.q)


def test_a_path_of_a_thousand_poses_does_not_jump() -> None:
    pair = arm("iiwa14")
    robot, _ = pair
    t = np.linspace(0.0, 2.0 * np.pi, 1000)
    q0 = np.array([0.0, 0.6, 0.0, -1.3, 0.0, 1.0, 0.0])
    pose = robot.forward_kinematics(q0, FRAME)
    poses = np.tile(pose, (1000, 1, 1))
    poses[:, 0, 3] += 0.1 * (np.cos(t) - 1.0)
    poses[:, 1, 3] += 0.25 * np.sin(t)
    poses[:, 2, 3] += 0.1 * np.sin(2.0 * t)
    result = robot.inverse_kinematics(poses, FRAME, q0, path=True)
    assert result.success.all()
    assert_poses_met(pair, result, poses, FRAME)
    assert np.abs(np.diff(result.q, axis=0)).max() < 0.02
    both = robot.inverse_kinematics(np.stack([poses, poses[::-1]]), FRAME, q0, path=True)
    assert both.q.shape == (2, 1000, 7) and np.array_equal(both.q[0], result.q)


def test_a_path_that_would_jump_says_so() -> None:
    robot, _ = arm("iiwa14")
    q0 = np.array([0.0, 0.6, 0.0, -1.3, 0.0, 1.0, 0.0])
    poses = np.stack([robot.forward_kinematics(q, FRAME) for q in (q0, q0 + 0.01, -q0, q0 + 0.02)])
    result = robot.inverse_kinematics(poses, FRAME, q0, path=True)
    assert result.success.tolist() == [True, True, False, True]
    assert "jump" in result.reason[2]
    assert np.abs(np.diff(result.q, axis=0)).max() < 0.5


def test_a_path_goes_on_from_the_last_success() -> None:
    """Poses that cannot be met neither end the path nor pull it away."""
    robot, _ = arm("iiwa14")
    q0 = np.array([0.0, 0.6, 0.0, -1.3, 0.0, 1.0, 0.0])
    steps = q0 + 0.01 * np.arange(6)[:, None]
    poses = np.stack([robot.forward_kinematics(q, FRAME) for q in steps])
    poses[[2, 3], :3, 3] = (4.0, 4.0, 0.0)
    result = robot.inverse_kinematics(poses, FRAME, q0, path=True)
    assert result.success.tolist() == [True, True, False, False, True, True]
    assert "out of reach" in result.reason[2] and "jump" not in result.reason[2]
    assert np.abs(result.q[4] - result.q[1]).max() < 0.1
    late = robot.inverse_kinematics(poses[2:], FRAME, q0 + 0.5, path=True, max_step=0.2)
    assert late.success.tolist() == [False, False, True, True]  # the first that is reached is no jump


def test_empty_paths() -> None:
    robot, _ = arm("iiwa14")
    for shape in ((0,), (3, 0), (0, 5)):
        result = robot.inverse_kinematics(np.zeros((*shape, 3)), FRAME, path=True)
        assert result.q.shape == (*shape, 7) and result.success.shape == shape
        assert result.reason.shape == shape and result


@pytest.mark.parametrize("nearest", [False, True])
def test_answers_do_not_depend_on_threads_or_batch(nearest: bool) -> None:
    robot, _ = arm("panda")
    poses = robot.forward_kinematics(robot.random_state(12, 70).q, "panda_hand")
    poses[::7, :3, 3] *= 2.0  # some fail: all starts are tried
    options = {"nearest": nearest, "starts": 12, "candidates": 6}
    whole = robot.inverse_kinematics(poses, "panda_hand", threads=1, **options)
    for threads in (2, 5):
        again = robot.inverse_kinematics(poses, "panda_hand", threads=threads, **options)
        assert np.array_equal(again.q, whole.q) and np.array_equal(again.iterations, whole.iterations)
    order = np.random.default_rng(0).permutation(70)
    mixed = robot.inverse_kinematics(poses[order], "panda_hand", **options)
    assert np.array_equal(mixed.q, whole.q[order])
    for k in (0, 1, 33):
        alone = robot.inverse_kinematics(poses[k], "panda_hand", **options)
        assert np.array_equal(alone.q, whole.q[k]) and alone.starts == whole.starts[k]


@pytest.mark.parametrize("method", [name for name in METHODS if name != "jacobian-transpose-fixed"])
def test_one_start_gives_the_same_bits_alone_and_in_a_batch(method: str) -> None:
    """Alone, the joints fill the lanes; in a batch, the problems do."""
    robot, _ = arm("panda")
    poses = robot.forward_kinematics(robot.random_state(3, 30).q, "panda_hand")
    options: dict[str, Any] = {"starts": 1, "nearest": False, "method": method, "max_iterations": 30}
    whole = robot.inverse_kinematics(poses, "panda_hand", **options)
    for k in range(30):
        alone = robot.inverse_kinematics(poses[k], "panda_hand", **options)
        assert np.array_equal(alone.q, whole.q[k]) and alone.iterations == whole.iterations[k]


def test_the_seed_decides_the_random_starts() -> None:
    robot, _ = arm("panda")
    poses = robot.forward_kinematics(robot.random_state(12, 40).q, "panda_hand")
    a, b, c = (robot.inverse_kinematics(poses, "panda_hand", nearest=False, seed=s).q for s in (0, 0, 1))
    assert np.array_equal(a, b) and not np.array_equal(a, c)
