"""Control rates: curves by hand, times that are times, estimates that add up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import robomorph
from robomorph.accelerators.coprocessor import LINKS
from robomorph.cli.main import main
from robomorph.errors import ArgumentError
from robomorph.mpc.studies.chip_rates import chip_points, chip_trips
from robomorph.mpc.studies.horizons import (
    ESTIMATE,
    MEASURED,
    PUBLISHED,
    RatePoint,
    curves,
    longest,
    papers_points,
)
from robomorph.mpc.studies.rate import time_iterations
from tests.targets.rtl.toolchains import needs_verilator


def points(*pairs: tuple[int, float]) -> list[RatePoint]:
    return [RatePoint("arm", "us", n, seconds, 10, MEASURED) for n, seconds in pairs]


def test_the_longest_horizon_lies_between_points() -> None:
    curve = points((10, 1e-3), (50, 3e-3), (100, 5e-3))
    assert longest(curve, 1000.0) == (10, False)
    assert longest(curve, 250.0) == (75, False)
    assert longest(curve, 200.0) == (100, True)  # the curve ends: it might be longer
    assert longest(curve, 100.0) == (100, True)
    assert longest(curve, 2000.0) == (0, False)


def test_a_curve_that_falls_again_counts_from_its_last_point_that_fits() -> None:
    """Times are measured: a longer horizon may come out faster."""
    assert longest(points((10, 1e-3), (20, 5e-3), (30, 3e-3), (40, 5e-3)), 250.0) == (35, False)


def test_curves_are_by_robot_and_in_order() -> None:
    mixed = [*points((50, 3e-3), (10, 1e-3)), RatePoint("leg", "us", 10, 1e-3, 10, MEASURED)]
    found = curves(mixed)
    assert [p.horizon for p in found["arm", "us"]] == [10, 50]
    assert list(found) == [("arm", "us"), ("leg", "us")]


def test_the_papers_model_gives_the_papers_horizons() -> None:
    made = curves(papers_points((10, 50, 200)))
    at_250 = {who: longest(curve, 250.0)[0] for (_, who), curve in made.items()}
    assert [abs(found - wanted) <= 1 for found, wanted in zip(at_250.values(), (80, 100, 115), strict=True)]
    below = longest(made["iiwa14", "papers' model, CPU"], 1000.0)[0]
    assert 0 < below < 25  # they say: under 25 at 1 kHz
    assert {p.known for p in papers_points((10,))} == {PUBLISHED}


@pytest.mark.parametrize("limits", [False, True])
def test_iterations_are_timed(limits: bool) -> None:
    timed = time_iterations(robomorph.load("iiwa14"), (8, 16), limits=limits, iterations=3)
    assert [one.horizon for one in timed] == [8, 16]
    assert all(0.0 < one.kernel < one.seconds < 1.0 and one.best <= one.seconds for one in timed)


def test_horizons_must_be_steps() -> None:
    with pytest.raises(ArgumentError, match="horizons"):
        time_iterations(robomorph.load("iiwa14"), (0, 10))


@needs_verilator
def test_a_chip_adds_its_round_trip_to_the_host() -> None:
    trips = chip_trips(robomorph.load("chain:2"), LINKS["pcie1x8"], clock=50e6, steps=(4, 8))
    assert [t.states for t in trips.trips] == [4, 8]
    made = chip_points(trips, {4: 1e-5, 8: 2e-5}, iterations=10)
    assert [p.seconds for p in made] == [
        pytest.approx(10 * (host + trip.seconds))
        for host, trip in zip((1e-5, 2e-5), trips.trips, strict=True)
    ]
    assert {p.known for p in made} == {ESTIMATE}


def test_the_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["mpc", "rate", "iiwa14", "--horizons", "8,16", "--iterations", "2", "--json"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert {p["horizon"] for p in found["points"]} == {8, 16}
    assert {h["who"] for h in found["horizons"]} >= {"this CPU", "this CPU, limits", "papers' model, CPU"}


def test_the_command_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    assert main(["mpc", "rate", "--horizons", "8,16", "--iterations", "2", "--plots", str(tmp_path)]) == 0
    assert (tmp_path / "rates.png").stat().st_size > 1000
    assert "steps at 250 Hz" in capsys.readouterr().out


def test_unknown_links_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mpc", "rate", "--chip", "--link", "pcie1x9"]) == 2
    assert "pcie1x8" in capsys.readouterr().err
