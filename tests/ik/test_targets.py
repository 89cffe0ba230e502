"""Every kind of target, weights and tolerances, several frames at once; judged by Pinocchio."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robomorph.ik import AxisTarget, CenterOfMassTarget, OrientationTarget, PoseTarget, PositionTarget
from tests.ik.arms import ARMS, angle_between, arm, inside

FRAME = ARMS["iiwa14"]


def test_orientation() -> None:
    robot, reference = arm("iiwa14")
    turns = robot.forward_kinematics(robot.random_state(1, 30).q, FRAME)[:, :3, :3]
    result = robot.inverse_kinematics(OrientationTarget(FRAME, turns))
    assert result.success.all()
    for q, turn in zip(result.q, turns, strict=True):
        assert angle_between(turn, reference.forward_kinematics(q, FRAME)[:3, :3]) <= 1.001e-5
    assert (result.position_error == 0.0).all()


@pytest.mark.parametrize("axis", [(0.0, 0.0, 1.0), (1.0, 2.0, -2.0)])
def test_pointing_an_axis(axis: tuple[float, float, float]) -> None:
    robot, reference = arm("iiwa14")
    rng = np.random.default_rng(3)
    directions = np.concatenate([rng.normal(size=(20, 3)), [[0, 0, -1], [0, 0, 1], [0, 1e-9, -1]]])
    result = robot.inverse_kinematics(AxisTarget(FRAME, axis, directions))
    assert result.success.all()
    local = np.array(axis) / np.linalg.norm(axis)
    for q, direction in zip(result.q, directions, strict=True):
        world = reference.forward_kinematics(q, FRAME)[:3, :3] @ local
        sine = np.linalg.norm(np.cross(world, direction)) / np.linalg.norm(direction)
        assert np.arctan2(sine, world @ direction / np.linalg.norm(direction)) <= 1.001e-5


def test_position_with_a_pointed_axis() -> None:
    robot, reference = arm("panda")
    poses = robot.forward_kinematics(robot.random_state(4, 25).q, "panda_hand")
    targets = [
        PositionTarget("panda_hand", poses[:, :3, 3]),
        AxisTarget("panda_hand", (0.0, 0.0, 1.0), poses[:, :3, 2]),
    ]
    result = robot.inverse_kinematics(targets)
    assert result.success.all()
    for q, pose in zip(result.q, poses, strict=True):
        found = reference.forward_kinematics(q, "panda_hand")
        assert np.linalg.norm(found[:3, 3] - pose[:3, 3]) <= 1.001e-5
        assert np.linalg.norm(np.cross(found[:3, 2], pose[:3, 2])) <= 1.001e-5


def test_a_weight_of_zero_frees_an_axis() -> None:
    """Height free, x and y met; turn about the target's z free, tilt met."""
    robot, reference = arm("ur5_robot")
    poses = robot.forward_kinematics(robot.random_state(9, 20).q, "tool0")
    lifted = poses.copy()
    lifted[:, 2, 3] += 10.0  # unreachable, were it asked for
    about_z = np.diag([-1.0, -1.0, 1.0])
    lifted[:, :3, :3] = poses[:, :3, :3] @ about_z
    target = PoseTarget("tool0", lifted, position_weight=(1, 1, 0), rotation_weight=(1, 1, 0))
    result = robot.inverse_kinematics(target)
    assert result.success.all()
    for q, pose in zip(result.q, poses, strict=True):
        found = reference.forward_kinematics(q, "tool0")
        assert np.linalg.norm(found[:2, 3] - pose[:2, 3]) <= 1.001e-5


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_tolerances_and_weights_may_be_arrays(kind: Any) -> None:
    robot, _ = arm("iiwa14")
    pose = robot.forward_kinematics(robot.random_state(2).q, FRAME)
    loose, even = kind([1e-3, 1e-3, 1e-3]), kind([1.0, 2.0, 1.0])
    for target in (
        PoseTarget(FRAME, pose, position_tolerance=loose, rotation_tolerance=loose, rotation_weight=even),
        OrientationTarget(FRAME, pose[:3, :3], tolerance=loose),
        PositionTarget(FRAME, pose[:3, 3], weight=even, tolerance=loose),
    ):
        assert robot.inverse_kinematics(target).success


