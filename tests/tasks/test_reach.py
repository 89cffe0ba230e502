"""The ball that a frame cannot leave: by hand, and against the farthest that a search gets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import pytest

import robomorph
from robomorph.model.joints import JOINT_TYPES
from robomorph.robot import Robot
from robomorph.tasks import Position
from robomorph.tasks.reach import frame_reach, joint_travel

LIMITED = {"revolute": 3.0, "prismatic": 0.3}
Joint = tuple[str, Iterable[float], Iterable[float], Iterable[float]]  # kind, axis, xyz, rpy


def made(joints: Sequence[Joint]) -> Robot:
    """A chain of links l0, l1 ..."""
    text = ""
    for i in range(len(joints) + 1):
        text += (
            f'<link name="l{i}"><inertial><mass value="1"/>'
            '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        )
    for i, (kind, axis, place, turn) in enumerate(joints):
        xyz, rpy, along = (" ".join(map(repr, map(float, v))) for v in (place, turn, axis))
        end = LIMITED.get(kind)
        limit = f'<limit lower="{-end}" upper="{end}" effort="9" velocity="9"/>' if end else ""
        axis_text = "" if kind in ("fixed", "spherical") else f'<axis xyz="{along}"/>'
        text += (
            f'<joint name="j{i}" type="{kind}"><parent link="l{i}"/><child link="l{i + 1}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/>{axis_text}{limit}</joint>'
        )
    return robomorph.load(f'<robot name="chain">{text}</robot>')


def reach(robot: Robot) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], float]:
    """Centre and radius of the last link's ball."""
    bodies = robot.model.bodies
    travel = [joint_travel(JOINT_TYPES[b.kind], b.limits.lower, b.limits.upper) for b in bodies]
    ball = frame_reach(robot.specialiser.tree(regroup=False), robot.link_names[-1], travel)
    assert ball is not None
    return np.array(ball[0]), ball[1]


@pytest.mark.parametrize("height", [0.0, 0.5, -3.0])
def test_two_parallel_axes_by_hand(height: float) -> None:
    """Stretched, the tip is 1.25 m away from the first axis and `height` above its joint: the lengths of the
    links alone, 1 + hypot(0.25, height), say more."""
    joints: list[Joint] = [
        ("continuous", (0, 0, 1), (0, 0, 0), (0, 0, 0)),
        ("continuous", (0, 0, 1), (1, 0, 0), (0, 0, 0)),
        ("fixed", (0, 0, 1), (0, 0.25, height), (0, 0, 0)),
    ]
    robot = made(joints)
    centre, radius = reach(robot)
    assert radius == pytest.approx(math.hypot(1.25, height - centre[2]), rel=1e-12)
    inside = np.array([1.25, 0.0, height])
    assert robot.inverse_kinematics(inside, "l3").success
    outside = robot.inverse_kinematics(centre + 1.001 * (inside - centre), "l3", starts=4)
    assert not outside.success and outside.reason.startswith("out of reach")


def random_joints(rng: np.random.Generator, count: int) -> list[Joint]:
    kinds = rng.choice(["continuous", "continuous", "revolute", "prismatic", "spherical"], count)
    out: list[Joint] = []
    for kind in kinds:
        axis = rng.normal(size=3) if rng.integers(2) else np.eye(3)[rng.integers(3)]
        turn = rng.choice([0.0, 1e-3, math.pi / 2, 1.0], 3)  # parallel, nearly parallel, skew
        place = rng.normal(size=3) * rng.integers(0, 2, 3)
        out.append((str(kind), axis / np.linalg.norm(axis), place, turn))
    return [*out, ("fixed", (0, 0, 1), rng.normal(size=3), (0, 0, 0))]


@pytest.mark.parametrize("seed", range(25))
def test_no_search_leaves_the_ball(seed: int) -> None:
    """Random configurations stay inside, and so does the nearest that a search gets to points far outside."""
    rng = np.random.default_rng(seed)
    robot = made(random_joints(rng, int(rng.integers(2, 6))))
    centre, radius = reach(robot)
    tip = robot.link_names[-1]
    q = robot.random_state(rng, batch=500).q
    assert np.linalg.norm(robot.forward_kinematics(q, tip)[:, :3, 3] - centre, axis=-1).max() <= radius
    away = rng.normal(size=(8, 3))
    far = centre + 2.0 * radius * away / np.linalg.norm(away, axis=-1, keepdims=True)
    result = robot.inverse_kinematics(far, tip, starts=8)
    assert (result.position_error >= radius * (1.0 - 1e-9)).all()


def test_what_is_not_bounded_proves_nothing() -> None:
    """A slide without an end, and lengths that leave the range of numbers."""
    robot = made([("prismatic", (0, 1, 0), (1, 0, 0), (0, 0, 0)), ("fixed", (0, 0, 1), (0, 1, 0), (0, 0, 0))])
    tree = robot.specialiser.tree(regroup=False)
    assert frame_reach(tree, "l2", [math.inf]) is None
    far = np.array([1e9, 0.0, 0.0])
    for travel in (math.inf, math.nan, 1e308):
        assert Position("l2").out_of_reach(tree, far, [travel], 0.0) is None
    assert Position("l2").out_of_reach(tree, far, [1.0], 0.0) is not None
