"""Batches of scenarios, against plans that are made one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robomorph.errors import ArgumentError
from robomorph.planning import load_scenario
from robomorph.scaleout import Scenarios
from robomorph.scaleout.jobs.files import read_lines
from tests.scaleout.jobs.running import done_here


def test_plans_are_those_of_one_process(tmp_path: Path) -> None:
    facts = done_here(Scenarios(["arm"], goals=3, seed=1, prove=True, shard_size=2), tmp_path)
    rows = list(read_lines(sorted(tmp_path.glob("shard-*"))))
    assert facts["plans"] == len(rows) == 3 and facts["solved"] == sum(row["success"] for row in rows)
    scenario = load_scenario("arm")
    for row in rows:
        motion = scenario.motion()
        plan = (motion.towards(row["end"]) if row["goal"] else motion).solve(scenario.cost, threads=2)
        np.testing.assert_array_equal(row["control"], plan.control)
        assert (row["cost"], row["success"]) == (plan.cost, plan.success)
        np.testing.assert_allclose(plan.q(plan.seconds), row["end"], atol=1e-9)
    ends = np.array([row["end"] for row in rows])
    limits = scenario.robot.robot.limits
    assert len(np.unique(ends, axis=0)) == 3
    assert ((ends >= limits.lower) & (ends <= limits.upper)).all()


def test_more_goals_add_rows_at_the_end() -> None:
    few, many = (
        Scenarios(["arm", "kick"], goals=n) if n == 1 else Scenarios(["arm"], goals=n) for n in (1, 3)
    )
    assert len(few.shards()) == 2 and len(many.shards()) == 3
    fewer = Scenarios(["arm"], goals=2)
    assert fewer.describe() == many.describe() and fewer.shards() == many.shards()[:2]


FREE = """
robot = { load = "iiwa14" }
[motion]
seconds = 1.0
start = [0.0, 0.5, 0.0, -1.0, 0.0, 0.5, 0.0]
[limits]
position = true
"""


def test_a_motion_without_an_end_has_no_random_goals(tmp_path: Path) -> None:
    free = tmp_path / "free.toml"
    free.write_text(FREE, encoding="utf-8")
    assert len(Scenarios([free]).shards()) == 1
    with pytest.raises(ArgumentError, match="no `end` that could be moved"):
        Scenarios([free], goals=2)


def test_odd_input_is_refused() -> None:
    with pytest.raises(ArgumentError, match="scenario: no file"):
        Scenarios(["no-such-motion"])
    with pytest.raises(ArgumentError, match="expected at least one"):
        Scenarios([])
    with pytest.raises(ArgumentError, match="spread"):
        Scenarios(["arm"], spread=float("nan"))
