"""A Monte Carlo of loops, against loops that are simulated one by one by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.errors import ArgumentError
from robomorph.mpc import Controller, Delay, Push, RobotPlant, simulate
from robomorph.mpc.studies.loops import draw_reach, reach_case
from robomorph.scaleout import MonteCarlo
from robomorph.scaleout.jobs.files import read_lines
from tests.scaleout.jobs.running import contents, done_here

SMALL: dict[str, Any] = {"horizon": 10, "rate": 100.0, "seconds": 0.4, "levels": 1, "shard_size": 2}


@pytest.fixture(scope="module")
def arm() -> robomorph.Robot:
    return robomorph.load("iiwa14")


def test_runs_are_the_loops_of_one_process(arm: robomorph.Robot, tmp_path: Path) -> None:
    job = MonteCarlo(arm, 3, seed=2, **SMALL)
    facts = done_here(job, tmp_path)
    rows = list(read_lines(sorted(tmp_path.glob("shard-*"))))
    assert [row["run"] for row in rows] == [0, 1, 2]
    problem = reach_case(arm, 10, job.dt).problem
    for row in rows:
        start, goal = draw_reach(arm, row["seed"])
        loop = simulate(
            Controller(problem, iterations=1, period=0.01, threads=1),
            RobotPlant(arm, payload=row["payload"] or None),
            seconds=0.4,
            start=start,
            reference=goal,
            pushes=[Push(row["push"], row["pushed"], 0.05)],
            delay=Delay(row["delay"]),
        )
        np.testing.assert_array_equal(row["last_q"], loop.q[-1])
        assert (row["error_left"], row["success"]) == (loop.left, loop.success)
        assert row["unsolved_ticks"] == int((~loop.solved).sum())
    worst = max(rows, key=lambda row: row["error_left"])
    assert facts["worst"][0] == worst
    assert facts["quantiles"]["error_left"]["100%"] == worst["error_left"]
    assert facts["quantiles"]["error_left"]["50%"] == np.median([row["error_left"] for row in rows])


def test_a_run_can_be_repeated_alone(arm: robomorph.Robot, tmp_path: Path) -> None:
    """Nothing is left over from the runs before it."""
    job = MonteCarlo(arm, 3, **SMALL)
    done_here(job, tmp_path)
    rows = list(read_lines(sorted(tmp_path.glob("shard-*"))))
    np.testing.assert_array_equal(job.loop(1).q[-1], rows[1]["last_q"])


def test_troubles_are_within_what_was_asked(arm: robomorph.Robot) -> None:
    job = MonteCarlo(arm, 50, payload=2.0, delay=0.02, push=30.0, levels=4, seconds=1.0)
    drawn = [job.drawn(run) for run in range(50)]
    assert {run.payload for run in drawn} == {0.0, 0.5, 1.0, 1.5, 2.0}
    assert all(0.0 <= run.delay < 0.02 and 0.2 <= run.pushed <= 0.6 for run in drawn)
    forces = [float(np.linalg.norm(run.push)) for run in drawn]
    assert max(forces) < 30.0 and max(forces) > 20.0 and len({run.seed for run in drawn}) == 50


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"runs": 0}, "runs: expected"),
        ({"payload": -1.0}, "payload: expected a number of 0 or more"),
        ({"rate": 0.0}, "rate: expected a number above 0"),
        ({"delay": float("nan")}, "delay: expected a finite number"),
        ({"horizon": 0}, "horizon"),
        ({"levels": 0}, "levels: expected"),
    ],
)
def test_odd_input_is_refused(arm: robomorph.Robot, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        MonteCarlo(arm, **{"runs": 3, **options})


def test_the_same_files_again(tmp_path: Path) -> None:
    for name in ("a", "b"):
        done_here(MonteCarlo(robomorph.load("iiwa14"), 2, **SMALL), tmp_path / name)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
