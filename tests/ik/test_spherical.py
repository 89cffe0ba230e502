"""Inverse kinematics through spherical joints: every answer confirmed by Pinocchio, at unit quaternions."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import Robot
from robomorph.ik import METHODS, AxisTarget, CenterOfMassTarget, IKResult, PositionTarget
from tests.ik.arms import angle_between
from tests.oracle.chains import WITH_BALLS, chain
from tests.oracle.reference import Reference, build

Array = npt.NDArray[Any]


@cache
def made(name: str) -> tuple[Robot, Reference, str]:
    text = chain(*WITH_BALLS[name])
    robot = robomorph.load(text)
    return robot, Reference(robot, build(text)), robot.link_names[-1]


def assert_on_the_manifold(robot: Robot, q: Array) -> None:
    for name in robot.joint_names:
        place, _ = robot.coordinates(name)
        if place.stop - place.start == 4:
            assert np.allclose(np.linalg.norm(q[..., place], axis=-1), 1.0, rtol=0, atol=1e-12)
    assert ((q >= robot.limits.lower) & (q <= robot.limits.upper)).all()


def assert_confirmed(
    name: str, result: IKResult, poses: Array, *, turns: bool, tolerance: float = 1e-5
) -> None:
    """Every claimed solution meets its target where Pinocchio puts the tip."""
    robot, reference, tip = made(name)
    assert_on_the_manifold(robot, result.q)
    for q, pose, success in zip(result.q, poses, result.success, strict=True):
        if not success:
            continue
        found = reference.forward_kinematics(q, tip)
        assert np.linalg.norm(found[:3, 3] - pose[:3, 3]) <= 1.001 * tolerance
        if turns:
            assert angle_between(pose[:3, :3], found[:3, :3]) <= 1.001 * tolerance


def reachable(name: str, count: int = 20, seed: int = 1) -> tuple[Array, Array]:
    robot, _, tip = made(name)
    q = robot.random_state(seed, count).q
    return q, robot.forward_kinematics(q, tip)


@pytest.mark.parametrize("nearest", [True, False])
@pytest.mark.parametrize("turns", [False, True], ids=["position", "pose"])
@pytest.mark.parametrize("name", WITH_BALLS)
def test_twenty_of_twenty(name: str, turns: bool, nearest: bool) -> None:
    robot, _, tip = made(name)
    _, poses = reachable(name)
    target = poses if turns else poses[:, :3, 3]
    result = robot.inverse_kinematics(target, tip, nearest=nearest)
    assert result.success.sum() == 20, result.reason
    assert_confirmed(name, result, poses, turns=turns)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["ball wrist", "balls alone"])
def test_every_method_stays_on_the_manifold(name: str, method: str) -> None:
    robot, _, tip = made(name)
    _, poses = reachable(name, 5)
    result = robot.inverse_kinematics(poses[:, :3, 3], tip, method=method, tolerance=1e-3)
    assert result.success.sum() >= 4, result.reason  # those but "lm" start once
    assert_confirmed(name, result, poses, turns=False, tolerance=1e-3)


@pytest.mark.parametrize("name", ["ball shoulder", "two balls"])
def test_near_solutions_are_found_near(name: str) -> None:
    """From a start close to a solution the answer is no farther than that solution."""
    robot, _, tip = made(name)
    q, poses = reachable(name)
    start = robot.integrate(q, 0.05 * np.random.default_rng(3).uniform(-1, 1, (20, robot.nv)))
    start = np.clip(start, robot.limits.lower, robot.limits.upper)
    result = robot.inverse_kinematics(poses, tip, start)
    assert result.success.all()
    assert_confirmed(name, result, poses, turns=True)
    found, known = (np.linalg.norm(robot.difference(start, x), axis=-1) for x in (result.q, q))
    assert (found <= known + 1e-4).all()


def test_a_quaternion_and_its_negative_are_one_start() -> None:
    robot, _, tip = made("ball wrist")
    q, poses = reachable("ball wrist", 8)
    flipped = q.copy()
    flipped[:, robot.coordinates("j3")[0]] *= -1.0
    for start in (q, flipped):
        result = robot.inverse_kinematics(poses, tip, start)
        assert result.success.all()
        assert np.abs(robot.difference(start, result.q)).max() < 1e-4


def test_a_start_is_brought_to_unit_length_and_zero_is_refused() -> None:
    robot, _, tip = made("ball wrist")
    q, poses = reachable("ball wrist", 1)
    place = robot.coordinates("j3")[0]
    long = q[0].copy()
    long[place] *= 3.0
    result = robot.inverse_kinematics(poses[0], tip, long)
    assert result.success
    assert_on_the_manifold(robot, result.q)
    long[place] = 0.0
    with pytest.raises(robomorph.ArgumentError, match="'j3' has length zero"):
        robot.inverse_kinematics(poses[0], tip, long)


def test_fixed_joints_keep_their_turn() -> None:
    robot, _, tip = made("two balls")
    q, poses = reachable("two balls")
    place = robot.coordinates("j2")[0]
    start = np.tile(robot.neutral, (20, 1))
    start[:, place] = q[:, place]
    result = robot.inverse_kinematics(poses[:, :3, 3], tip, start, fixed=["j2"])
    assert result.success.all(), result.reason
    np.testing.assert_array_equal(
        result.q[:, place], q[:, place] / np.linalg.norm(q[:, place], axis=-1)[:, None]
    )
    assert_confirmed("two balls", result, poses, turns=False)


def test_a_posture_is_approached_by_turns() -> None:
    """A position alone leaves the wrist free: it goes all the way to the posture's."""
    robot, _, _ = made("ball wrist")
    q, _ = reachable("ball wrist", 6)
    wrist = robot.forward_kinematics(q, "l3")[:, :3, 3]  # the ball turns nothing of l3
    posture = robot.random_state(9).q
    result = robot.inverse_kinematics(wrist, "l3", posture=posture)
    assert result.success.all()
    assert np.abs(robot.difference(result.q, posture)[:, 3:]).max() < 1e-3


