"""The built-in scenarios: solved, and held at 10 kHz by Pinocchio's account of the original files."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robomorph import ModelWarning
from robomorph.planning import Plan, Scenario, built_in, load_scenario
from tests.model.oracle import example_robots
from tests.planning.humanoids import Oracle, excess

Array = npt.NDArray[Any]
SCALE = 0.01  # m and rad: what "scaled" means for positions and angles
ROBOTS = ("atlas", "talos", "g1") if example_robots() else ("atlas",)
SIZES = {"squat": 196, "feet": 196, "kick": 336, "squats": 1876}


@cache
def scenario(name: str, robot: str) -> Scenario:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        found = load_scenario(name, robot)
        _ = found.robot.robot
        return found


@cache
def solved(name: str, robot: str, solver: str, free: bool = False) -> Plan:
    own = scenario(name, robot)
    return own.motion().solve(None if free else own.cost, solver=solver)


def held(name: str, robot: str, plan: Plan) -> float:
    """The largest violation, scaled, by Pinocchio."""
    own = scenario(name, robot).robot
    oracle = Oracle(plan, own)
    hand, swing = own.frame("hand"), own.frame("swing")
    poses, mass = oracle.poses((hand, swing))
    t, limits = oracle.t, plan.robot.limits
    found = [
        excess(plan.q(t), limits.lower, limits.upper),
        excess(plan.qd(t) / limits.velocity, -1.0, 1.0),
    ]
    if name == "kick":
        found += _kick(own, t, poses, mass, hand, swing)
    else:
        middle = (t >= 1.6) & (t <= 2.4)
        found.append(excess(mass[middle, 2], -np.inf, mass[0, 2] - 0.15) / SCALE)
        found += _over(own, "swing", poses[swing][0], mass[middle])
    if name == "squat":
        up = poses[hand][0, :3, :3].T @ [0.0, 0.0, 1.0]
        tilt = np.arccos(np.clip((poses[hand][:, :3, :3] @ up)[:, 2], -1, 1))
        found.append(excess(tilt, -np.inf, 0.01 * np.sqrt(2)) / SCALE)
    if name == "feet":
        found += _still(poses[swing], 1e-3, 2e-3)
    return max(found)


def _kick(own: Any, t: Array, poses: dict[str, Array], mass: Array, hand: str, swing: str) -> list[float]:
    x = poses[swing][:, 0, 3]
    speed = np.gradient(x, t, edge_order=2)  # 1e-4 s apart: some 1e-8 of error
    inside = (t >= 7 / 3) & (t <= 8 / 3)
    return [
        excess(speed[inside], 1.0, np.inf),
        *_over(own, "stance", np.eye(4), mass),
        *_still(poses[hand], 0.01, 0.01),
    ]


def _over(own: Any, sole: str, pose: Array, mass: Array) -> list[float]:
    rectangle = own.soles[sole]
    sides = [(mass[:, i] - pose[i, 3], rectangle[axis]) for i, axis in enumerate("xy")]
    return [excess(values, low, high) / SCALE for values, (low, high) in sides]


def _still(poses: Array, metres: float, radians: float) -> list[float]:
    turn = poses[0, :3, :3].T @ poses[:, :3, :3]
    angle = np.arccos(np.clip((np.trace(turn, axis1=1, axis2=2) - 1) / 2, -1, 1))
    sine = np.stack(
        [turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]], -1
    )
    vector = sine / 2 / np.sinc(angle / np.pi)[:, None]
    return [
        excess(poses[:, :3, 3] - poses[0, :3, 3], -metres, metres) / SCALE,
        excess(vector, -radians, radians) / SCALE,
    ]


@pytest.mark.parametrize("free", [False, True], ids=["jerk", "no cost"])
@pytest.mark.parametrize("name", ["squat", "feet", "kick"])
def test_atlas_holds_at_10_khz(name: str, free: bool) -> None:
    plan = solved(name, "atlas", "native", free)
    assert plan.success, plan.reason
    assert held(name, "atlas", plan) < 1e-6
    assert not [m for m in plan.violations() if m.scaled < -1e-6]


@pytest.mark.parametrize("name", ["squat", "feet", "kick"])
def test_ipopt_agrees(name: str) -> None:
    plan = solved(name, "atlas", "ipopt")
    assert plan.success and held(name, "atlas", plan) < 1e-6
    assert np.isclose(plan.cost, solved(name, "atlas", "native").cost, rtol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("robot", ROBOTS[1:])
@pytest.mark.parametrize("name", ["squat", "feet", "kick"])
def test_other_humanoids(name: str, robot: str) -> None:
    """Nothing tuned for them."""
    for solver in ("native", "ipopt"):
        plan = solved(name, robot, solver)
        assert plan.success, plan.reason
        assert held(name, robot, plan) < 1e-6


@pytest.mark.parametrize("name", SIZES)
def test_sizes(name: str) -> None:
    """As many variables as the paper's and no fewer constraints."""
    own = scenario(name, "atlas")
    plan = own.motion().solve(callback=lambda state: False)
    assert plan.sizes is not None and plan.sizes.variables == SIZES[name]
    if own.paper:
        assert plan.sizes.variables == own.paper["variables"] and plan.sizes.rows >= own.paper["constraints"]
    assert plan.sizes.nonzeros < plan.sizes.nonzeros_dense
    if name == "squats":
        assert plan.sizes.constraints >= 30_000


@pytest.mark.slow
def test_torque_limits_bind() -> None:
    plan = solved("kick-torque", "atlas", "native")
    assert plan.success and not [m for m in plan.violations() if m.scaled < -1e-6]
    assert next(m for m in plan.margins if m.name == "torque limits").scaled < 5e-3


def test_the_arm_is_at_its_limits() -> None:
    own = load_scenario("arm")
    plan = own.motion().solve(own.cost)
    assert plan.success and not [m for m in plan.violations() if m.scaled < -1e-6]
    nearest = {m.name: m.scaled for m in plan.margins}
    assert nearest["torque limits"] < 5e-3


def test_all_are_known() -> None:
    assert {"arm", "feet", "kick", "kick-torque", "squat", "squats"} <= set(built_in())
    for name in built_in():
        assert load_scenario(name).motion().requirements