def test_tolerances_per_axis_are_kept_per_axis() -> None:
    robot, reference = arm("iiwa14")
    poses = robot.forward_kinematics(robot.random_state(2, 40).q, FRAME)
    target = PoseTarget(
        FRAME, poses, position_tolerance=(1e-1, 1e-1, 1e-7), rotation_tolerance=(1e-6, 1e-6, 0.3)
    )
    result = robot.inverse_kinematics(target, nearest=False)
    assert result.success.all()
    off = np.array([reference.forward_kinematics(q, FRAME) for q in result.q])
    assert np.abs(off[:, 2, 3] - poses[:, 2, 3]).max() <= 1.001e-7
    assert np.abs(off[:, :2, 3] - poses[:, :2, 3]).max() <= 0.1001
    # The third axis of the target may turn; the tilt away from it may not.
    tilt = np.linalg.norm(np.cross(off[:, :3, 2], poses[:, :3, 2]), axis=-1)
    assert tilt.max() <= 1.5e-6


def test_weights_decide_what_gives_way() -> None:
    """Two demands that exclude each other: the heavier one is met more closely."""
    robot, _ = arm("iiwa14")
    here = robot.forward_kinematics(np.array([0.2, 0.9, 0.1, -1.2, 0.3, 0.8, 0.0]), FRAME)[:3, 3]
    above = here + np.array([0.0, 0.0, 0.1])
    errors = []
    for weight in (0.1, 10.0):
        targets = [PositionTarget(FRAME, here, weight=weight), PositionTarget(FRAME, above)]
        result = robot.inverse_kinematics(targets, nearest=False, starts=5)
        assert not result.success
        found = robot.forward_kinematics(result.q, FRAME)[:3, 3]
        errors.append(float(np.linalg.norm(found - here)))
    assert errors[1] < 0.02 < 0.08 < errors[0]


def test_a_humanoid_with_three_frames_and_the_centre_of_mass() -> None:
    """Atlas on a free base: both feet and a hand in place, the centre of mass above a point."""
    robot, reference = arm("atlas", floating=True)
    feet, hand = ("l_foot", "r_foot"), "l_hand"
    rng = np.random.default_rng(0)
    q0 = robot.neutral
    scale = np.where(np.arange(robot.nv) < 6, 0.05, 0.25)
    limits = robot.limits
    wanted = np.stack([robot.integrate(q0, scale * rng.uniform(-1, 1, robot.nv)) for _ in range(6)])
    wanted[:, 7:] = np.clip(wanted[:, 7:], limits.lower[7:], limits.upper[7:])
    poses = {name: robot.forward_kinematics(wanted, name) for name in (*feet, hand)}
    com = robot.center_of_mass(wanted)
    targets = [PoseTarget(name, poses[name]) for name in (*feet, hand)] + [CenterOfMassTarget(com)]
    result = robot.inverse_kinematics(targets, q0=q0)
    assert result.success.all(), result.reason
    for k, q in enumerate(result.q):
        assert np.isclose(np.linalg.norm(q[3:7]), 1.0)
        assert inside(robot, q)
        for name, pose in poses.items():
            found = reference.forward_kinematics(q, name)
            assert np.linalg.norm(found[:3, 3] - pose[k, :3, 3]) <= 1.001e-5
            assert angle_between(pose[k, :3, :3], found[:3, :3]) <= 1.001e-5
        assert np.linalg.norm(reference.center_of_mass(q) - com[k]) <= 1.001e-5


def test_a_quadruped_on_a_free_base_with_its_base_held() -> None:
    robot, reference = arm("hyq", floating=True)
    base = next(b.joint_name for b in robot.model.bodies if b.kind == "floating")
    q0 = robot.neutral
    q0[:3] = (0.3, -0.2, 0.6)
    q0[7:] = 0.5 * (robot.limits.lower[7:] + robot.limits.upper[7:])
    feet = [name for name in robot.link_names if name.endswith("lowerleg")]
    assert len(feet) == 4
    wanted = q0.copy()
    wanted[7:] += 0.2
    targets = [PositionTarget(name, robot.forward_kinematics(wanted, name)[:3, 3]) for name in feet]
    result = robot.inverse_kinematics(targets, q0=q0, fixed=[base])
    assert result.success
    assert np.array_equal(result.q[:7], q0[:7])
    for target in targets:
        found = reference.forward_kinematics(result.q, target.frame)[:3, 3]
        assert np.linalg.norm(found - target.position) <= 1.001e-5