def test_a_path_is_followed() -> None:
    robot, _, tip = made("ball wrist")
    q, _ = reachable("ball wrist", 1)
    way = np.linspace(0.0, 0.4, 40)[:, None] * np.random.default_rng(2).uniform(-1, 1, robot.nv)
    along = np.clip(robot.integrate(q, way), robot.limits.lower, robot.limits.upper)
    poses = robot.forward_kinematics(along, tip)
    track = robot.inverse_kinematics(poses, tip, along[0], path=True)
    assert track.success.all(), track.reason
    assert_confirmed("ball wrist", track, poses, turns=True)
    assert np.abs(robot.difference(track.q[:-1], track.q[1:])).max() < 0.1


@pytest.mark.parametrize("name", ["ball shoulder", "two balls", "slide and balls"])
def test_several_solutions_are_distinct_turns(name: str) -> None:
    """A quaternion and its negative are the same solution."""
    robot, _, tip = made(name)
    _, poses = reachable(name, 3)
    result = robot.inverse_kinematics(poses[:, :3, 3], tip, solutions=5)
    for found, success, pose in zip(result.q, result.success, poses, strict=True):
        kept = found[success]
        assert len(kept) == 5
        for i in range(5):
            for j in range(i):
                assert np.abs(robot.difference(kept[i], kept[j])).max() > 0.05
        poses_of = np.broadcast_to(pose, (5, 4, 4))
        one = IKResult((kept, success, *[success * 0.0] * 4), (robot.limits.lower, robot.limits.upper), None)
        assert_confirmed(name, one, poses_of, turns=False)


def test_other_targets() -> None:
    robot, reference, tip = made("two balls")
    q, poses = reachable("two balls", 5)
    axis = poses[:, :3, :3] @ np.array([0.0, 0.0, 1.0])
    result = robot.inverse_kinematics(
        [PositionTarget(tip, poses[:, :3, 3]), AxisTarget(tip, [0, 0, 1], axis)]
    )
    assert result.success.all(), result.reason
    for x, direction in zip(result.q, axis, strict=True):
        assert np.linalg.norm(reference.forward_kinematics(x, tip)[:3, 2] - direction) < 2e-5
    masses = np.array([reference.center_of_mass(x) for x in q])
    result = robot.inverse_kinematics(CenterOfMassTarget(masses))
    assert result.success.all(), result.reason
    for x, mass in zip(result.q, masses, strict=True):
        assert np.linalg.norm(reference.center_of_mass(x) - mass) < 2e-5


def test_the_answer_depends_on_neither_threads_nor_place() -> None:
    robot, _, tip = made("balls alone")
    _, poses = reachable("balls alone", 9)
    whole = robot.inverse_kinematics(poses, tip)
    assert whole == robot.inverse_kinematics(poses, tip, threads=1)
    for i in (0, 4, 8):
        np.testing.assert_array_equal(robot.inverse_kinematics(poses[i], tip).q, whole.q[i])


def test_out_of_reach_is_proven_through_balls() -> None:
    """The links of a chain of balls are as long as they are: farther is no failure to find."""
    robot, _, tip = made("balls alone")
    lengths = [np.linalg.norm([0.3, 0.05 * i, 0.1]) for i in (1, 2)]
    first, up = np.array([0.3, 0.0, 0.1]), np.array([0.0, 0.0, sum(lengths)])
    far = robot.inverse_kinematics(first + 1.01 * up, tip, starts=4)
    assert not far.success and far.reason.startswith("out of reach")
    near = robot.inverse_kinematics(first + 0.99 * up, tip)
    assert near.success
