"""Robots and targets that searches on devices are tried on, and what their answers are held against."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import robomorph
from robomorph import Robot
from robomorph.bench.chain_problems import chain_problems
from robomorph.bench.solution_check import PinocchioCheck
from robomorph.ik import IKResult
from tests.ik.arms import arm
from tests.oracle.reference import Reference

Array = npt.NDArray[Any]
QUICK: dict[str, Any] = {"method": "quick-ik"}
FRAMES = {"iiwa14": "lbr_iiwa_link_7", "hyq": "lf_lowerleg", "atlas": "l_hand", "panda": "panda_leftfinger"}


class Problems(NamedTuple):
    robot: Robot
    frame: str
    targets: Array  # (n, 3)
    starts: Array  # (n, nq)
    tolerance: float

    def solve(self, **options: Any) -> IKResult:
        given = {**QUICK, "tolerance": self.tolerance, **options}
        return self.robot.inverse_kinematics(self.targets, self.frame, self.starts, **given)


@cache
def chain(joints: int) -> Robot:
    return robomorph.load(f"chain:{joints}")


def problems(name: str, count: int) -> Problems:
    """Set B of a chain to 1e-2 m; of a robot, positions of random configurations from other ones, to 1e-4."""
    if name.startswith("chain:"):
        robot = chain(int(name.removeprefix("chain:")))
        given = chain_problems(robot, "B", count)
        return Problems(robot, "tool", given.targets, given.starts, 1e-2)
    robot = arm(name)[0]
    rng = np.random.default_rng(5)
    lower, upper = np.maximum(robot.limits.lower, -3.0), np.minimum(robot.limits.upper, 3.0)
    ends, starts = rng.uniform(lower, upper, (2, count, robot.nq))
    targets = robot.forward_kinematics(ends, FRAMES[name])[:, :3, 3]
    return Problems(robot, FRAMES[name], np.ascontiguousarray(targets), starts, 1e-4)


def assert_holds(name: str, given: Problems, result: IKResult) -> None:
    """Every claimed solution by Pinocchio, and inside the limits."""
    assert np.all(result.q >= given.robot.limits.lower) and np.all(result.q <= given.robot.limits.upper)
    if name.startswith("chain:"):
        check = PinocchioCheck(given.robot, name)
        good = check.holds(result.q, given.frame, given.targets, given.tolerance)
        assert np.all(good[result.success])
        return
    reference: Reference = arm(name)[1]
    for q, success, target in zip(result.q, result.success, given.targets, strict=True):
        if success:
            found = reference.forward_kinematics(q, given.frame)[:3, 3]
            assert np.linalg.norm(found - target) <= given.tolerance * (1 + 1e-9)


def assert_agrees(cpu: IKResult, device: IKResult, same: float) -> None:
    """The same iterations in at least a share of the problems, and there the same q within rounding, which
    the steps of a long search let grow."""
    equal = cpu.iterations == device.iterations
    assert equal.mean() >= same, (equal.mean(), cpu.iterations, device.iterations)
    away = np.abs(cpu.q - device.q).max(axis=-1)
    assert np.median(away[equal]) < 1e-6
    few = equal & (cpu.iterations <= 20)
    assert not few.any() or np.max(away[few]) < 1e-9
    assert np.array_equal(cpu.success[equal], device.success[equal])


def assert_same_motion(given: Problems, a: Array, b: Array) -> None:
    """The same coordinates (n, nq), but for joints that turn the frame where it is: those follow rounding."""
    columns = given.robot.jacobian(a, given.frame)[:, :3]
    moves = np.linalg.norm(columns, axis=1) > 1e-9
    assert moves.any(axis=-1).all()
    assert np.max(np.abs(a - b)[moves]) < 1e-9
