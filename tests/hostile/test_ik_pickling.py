"""Results and targets of inverse kinematics go through pickle, copies and process pools, and compare."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import Robot
from robomorph.ik import (
    METHODS,
    AxisTarget,
    CenterOfMassTarget,
    IKOptions,
    IKResult,
    OrientationTarget,
    PoseTarget,
    PositionTarget,
)
from tests.oracle.chains import chain

FRAME = "lbr_iiwa_link_7"
INSIDE, OUTSIDE = [0.4, 0.1, 0.6], [2.0, 0.0, 0.36]


def through_pickle(protocol: int, value: Any) -> Any:
    return pickle.loads(pickle.dumps(value, protocol))


COPIES: dict[str, Callable[[Any], Any]] = {
    **{f"pickle {n}": partial(through_pickle, n) for n in range(pickle.HIGHEST_PROTOCOL + 1)},
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def results() -> dict[str, IKResult]:
    robot = robomorph.load("iiwa14")
    pose = robot.forward_kinematics(np.array([0.3, 0.6, -0.2, -1.3, 0.1, 0.9, 0.0]), FRAME)
    ball = robomorph.load(chain("revolute z", "spherical", "revolute y"))
    return {
        "solved": robot.inverse_kinematics(pose, FRAME),
        "failed": robot.inverse_kinematics(OUTSIDE, FRAME, starts=2),
        "batch": robot.inverse_kinematics(np.array([[INSIDE, OUTSIDE], [OUTSIDE, INSIDE]]), FRAME, starts=2),
        "solutions": robot.inverse_kinematics(pose, FRAME, solutions=3),
        "path": robot.inverse_kinematics(np.array([INSIDE, OUTSIDE, INSIDE]), FRAME, path=True),
        "empty": robot.inverse_kinematics(np.zeros((0, 3)), FRAME),
        "ball": ball.inverse_kinematics([0.5, 0.2, 0.3], "l3"),
    }


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("kind", ["solved", "failed", "batch", "solutions", "path", "empty", "ball"])
def test_results_come_back_as_they_were(kind: str, way: str) -> None:
    result = results()[kind]
    back = COPIES[way](result)
    assert isinstance(back, IKResult) and back == result
    for name in ("q", "success", "position_error", "rotation_error", "iterations", "starts", "active_limits"):
        np.testing.assert_array_equal(getattr(back, name), getattr(result, name))
        assert getattr(back, name).dtype == getattr(result, name).dtype
    assert type(back.reason) is type(result.reason)
    np.testing.assert_array_equal(back.reason, result.reason)
    assert repr(back) == repr(result) and bool(back) == bool(result)
    assert copy.deepcopy(back) == result  # and again, without the robot that made it


def test_a_deep_copy_stands_alone() -> None:
    result = results()["solved"]
    other = copy.deepcopy(result)
    other.q[0] += 1.0
    assert other != result and result == copy.copy(result)


def test_what_is_equal() -> None:
    robot = robomorph.load("iiwa14")
    one, same = (robot.inverse_kinematics(INSIDE, FRAME) for _ in range(2))
    other = robot.inverse_kinematics([0.4, 0.1, 0.61], FRAME)
    assert one == same and one != other and one != "converged" and one != one.q.tolist()


def solve(job: tuple[Robot, list[float]]) -> IKResult:
    robot, point = job
    return robot.inverse_kinematics(point, FRAME, starts=4)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_process_pools_return_results(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot {method}")
    robot = robomorph.load("iiwa14")
    points = [INSIDE, OUTSIDE, [0.3, -0.3, 0.5]]
    here = [solve((robot, point)) for point in points]  # threads have been started: a fork must not miss them
    with multiprocessing.get_context(method).Pool(2) as pool:
        there = pool.map_async(solve, [(robot, point) for point in points]).get(timeout=120)
    assert there == here
    assert [r.reason for r in there] == [r.reason for r in here]


def targets() -> list[Any]:
    turn = np.eye(3)
    return [
        PositionTarget("a", [1, 2, 3], weight=(1, 1, 0), tolerance=1e-3),
        OrientationTarget("a", turn, tolerance=np.array([1e-3, 1e-3, 0.5])),
        PoseTarget("a", np.eye(4), position_weight=2.0),
        AxisTarget("a", [0, 0, 1], np.array([[0.0, 0, 1], [0, 1, 0]])),
        CenterOfMassTarget([0, 0, 1.0]),
    ]


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("i", range(5))
def test_targets_come_back_as_they_were(i: int, way: str) -> None:
    target = targets()[i]
    back = COPIES[way](target)
    assert type(back) is type(target) and back == target and hash(back) == hash(target)


def test_targets_are_equal_where_their_numbers_are() -> None:
    for i, one in enumerate(targets()):
        for k, other in enumerate(targets()):
            assert (one == other) == (i == k)
    assert PositionTarget("a", [1, 2, 3]) == PositionTarget("a", np.array([1.0, 2.0, 3.0]))
    assert PositionTarget("a", [1, 2, 3]) != PositionTarget("b", [1, 2, 3])
    assert PositionTarget("a", [1, 2, 3]) != PositionTarget("a", [1, 2, 4])
    assert PositionTarget("a", [1, 2, 3]) != PositionTarget("a", [1, 2, 3], tolerance=1e-3)
    assert PositionTarget("a", [1, 2, 3]) != "a"


def test_options_and_methods_pickle() -> None:
    options = pickle.loads(pickle.dumps(IKOptions(tolerance=(1e-3, 1e-2), fixed=("a",))))
    assert options.tolerance == (1e-3, 1e-2) and options.fixed == ("a",)
    for method in METHODS.values():
        assert pickle.loads(pickle.dumps(method)) == method
