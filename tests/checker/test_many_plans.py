"""The two programs on many plans that the planner found: arms of all makes, and humanoids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flint", reason="needs the package python-flint")
from robomorph.checker import check_plan
from robomorph.planning import Motion, Plan, load_scenario
from robomorph.tasks import Position
from tests.model.oracle import example_robot

from .plans import quiet

ARMS = ("iiwa14", "panda", "ur5_robot", "ur10_robot", "kinova", "xarm7", "z1", "talos_left_arm", "so100")
HUMANOIDS = (("squat", "atlas"), ("feet", "atlas"), ("kick", "atlas"), ("squat", "talos"), ("squat", "g1"))


def proven_twice(plan: Plan, folder: Path) -> None:
    assert plan.success, plan.reason
    certificate = plan.certify()
    assert certificate.proven, "\n".join(map(str, certificate.failed))
    plan.save(folder / "plan.json")
    report = check_plan(json.loads((folder / "plan.json").read_text()))
    assert len(report.rows) == len(certificate.proofs)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ARMS)
def test_arms(name: str, seed: int, tmp_path: Path) -> None:
    robot = quiet(example_robot(name) or name)
    rng = np.random.default_rng(seed)
    room = np.minimum(robot.limits.upper - robot.limits.lower, 2.0)
    middle = np.clip(0.0, robot.limits.lower + 0.4 * room, robot.limits.upper - 0.4 * room)
    start, end = (middle + 0.3 * room * rng.uniform(-1, 1, robot.nv) for _ in range(2))
    motion = Motion(robot, 2.0, 8, start, end)
    held = np.where(np.isfinite(robot.limits.effort), robot.limits.effort, 1e3)
    at_rest = np.abs(
        robot.inverse_dynamics(*np.stack([[start, end], np.zeros((2, robot.nv)), np.zeros((2, robot.nv))]))
    )
    motion.limits(position=True, velocity=True, torque=np.maximum(held, 1.5 * at_rest.max(axis=0) + 0.1))
    frame = robot.link_names[-1]
    places: Any = robot.forward_kinematics(np.stack([start, end]), frame)[:, :3, 3]
    motion.keep(Position(frame), lower=places.min(axis=0) - 0.3, upper=places.max(axis=0) + 0.3)
    proven_twice(motion.solve(), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("scenario", "robot"), HUMANOIDS)
def test_humanoids(scenario: str, robot: str, tmp_path: Path) -> None:
    proven_twice(load_scenario(scenario, robot).motion().solve(), tmp_path)
