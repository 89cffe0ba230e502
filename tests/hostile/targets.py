"""Kernels of every target for small robots, and states for them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import Robot, targets
from tests.model.samples import joint, link
from tests.model.samples import robot as robot_text
from tests.targets.test_every_target import CHIPS, NEEDS, NOT_RUN

Array = npt.NDArray[Any]

# CUDA needs its own machine: what it would run is tried in tests/targets/gpu. Chips refuse without a tool.
TARGETS = [
    pytest.param(name, marks=() if name in CHIPS else NEEDS.get(name, ()))
    for name in targets.TARGETS
    if name not in NOT_RUN
]
FLEXIBLE = [param for param in TARGETS if param.values[0] not in CHIPS]

ROBOTS = {
    "chain": lambda: robomorph.load("chain:2"),
    "planar": lambda: robomorph.load(
        robot_text(
            link("base"), link("plate"), link("arm"),
            joint("table", "base", "plate", "planar"), joint("hinge", "plate", "arm", axis="0 1 0"),
        )
    ),
    "floating": lambda: robomorph.load(
        robot_text(
            link("base"), link("drone"), link("arm"),
            joint("free", "base", "drone", "floating"), joint("hinge", "drone", "arm", axis="0 1 0"),
        )
    ),
    # two units in one configuration, neither at its start
    "both": lambda: robomorph.load(
        robot_text(
            link("base"), link("slider"), link("plate"), link("drone"),
            joint("rail", "base", "slider", "prismatic"), joint("table", "slider", "plate", "planar"),
            joint("free", "slider", "drone", "floating"),
        )
    ),
}  # fmt: skip


@cache
def robot(name: str) -> Robot:
    return ROBOTS[name]()


@cache
def kernel(name: str, algorithm: str, target: str, dtype: str = "float64", **options: Any) -> Any:
    return robot(name).compile(algorithm, target=target, dtype=dtype, **options)


def states(name: str, lead: tuple[int, ...] = (), dtype: str = "float64") -> list[Array]:
    """q, qd and another vector of nv entries."""
    made = robot(name)
    q, qd = made.random_state(rng=3, batch=lead)
    more = np.random.default_rng(4).uniform(-1, 1, (*lead, made.nv))
    return [q.astype(dtype), qd.astype(dtype), more.astype(dtype)]
