"""Float32 within 2e-4 (relative L2) of float64, for every function."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import Robot
from robomorph.algorithms.registry import ALGORITHMS, state_algorithms
from tests.model.oracle import example_robot
from tests.oracle.calls import sample, some_wrenches
from tests.oracle.compare import SINGLE, relative_l2

ROBOTS = {
    "iiwa14": ("iiwa14", False),
    "hyq": ("hyq", False),
    "panda": ("panda.urdf", False),
    "ur5": ("ur5_robot.urdf", False),
    "bolt": ("bolt.urdf", True),
}


@cache
def load(name: str) -> Robot:
    source, floating = ROBOTS.get(name, (name, False))
    if source.endswith(".urdf"):
        path = example_robot(source.removesuffix(".urdf"))
        if path is None:
            pytest.skip("needs the package example-robot-data")
        source = str(path)
    return robomorph.load(source, floating_base=floating)


@pytest.mark.filterwarnings("ignore::robomorph.ModelWarning")
@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("robot_name", ROBOTS)
def test_float32_is_close_to_float64(robot_name: str, name: str) -> None:
    check(load(robot_name), name)


# These take seconds to compile for a humanoid.
SLOW = {"mass_matrix_inverse", "inverse_dynamics_gradient", "forward_dynamics_gradient"}
HUMANOID = [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in state_algorithms()]


@pytest.mark.parametrize("name", HUMANOID)
def test_float32_is_close_to_float64_for_a_humanoid(name: str) -> None:
    check(load("atlas"), name)


def check(robot: Robot, name: str) -> None:
    algorithm = ALGORITHMS[name]
    args: list[Any] = sample(robot, 8, 40).astype("float32").arguments(name)
    options: dict[str, Any] = {"frame": robot.link_names[-1] if algorithm.frame else None}
    if algorithm.wrenches and "gradient" not in name:
        wrenches = some_wrenches(robot, 2, 40)
        options["f_ext"] = list(wrenches)
        args.insert(len(algorithm.inputs), np.stack(list(wrenches.values()), axis=1).astype("float32"))
    single = robot.compile(name, dtype="float32", **options)(*args)
    double = robot.compile(name, target="interpreter", **options)(*(a.astype("float64") for a in args))
    ours, theirs = (x if isinstance(x, tuple) else (x,) for x in (single, double))
    for a, b in zip(ours, theirs, strict=True):
        assert a.dtype == np.float32
        assert relative_l2(a, b) <= SINGLE
        assert relative_l2(a, b) > 0.0 or np.array_equal(b, b.astype("float32")), (
            "was it computed in float64?"
        )
