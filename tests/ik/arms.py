"""The arms that inverse kinematics is tested on, each with Pinocchio's model of the same file."""

from __future__ import annotations

import warnings
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import ModelWarning, Robot
from robomorph.ik import IKResult
from tests.model.oracle import example_robots
from tests.oracle.reference import Reference, build

Array = npt.NDArray[Any]

# Name of the file -> the frame that is moved.
ARMS: dict[str, str] = {
    "iiwa14": "lbr_iiwa_link_7",
    "panda": "panda_hand",
    "ur5_robot": "tool0",
    "xarm7": "link7",
    "z1": "link06",
    "talos_left_arm": "wrist_left_ft_tool_link",
}


@cache
def arm(name: str, floating: bool = False) -> tuple[Robot, Reference]:
    """A robot and its reference in Pinocchio."""
    path = _path(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = robomorph.load(path, floating_base=floating)
    return robot, Reference(robot, build(path, floating=floating))


def _path(name: str) -> Path:
    if name in ("iiwa14", "hyq", "atlas"):
        return Path(str(resources.files("robomorph.model.robots") / f"{name}.urdf"))
    found = [p for p in example_robots() if p.stem == name]
    if not found:
        pytest.skip("needs the package example-robot-data")
    return found[0]


def angle_between(a: Array, b: Array) -> float:
    """The angle (rad) of the rotation from `a` to `b` (3, 3)."""
    turn = a.T @ b
    sine = 0.5 * np.linalg.norm([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    return float(np.arctan2(sine, 0.5 * (np.trace(turn) - 1.0)))


def inside(robot: Robot, q: Array) -> bool:
    return bool(np.all(q >= robot.limits.lower) and np.all(q <= robot.limits.upper))


def assert_poses_met(
    pair: tuple[Robot, Reference], result: IKResult, poses: Array, frame: str, tolerance: float = 1e-5
) -> None:
    """Every claimed solution holds by Pinocchio's forward kinematics and is inside the limits."""
    robot, reference = pair
    flat = zip(result.q.reshape(-1, robot.nq), result.success.ravel(), poses.reshape(-1, 4, 4), strict=True)
    for q, success, pose in flat:
        assert inside(robot, q)
        if success:
            found = reference.forward_kinematics(q, frame)
            assert np.linalg.norm(found[:3, 3] - pose[:3, 3]) <= tolerance * (1 + 1e-6)
            assert angle_between(pose[:3, :3], found[:3, :3]) <= tolerance * (1 + 1e-6)
