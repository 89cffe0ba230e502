"""Wrong arguments are refused with a message that names them; failures explain themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError
from robomorph.ik import AxisTarget, CenterOfMassTarget, PoseTarget, PositionTarget
from robomorph.ik.targets import TARGETS
from tests.ik.arms import ARMS, arm

FRAME = ARMS["iiwa14"]
POSE = np.eye(4)
SKEWED = np.diag([1.0, 1.1, 1.0, 1.0])
MIRROR = np.diag([1.0, 1.0, -1.0, 1.0])
NAN = np.where(np.eye(4) > 0, np.nan, 0.0)
FAR = np.array([[1.0, 0, 0, 1e13], [0, 1.0, 0, 0], [0, 0, 1.0, 0], [0, 0, 0, 1.0]])
PATH = np.tile(POSE, (2, 4, 1, 1))


def plain(target: Any) -> bool:
    """Does the target need a frame beside it?"""
    items = target if isinstance(target, list) else [target]
    return not any(isinstance(item, TARGETS) for item in items)


@pytest.mark.parametrize(
    ("target", "options", "says"),
    [
        (np.zeros(4), {}, r"target: expected a pose .* found shape \(4,\)"),
        (np.zeros((2, 3, 4)), {}, "target: expected a pose"),
        ("up", {}, "target"),
        ([], {}, "target"),
        (SKEWED, {}, "rotation matrix .* misses it by"),
        (MIRROR, {}, "reflection"),
        (NAN, {}, "finite"),
        (np.array([np.inf, 0.0, 0.0]), {}, "finite"),
        (np.ones((4, 4)), {}, "last row"),
        (POSE, {"frame": "hand"}, "frame: unknown name 'hand'"),
        (POSE, {"q0": np.zeros(6)}, r"q0: expected shape \(..., 7\)"),
        (POSE, {"q0": np.full(7, np.nan)}, "q0: expected finite"),
        (POSE, {"tolerance": 0.0}, "tolerance"),
        (POSE, {"tolerance": (1e-3, -1.0)}, "tolerance"),
        (POSE, {"tolerance": "small"}, "tolerance"),
        (POSE, {"method": "newton"}, "method: unknown name 'newton'"),
        (POSE, {"starts": 0}, "starts: expected a whole number"),
        (POSE, {"solutions": 1.5}, "solutions"),
        (POSE, {"threads": -1}, "threads"),
        (POSE, {"fixed": ["elbow"]}, "elbow"),
        (POSE, {"path": True}, "path needs poses"),
        (POSE, {"posture": np.zeros(3)}, "posture: expected shape"),
        (PositionTarget("hand", np.zeros(3)), {}, "frame: unknown name 'hand'"),
        (PositionTarget(FRAME, np.zeros(3), weight=-1.0), {}, "weight"),
        (PositionTarget(FRAME, np.zeros(3), weight=(0, 0, 0)), {}, "weight"),
        (PoseTarget(FRAME, POSE, position_tolerance=(1.0, 1.0)), {}, "tolerance .* 3 numbers"),
        (AxisTarget(FRAME, (0, 0, 0), (0, 0, 1)), {}, "length zero"),
        ([PositionTarget(FRAME, np.zeros((2, 3))), PositionTarget(FRAME, np.zeros((3, 3)))], {}, "broadcast"),
        ([PositionTarget(FRAME, np.zeros(3)), POSE], {}, "expected targets"),
        (POSE, {"toleranse": 1e-3}, "unknown option 'toleranse': did you mean 'tolerance'"),
        (POSE, {"tolerance": True}, "tolerance: expected one number or a pair"),
        (POSE, {"tolerance": (1e-3, True)}, "tolerance"),
        (POSE, {"tolerance": (1e-3, 1e-3, 1e-3)}, "tolerance"),
        (POSE, {"fixed": None}, "fixed: expected names of joints"),
        (POSE, {"fixed": [3]}, "fixed: expected names of joints, found 3"),
        (POSE, {"method": ["lm"]}, "method: expected a name, found list"),
        (POSE, {"method": None}, "method: expected a name"),
        (POSE, {"frame": 7}, "frame: expected the name of a frame, found int"),
        (POSE, {"frame": ["hand"]}, "frame: expected the name of a frame, found list"),
        (POSE, {"threads": 0}, "threads: expected a whole number from 1"),
        (POSE, {"threads": True}, "threads"),
        (POSE, {"starts": 10**9}, "starts: expected a whole number from 1 to 65536"),
        (POSE, {"solutions": 10**6}, "solutions: expected a whole number"),
        (POSE, {"speculations": 10**8, "method": "quick-ik"}, "speculations"),
        (POSE, {"nearest": "yes"}, "nearest: expected True or False"),
        (np.tile(POSE, (9000, 1, 1)), {"solutions": 2, "starts": 65536}, "solutions: 9000 problems"),
        (np.array([1e300, 0.0, 0.0]), {}, "expected coordinates within 1e[+]12 m, found 1e[+]300"),
        (FAR, {}, "are they in metres"),
        (PositionTarget(FRAME, np.full(3, -1e200)), {}, "are they in metres"),
        (CenterOfMassTarget(np.full(3, 1e200)), {}, "are they in metres"),
        (
            PositionTarget(None, np.zeros(3)),  # type: ignore[arg-type]
            {},
            "frame: expected the name of a frame, found NoneType",
        ),
        (PositionTarget(FRAME, np.zeros(3)), {"frame": FRAME}, "every target names its own"),
        ([PositionTarget(FRAME, np.zeros(3))], {"frame": FRAME}, "every target names its own"),
        (PoseTarget(FRAME, POSE, rotation_weight="much"), {}, "weight"),  # type: ignore[arg-type]
        (
            PoseTarget(FRAME, POSE, rotation_tolerance=[[1.0], [1.0, 2.0]]),  # type: ignore[list-item]
            {},
            "tolerance",
        ),
        (PATH, {"path": True, "max_step": 0.0}, "max_step: expected a positive number"),
        (PATH, {"path": True, "max_step": "far"}, "max_step: expected a positive number"),
        (PATH, {"path": True, "max_step": float("nan")}, "max_step: expected a positive number"),
        (
            PATH,
            {"path": True, "q0": np.zeros((3, 7))},
            r"q0: expected one configuration \(7,\) or one for each",
        ),
        (PATH, {"path": True, "posture": np.zeros((3, 7))}, "posture: expected one configuration"),
    ],
)
def test_wrong_arguments(target: Any, options: dict[str, Any], says: str) -> None:
    robot, _ = arm("iiwa14")
    with pytest.raises(ArgumentError, match=says):
        robot.inverse_kinematics(target, **({"frame": FRAME} if plain(target) else {}) | options)


def test_a_robot_with_several_ends_must_be_told_which() -> None:
    with pytest.raises(ArgumentError, match="4 ends: name the frame"):
        robomorph.load("hyq").inverse_kinematics(np.zeros(3))


def test_a_rotation_written_with_few_digits_is_taken() -> None:
    robot, _ = arm("iiwa14")
    pose = robot.forward_kinematics(robot.random_state(1).q, FRAME)
    result = robot.inverse_kinematics(np.round(pose, 6), FRAME, tolerance=1e-4)
    assert result.success


def test_out_of_reach_says_by_how_much() -> None:
    robot, _ = arm("iiwa14")
    result = robot.inverse_kinematics(np.array([2.0, 0.0, 0.36]), FRAME)
    assert not result.success
    assert result.reason.startswith(
        "out of reach: the target of 'lbr_iiwa_link_7' is 2 m from the first joint"
    )
    assert "starts misses by" in result.reason
    # The arm is stretched towards the target: no closer point exists.
    assert 0.5 < result.position_error < 2.0
    found = robot.forward_kinematics(result.q, FRAME)[:3, 3]
    assert np.isclose(np.linalg.norm(found - [2.0, 0.0, 0.36]), result.position_error)


def test_what_limits_keep_away_says_which() -> None:
    robot, _ = arm("iiwa14")
    outside = np.array([0.0, 0.3, 0.0, 2.6, 0.0, 0.0, 0.0])  # the elbow ends at 2.09
    point = robot.forward_kinematics(outside, FRAME)[:3, 3]
    result = robot.inverse_kinematics(point, FRAME)
    assert not result.success
    assert result.reason.startswith("none found inside the limits; without them a solution would exceed ")
    assert "lbr_iiwa_joint_4 by" in result.reason
    assert result.active_limits[3] != 0 and "lbr_iiwa_joint_4 (" in result.reason
    free = robot.inverse_kinematics(point, FRAME, limits=False)
    assert free.success and abs(free.q[3]) > robot.limits.upper[3]


def test_a_batch_has_a_reason_for_each() -> None:
    robot, _ = arm("iiwa14")
    points = np.array([[0.4, 0.2, 0.6], [5.0, 0.0, 0.0]])
    result = robot.inverse_kinematics(points, FRAME)
    assert result.reason.shape == (2,)
    assert result.reason[0] == "converged" and "out of reach" in result.reason[1]
    assert result.success.tolist() == [True, False] and not result


@pytest.mark.parametrize(
    "tolerance", [np.float64(1e-3), np.float32(1e-3), np.array(1e-3), np.array([1e-3, 1e-3])]
)
def test_tolerances_of_numpy_are_taken(tolerance: Any) -> None:
    robot, _ = arm("iiwa14")
    pose = robot.forward_kinematics(robot.random_state(1).q, FRAME)
    result = robot.inverse_kinematics(pose, FRAME, tolerance=tolerance)
    assert result.success and result.position_error <= 1.001e-3


@pytest.mark.parametrize("weight", [(1, 1, 0), (0, 1, 1)])
def test_a_free_axis_proves_nothing_about_reach(weight: tuple[int, int, int]) -> None:
    """Blocked by a wall of limits, far along the free axis: never 'out of reach', which would be no proof."""
    robot, _ = arm("iiwa14")
    free = int(np.argmin(weight))
    far = np.array([0.3, 0.3, 0.5])
    far[free] = 50.0
    result = robot.inverse_kinematics(PositionTarget(FRAME, far, weight=weight))
    assert result.success
    far[(free + 1) % 3] = 60.0
    result = robot.inverse_kinematics(PositionTarget(FRAME, far, weight=weight), starts=4)
    assert not result.success and "out of reach" not in result.reason


def test_reach_allows_for_the_tolerance() -> None:
    """A failure for the orientation's sake, the position within its wide tolerance of the reach."""
    robot, _ = arm("iiwa14")
    pose = np.eye(4)
    pose[:3, 3] = (1.6, 0.0, 0.36)
    fixed = list(robot.joint_names)
    held = robot.inverse_kinematics(PoseTarget(FRAME, pose, position_tolerance=1.5), fixed=fixed, starts=1)
    assert not held.success and "out of reach" not in held.reason
    tight = robot.inverse_kinematics(PoseTarget(FRAME, pose), fixed=fixed, starts=1)
    assert not tight.success and "out of reach" in tight.reason
