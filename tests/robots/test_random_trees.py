"""200 random robots against Pinocchio: random shapes, axes, joint types, mimics and inertias."""

from __future__ import annotations

import warnings
from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

import robomorph
from robomorph import ModelWarning, Robot
from tests.oracle.calls import sample
from tests.oracle.random_trees import RandomRobot, random_robots

pytest.importorskip("pinocchio", reason="needs the package pin")

from tests.oracle.checks import CHECKS, Subject
from tests.oracle.reference import Reference, build

SHARDS, TREES = 8, 25  # 200 trees; in shards, so that they share the work of several processes
STATES = 2
# The same algorithms without external forces add nothing but time.
COVERED = ("forward_dynamics", "inverse_dynamics_gradient", "forward_dynamics_gradient")
FUNCTIONS = {name: check for name, check in CHECKS.items() if name not in COVERED}
QUIET = settings(
    max_examples=TREES,
    deadline=None,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)


def pair(drawn: RandomRobot) -> tuple[Robot, Reference]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = robomorph.load(drawn.text, floating_base=drawn.floating, mimic=drawn.mimic)
    return robot, Reference(robot, build(drawn.text, floating=drawn.floating))


@pytest.mark.parametrize("shard", range(SHARDS))
def test_interpreter_agrees_with_pinocchio(shard: int) -> None:
    seen: Counter[str] = Counter()

    @seed(shard)
    @settings(QUIET)
    @given(random_robots())
    def check(drawn: RandomRobot) -> None:
        seen["trees"] += 1
        robot, reference = pair(drawn)
        seen.update({body.kind for body in robot.model.bodies}, coupled=reference.coupled)
        for one in FUNCTIONS.values():
            one(Subject(robot, reference, sample(robot, shard, STATES), "interpreter"))

    check()
    assert seen["trees"] >= TREES
    for kind in ("revolute", "continuous", "prismatic", "planar", "spherical", "floating", "coupled"):
        assert seen[kind] > 0, f"no tree had {kind}: {seen}"


@pytest.mark.parametrize("shard", range(2))
def test_compiled_code_agrees_with_pinocchio(shard: int) -> None:
    @seed(100 + shard)
    @settings(QUIET, max_examples=4)
    @given(random_robots(most_joints=4))
    def check(drawn: RandomRobot) -> None:
        robot, reference = pair(drawn)
        for one in CHECKS.values():
            one(Subject(robot, reference, sample(robot, shard, 9), "cpu"))

    check()
