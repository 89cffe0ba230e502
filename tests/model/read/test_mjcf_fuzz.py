"""Mutated MJCF: whatever MuJoCo compiles agrees with MuJoCo, or is refused by name; nothing else happens."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest

from robomorph.errors import ModelError
from robomorph.robot import Robot
from tests.model.read.mjcf_effort import effort_excess, effort_slack, limit_difference
from tests.model.read.mjcf_passive import passive_difference
from tests.model.read.mujoco_oracle import differences, load, mj_model
from tests.model.read.mutate_mjcf import mutated

KINDS = re.compile(r"ignore=\[(.*?)\]")
TOLERANCE = 1e-9
# What no robot has: beside the kinds that can be left out, the only reasons to refuse a file.
SENSELESS = (
    *("finite numbers of at most", "an axis of length 1", "a ref of at most"),
    "a quaternion of length 1",  # of an axis and angle that overflow
)


def outcome(seed: int) -> str:
    """Load one file as MuJoCo does and compare; how it ended: "refused by both", "refused" or "agrees"."""
    rng = random.Random(seed)
    text, snap = mutated(rng), rng.choice((0.0, 1e-10))
    try:
        model = mj_model(text)
    except Exception:
        with pytest.raises(ModelError):
            load(text, snap=snap)
        return "refused by both"
    try:
        robot, ignore = _loaded(text, snap)
    except ModelError as error:
        assert any(reason in str(error) for reason in SENSELESS), f"seed {seed}: {error}"
        return "refused"
    _agree(robot, model, seed, ignore, text)
    return "agrees, without " + ", ".join(ignore) if ignore else "agrees"


def _loaded(text: str, snap: float) -> tuple[Robot, list[str]]:
    """The robot without what it cannot have, and the kinds of that."""
    try:
        return load(text, snap=snap), []
    except ModelError as error:
        named = KINDS.search(str(error))
        if named is None:
            raise
    ignore = [word.strip(" '") for word in named[1].split(",")]
    return load(text, snap=snap, ignore=ignore), ignore


def _agree(robot: Robot, model: Any, seed: int, ignore: list[str], text: str) -> None:
    assert robot.nv == model.nv, f"seed {seed}"
    with np.errstate(over="ignore", invalid="ignore"):
        found = differences(robot, model, seed, 1, compiled=False)
        found["passive"] = 0.0 if ignore else passive_difference(robot, model, seed)
        forced = not {"tendon", "actuator", "gravcomp"} & {*ignore}
        found["effort"] = effort_excess(robot, model, seed) if forced else 0.0
        found["slack of effort"] = effort_slack(robot, model) if forced else 0.0
        found["limits"] = limit_difference(robot, model)
    # Far from the origin, or turned often, all digits that are left are the size's; MuJoCo's inertias have
    # its square.
    sizes = [
        np.abs(array).max(initial=0.0)
        for array in (model.body_pos, model.jnt_pos, model.qpos0, model.body_ipos)
    ]
    assert max(found.values()) < TOLERANCE + 1e-15 * max(sizes) + 1e-15 * max(sizes) ** 2, (
        f"seed {seed}, without {ignore}: {found}\n{text}"
    )


def test_sample_agrees_or_is_refused() -> None:
    _summary([outcome(seed) for seed in range(150)])


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(30))
def test_many_agree_or_are_refused(block: int) -> None:
    _summary([outcome(seed) for seed in range(1000 + 100 * block, 1100 + 100 * block)])


def _summary(outcomes: list[str]) -> None:
    """A fuzz that is refused throughout shows nothing."""
    agreed = [one for one in outcomes if one.startswith("agrees")]
    assert len(agreed) > 0.4 * len(outcomes), outcomes
