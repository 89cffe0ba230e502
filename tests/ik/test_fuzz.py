"""Odd targets: nothing crashes, hangs, or is claimed to be solved when it is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robomorph import ArgumentError
from robomorph.ik import AxisTarget, OrientationTarget, PoseTarget, PositionTarget
from tests.ik.arms import ARMS, angle_between, arm, inside

Array = npt.NDArray[Any]
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
        q = np.zeros_like(q)
    elif kind == 1:
        q = np.where(rng.uniform(size=q.shape) < 0.5, robot.limits.lower, robot.limits.upper)
    elif kind == 2:
        q = q * (rng.uniform(size=q.shape) < 0.3)  # several joints stretched out
    pose = np.array(robot.forward_kinematics(q, frame))
    if kind == 3:
        pose[rng.integers(4), rng.integers(4)] = odd_number(rng)
    elif kind == 4:
        pose[:3, 3] = [odd_number(rng) for _ in range(3)]
    elif kind == 5:
        pose[:3, :3] = rng.choice([np.eye(3), -np.eye(3), np.zeros((3, 3)), rng.normal(size=(3, 3))])
    return pose


def odd_target(rng: np.random.Generator, robot: Any, frame: str) -> Any:
    pose = odd_pose(rng, robot, frame)
    kind = rng.integers(5)
    if kind == 0:
        return PositionTarget(frame, pose[:3, 3])
    if kind == 1:
        return OrientationTarget(frame, pose[:3, :3])
    if kind == 2:
        return AxisTarget(frame, (0.0, 0.0, 1.0), pose[:3, 2] if rng.uniform() < 0.5 else pose[:3, 3])
    return PoseTarget(frame, pose)


def assert_honest(name: str, target: Any, result: Any) -> None:
    """An answer is finite and inside the limits; a claimed one holds by Pinocchio's forward kinematics."""
    robot, reference = arm(name)
    assert np.isfinite(result.q).all() and inside(robot, result.q)
    if not result.success:
        return
    found = reference.forward_kinematics(result.q, target.frame)
    if isinstance(target, PoseTarget):
        assert np.linalg.norm(found[:3, 3] - target.pose[:3, 3]) <= 1.001e-5
        assert angle_between(target.pose[:3, :3], found[:3, :3]) <= 3e-5  # a target may be off by rounding
    elif isinstance(target, PositionTarget):
        assert np.linalg.norm(found[:3, 3] - target.position) <= 1.001e-5
    elif isinstance(target, OrientationTarget):
        assert angle_between(np.asarray(target.rotation), found[:3, :3]) <= 3e-5
    else:
        direction = np.asarray(target.direction) / np.abs(target.direction).max()
        direction = direction / np.linalg.norm(direction)
        assert np.linalg.norm(found[:3, 2] - direction) <= 1.001e-5


def try_targets(count: int, seed: int) -> int:
    """How many targets were taken, solved or not; the others were refused in words."""
    rng = np.random.default_rng(seed)
    names = ("iiwa14", "ur5_robot", "panda")
    taken = 0
    for k in range(count):
        name = names[k % 3]
        robot, _ = arm(name)
        target = odd_target(rng, robot, ARMS[name])
        q0 = None if rng.uniform() < 0.5 else robot.random_state(rng).q
        try:
            result = robot.inverse_kinematics(target, q0=q0, starts=8, candidates=4, nearest=bool(k % 2))
        except ArgumentError as error:
            assert str(error)
            continue
        taken += 1
        assert_honest(name, target, result)
        if k % 50 == 0:
            assert isinstance(result.reason, str)
    return taken


def test_odd_targets() -> None:
    assert try_targets(300, seed=0) > 150


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(1, 11))
def test_ten_thousand_odd_targets(seed: int) -> None:
    assert try_targets(1000, seed) > 500
