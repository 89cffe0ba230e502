"""Design spaces and number formats in shards, against the functions that do all in one process."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

import robomorph
from robomorph.accelerators.accuracy import format_sweep
from robomorph.accelerators.space import design_space, points_of
from robomorph.errors import ArgumentError
from robomorph.scaleout import Designs, Formats
from robomorph.scaleout.jobs.chips import accelerator_of
from robomorph.targets.rtl.options import Options
from tests.scaleout.jobs.running import done_here

GRID = {"flat": ((4, 8), (1.25, 1.8)), "units": ((24,), (1.8,))}
FUNCTION = "inverse_dynamics"


@pytest.fixture(scope="module")
def arm() -> robomorph.Robot:
    return robomorph.load("chain:3")


def test_designs_and_their_front_are_those_of_one_process(arm: robomorph.Robot, tmp_path: Path) -> None:
    job = Designs(arm, FUNCTION, points=points_of(GRID), shard_size=2)
    facts = done_here(job, tmp_path)
    assert isinstance(job.options, Options)
    whole = design_space(accelerator_of(arm, FUNCTION, None, job.options), GRID)
    designs = json.loads((tmp_path / "designs.json").read_text(encoding="utf-8"))["designs"]
    assert designs == whole and len(whole) == 5
    assert facts["pareto"] == [one for one in whole if one["pareto"]]


def test_formats_are_those_of_one_process(arm: robomorph.Robot, tmp_path: Path) -> None:
    job = Formats(arm, (12, 16, 24), FUNCTION, states=50)
    facts = done_here(job, tmp_path)
    assert isinstance(job.options, Options)
    accelerator = accelerator_of(arm, FUNCTION, None, job.options)
    arguments = accelerator.sample(50, seed=11)
    for kind, uniform in (("per_signal", False), ("single_format", True)):
        whole = [asdict(one) for one in format_sweep(accelerator, arguments, (12, 16, 24), uniform=uniform)]
        assert facts[kind] == json.loads(json.dumps(whole))


def test_the_default_grid_is_that_of_the_command(arm: robomorph.Robot) -> None:
    assert Designs(arm, FUNCTION).points == tuple(points_of())


def test_odd_input_is_refused(arm: robomorph.Robot) -> None:
    with pytest.raises(ArgumentError, match="no_such_function"):
        Designs(arm, "no_such_function")
    with pytest.raises(ArgumentError, match="points: expected the structure"):
        Designs(arm, FUNCTION, points=[("round", 1, 1.0)])
    with pytest.raises(ArgumentError, match="points: expected at least one"):
        Designs(arm, FUNCTION, points=[])
    with pytest.raises(ArgumentError, match="bits: expected"):
        Formats(arm, (1,), FUNCTION)
    with pytest.raises(ArgumentError, match="bits: expected at least one"):
        Formats(arm, (), FUNCTION)
    with pytest.raises(ArgumentError, match="options: expected"):
        Formats(arm, options=3)  # type: ignore[arg-type]
