"""Plans of random robots, judged by Pinocchio; what is proven is proven by the second program too."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytest.importorskip("flint")
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import robomorph
from robomorph.checker import check_plan
from robomorph.errors import ModelWarning
from robomorph.planning.certificate.plans import problem_of
from tests.oracle.random_trees import RandomRobot, random_robots
from tests.oracle.reference import Reference, build
from tests.planning.random_motions import Asked

_SEEDS = st.integers(0, 2**32 - 1)
_SLOW = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]
_PHASES = (Phase.explicit, Phase.generate)  # a smaller robot is another problem: shrinking would take minutes


def judged(description: RandomRobot, seed: int, folder: Path) -> bool:
    """Is there a plan? Then it holds, and is proven by both programs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = robomorph.load(description.text, mimic=description.mimic)
    reference = Reference(robot, build(description.text))
    rng = np.random.default_rng(seed)
    asked = Asked(robot, reference, rng).everything()
    plan = asked.motion.solve(["jerk", None, "energy"][rng.integers(3)])
    if not plan.success:
        assert len(plan.reason) > 10
        return False
    beyond, what = asked.worst(plan)
    assert beyond < 1e-6, f"{what}: {beyond:.3g}"
    certificate = plan.certify()
    if certificate.proven:
        assert beyond < 1e-9, f"proven, but {what}: {beyond:.3g}"
        plan.save(folder / "plan.json")
        check_plan(json.loads((folder / "plan.json").read_text()), problem_of(asked.motion))
    else:  # a moving end exactly at its bound, an instant met to rounding
        assert all(proof.gap > -1e-8 * max(1.0, abs(proof.low)) for proof in certificate.failed)
    return True


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,  # the fuzz has others
    database=None,
    suppress_health_check=_SLOW,
    phases=_PHASES,
)
@given(random_robots(most_joints=5, narrow=True), _SEEDS)
def test_plans_of_random_robots(tmp_path: Path, description: RandomRobot, seed: int) -> None:
    judged(description, seed, tmp_path)


@pytest.mark.fuzz
@settings(max_examples=500, deadline=None, suppress_health_check=_SLOW, phases=_PHASES)
@given(random_robots(most_joints=6, narrow=True), _SEEDS)
def test_plans_of_many_random_robots(tmp_path: Path, description: RandomRobot, seed: int) -> None:
    judged(description, seed, tmp_path)
