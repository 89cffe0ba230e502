"""Odd targets, alone, together and along paths: nothing crashes, hangs, or is claimed that does not hold."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robomorph import ArgumentError, Robot
from robomorph.ik import (
    AxisTarget,
    CenterOfMassTarget,
    IKResult,
    OrientationTarget,
    PoseTarget,
    PositionTarget,
    Target,
    TaskTarget,
)
from tests.ik.arms import ARMS, arm, inside
from tests.oracle.reference import Reference

Array = npt.NDArray[Any]
TOLERANCE = 1e-5
SECONDS = 1.0  # of CPU time, for one call that has nothing left to compile
HUGE = (1e3, 1e8, 1e150, 1e300, 1.7e308)


def odd_number(rng: np.random.Generator) -> float:
    kind = rng.integers(6)
    if kind == 0:
        return float(rng.choice([np.nan, np.inf, -np.inf]))
    if kind == 1:
        return float(rng.choice(HUGE) * rng.choice([-1.0, 1.0]))
    if kind == 2:
        return float(rng.choice([0.0, -0.0, 5e-324, 1e-300, 1e-16]))
    return float(rng.normal())


def odd_pose(rng: np.random.Generator, robot: Any, frame: str) -> Array:
    """A pose of the robot, often at a singularity, often damaged."""
    q = robot.random_state(rng).q
    kind = rng.integers(8)
    if kind == 0:
        q = robot.neutral
    elif kind == 1 and np.isfinite(robot.limits.upper - robot.limits.lower).all():
        q = np.where(rng.uniform(size=q.shape) < 0.5, robot.limits.lower, robot.limits.upper)
    elif kind == 2 and robot.nq == robot.nv:
        q = q * (rng.uniform(size=q.shape) < 0.3)  # several joints stretched out
    pose = np.array(robot.forward_kinematics(q, frame))
    if kind == 3:
        pose[rng.integers(4), rng.integers(4)] = odd_number(rng)
    elif kind == 4:
        pose[:3, 3] = [odd_number(rng) for _ in range(3)]
    elif kind == 5:
        pose[:3, :3] = rng.choice([np.eye(3), -np.eye(3), np.zeros((3, 3)), rng.normal(size=(3, 3))])
    return pose


def odd_weight(rng: np.random.Generator) -> Any:
    """Mostly 1; else some axes heavier, lighter or free."""
    return 1.0 if rng.uniform() < 0.7 else rng.choice([0.0, 0.1, 1.0, 30.0], size=3)


def odd_target(rng: np.random.Generator, robot: Robot, frame: str) -> Target:
    pose = odd_pose(rng, robot, frame)
    kind = rng.integers(6)
    if kind == 0:
        return PositionTarget(frame, pose[:3, 3], weight=odd_weight(rng))
    if kind == 1:
        return OrientationTarget(frame, pose[:3, :3], weight=odd_weight(rng))
    if kind == 2:
        return AxisTarget(frame, (0.0, 0.0, 1.0), pose[:3, 2] if rng.uniform() < 0.5 else pose[:3, 3])
    if kind == 3:
        return CenterOfMassTarget(
            robot.center_of_mass(robot.random_state(rng).q) if rng.uniform() < 0.7 else pose[:3, 3]
        )
    return PoseTarget(frame, pose, position_weight=odd_weight(rng), rotation_weight=odd_weight(rng))


def counted(error: Array, weight: Any) -> float:
    """The length of an error over the rows that are asked for."""
    return float(np.linalg.norm(np.where(np.broadcast_to(weight, error.shape) > 0.0, error, 0.0)))


def turn_error(wanted: Any, found: Array, weight: Any) -> float:
    """About the axes of the target, which is taken for the nearest rotation."""
    import pinocchio

    u, _, v = np.linalg.svd(np.asarray(wanted))
    return counted(np.asarray(pinocchio.log3((u @ v).T @ found)), weight)


def miss(reference: Reference, q: Array, target: Target) -> float:
    """The largest error (m, rad) at q, by Pinocchio's forward kinematics."""
    if isinstance(target, CenterOfMassTarget):
        return counted(reference.center_of_mass(q) - target.position, target.weight)
    assert not isinstance(target, TaskTarget)
    found = reference.forward_kinematics(q, target.frame)
    if isinstance(target, PositionTarget):
        return counted(found[:3, 3] - target.position, target.weight)
    if isinstance(target, OrientationTarget):
        return turn_error(target.rotation, found[:3, :3], target.weight)
    if isinstance(target, AxisTarget):
        direction = np.asarray(target.direction) / np.abs(target.direction).max()
        return float(np.linalg.norm(found[:3, 2] - direction / np.linalg.norm(direction)))
    pose = np.asarray(target.pose)
    return max(
        counted(found[:3, 3] - pose[:3, 3], target.position_weight),
        turn_error(pose[:3, :3], found[:3, :3], target.rotation_weight),
    )


