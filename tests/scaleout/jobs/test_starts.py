"""Planning from many starts, against `motion.solve(starts=...)` in one process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robomorph.checker.check import check_plan
from robomorph.errors import ArgumentError
from robomorph.planning import load_scenario
from robomorph.scaleout import Starts
from robomorph.scaleout.jobs.files import read_lines
from tests.scaleout.jobs.running import contents, done_here


def test_the_best_of_the_starts_is_the_one_that_one_process_finds(tmp_path: Path) -> None:
    facts = done_here(Starts("arm", 5, shard_size=2), tmp_path)
    scenario = load_scenario("arm")
    plan = scenario.motion().solve(scenario.cost, starts=5, threads=2)
    rows = list(read_lines(sorted(tmp_path.glob("shard-*"))))
    best = rows[facts["best"]]
    assert [row["start"] for row in rows] == [0, 1, 2, 3, 4]
    assert facts["solved"] == 5 and facts["proven"] and facts["repeated"]
    np.testing.assert_array_equal(best["control"], plan.control)
    assert (best["cost"], best["seconds"]) == (plan.cost, plan.seconds) == (facts["cost"], facts["seconds"])
    costs = [row["cost"] for row in facts["table"]]
    assert costs == sorted(costs)


def test_the_plan_that_is_saved_is_proven_by_a_second_program(tmp_path: Path) -> None:
    done_here(Starts("arm", 2, shard_size=2), tmp_path)
    plan = json.loads((tmp_path / "best.json").read_text(encoding="utf-8"))
    assert check_plan(plan).joints == 7  # raises if it is not proven


def test_starts_do_not_depend_on_how_they_are_cut() -> None:
    job = Starts("arm", 6, seed=4)
    motion = load_scenario("arm").motion()
    whole = job.guesses(motion, 0, 6)
    cut = [*job.guesses(motion, 0, 1), *job.guesses(motion, 1, 3), *job.guesses(motion, 4, 2)]
    np.testing.assert_array_equal(cut, whole)
    assert len({guess.tobytes() for guess in whole}) == 6
    other = Starts("arm", 6, seed=5).guesses(motion, 0, 6)
    np.testing.assert_array_equal(other[0], whole[0])  # the guess itself
    assert not np.array_equal(other[1], whole[1])


def test_a_file_of_ones_own_goes_with_the_job(tmp_path: Path) -> None:
    """Workers have neither the scenario's file nor anything beside it."""
    text = (Path(__file__).parents[3] / "src/robomorph/planning/scenarios/arm.toml").read_text(
        encoding="utf-8"
    )
    own = tmp_path / "own.toml"
    own.write_text(text, encoding="utf-8")
    job = Starts(own, 1)
    own.unlink()
    facts = done_here(job, tmp_path / "out")
    assert facts["solved"] == 1
    assert str(tmp_path) not in json.dumps(job.describe())


def test_what_a_plan_depends_on_is_described() -> None:
    base = Starts("arm", 2).describe()
    for other in (Starts("arm", 2, seed=1), Starts("arm", 2, cost=None), Starts("kick", 2)):
        assert other.describe() != base
    assert Starts("arm", 9).describe() == base


@pytest.mark.parametrize(
    ("scenario", "options", "words"),
    [
        ("no-such-motion", {}, "scenario: no file 'no-such-motion'"),
        ("arm", {"starts": 0}, "starts: expected"),
        ("arm", {"method": "paper"}, "method: expected"),
        ("arm", {"robot": "no-such-robot"}, "no-such-robot"),
    ],
)
def test_odd_input_is_refused(scenario: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        Starts(scenario, **{"starts": 2, **options})


def test_the_same_files_again(tmp_path: Path) -> None:
    for name in ("a", "b"):
        done_here(Starts("arm", 3, shard_size=2), tmp_path / name)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