def assert_honest(pair: tuple[Robot, Reference], targets: list[Target], q: Array, success: Any) -> None:
    """An answer is finite and inside the limits; a claimed one holds."""
    robot, reference = pair
    assert np.isfinite(q).all() and inside(robot, q)
    if success:
        assert max(miss(reference, q, target) for target in targets) <= 1.001 * TOLERANCE


def in_time(call: Callable[[], IKResult]) -> IKResult:
    """The answer, which must take little CPU time (on all threads together) once everything is compiled."""
    for _ in range(2):
        begin = time.process_time()
        result = call()
        if time.process_time() - begin <= SECONDS:
            return result
    raise AssertionError(f"a call took more than {SECONDS} s of CPU time")


def try_targets(count: int, seed: int) -> int:
    """How many targets were taken, solved or not; the others were refused in words."""
    rng = np.random.default_rng(seed)
    names = ("iiwa14", "ur5_robot", "panda")
    taken = 0
    for k in range(count):
        pair = arm(names[k % 3])
        robot, _ = pair
        target = odd_target(rng, robot, ARMS[names[k % 3]])
        q0 = None if rng.uniform() < 0.5 else robot.random_state(rng).q
        options: dict[str, Any] = {"starts": 8, "candidates": 4, "nearest": bool(k % 2)}
        try:
            result = in_time(partial(robot.inverse_kinematics, target, q0=q0, **options))
        except ArgumentError as error:
            assert str(error)
            continue
        taken += 1
        assert_honest(pair, [target], result.q, result.success)
        if k % 50 == 0:
            assert isinstance(result.reason, str)
    return taken


def try_several(count: int, seed: int) -> int:
    """Two feet and the centre of mass of a quadruped on a free base; how many were solved."""
    rng = np.random.default_rng(seed)
    pair = arm("hyq", floating=True)
    robot, _ = pair
    feet = [name for name in robot.link_names if name.endswith("lowerleg")][:2]
    solved = 0
    for k in range(count):
        q = robot.random_state(rng).q
        points = [robot.forward_kinematics(q, name)[:3, 3] for name in feet]
        if k % 4 == 0:
            points[k % 2] = np.array([odd_number(rng) for _ in range(3)])
        targets: list[Target] = [
            PositionTarget(name, point, weight=(1.0, 1.0, float(rng.choice([0.0, 0.5, 1.0]))))
            for name, point in zip(feet, points, strict=True)
        ]
        targets.append(CenterOfMassTarget(robot.center_of_mass(q)))
        try:
            result = in_time(partial(robot.inverse_kinematics, targets, starts=6, candidates=3))
        except ArgumentError as error:
            assert str(error)
            continue
        assert_honest(pair, targets, result.q, result.success)
        assert np.isclose(np.linalg.norm(result.q[3:7]), 1.0)
        solved += bool(result.success)
    return solved


def try_paths(count: int, seed: int) -> int:
    """Short paths of odd poses; how many poses were reached."""
    rng = np.random.default_rng(seed)
    pair = arm("iiwa14")
    robot, _ = pair
    frame, reached = ARMS["iiwa14"], 0
    for _ in range(count):
        q = 0.5 * robot.random_state(rng).q
        poses = robot.forward_kinematics(q + 0.1 * rng.normal(size=(6, 7)).cumsum(axis=0), frame)
        if rng.uniform() < 0.5:
            poses[rng.integers(6), :3, 3] = [odd_number(rng) for _ in range(3)]
        try:
            result = in_time(partial(robot.inverse_kinematics, poses, frame, q, path=True))
        except ArgumentError as error:
            assert str(error)
            continue
        last = None
        for pose, answer, success in zip(poses, result.q, result.success, strict=True):
            assert_honest(pair, [PoseTarget(frame, pose)], answer, success)
            if success:
                assert last is None or np.abs(answer - last).max() <= 0.5
                last, reached = answer, reached + 1
    return reached


def test_odd_targets() -> None:
    assert try_targets(300, seed=0) > 150


def test_several_odd_targets_at_once() -> None:
    assert try_several(40, seed=0) > 20


def test_odd_paths() -> None:
    assert try_paths(20, seed=0) > 40


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(1, 11))
def test_ten_thousand_odd_targets(seed: int) -> None:
    assert try_targets(800, seed) > 400
    assert try_several(100, seed) > 50
    assert try_paths(100, seed) > 200
