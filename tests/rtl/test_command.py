"""`robomorph rtl` and `robomorph export --target rtl`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from robomorph.cli.main import main
from tests.rtl.toolchains import needs_verilator


@needs_verilator
def test_report_keeps_estimates_and_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rtl", "chain:2", "--no-simulate", "--interval", "12", "--sweep", "12,24", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["lint"] == "" and "simulated" not in report
    assert report["estimates"]["interval"] <= 12
    narrow, wide = report["sweep"]["per_signal"]
    assert max(o["worst"] for o in wide["outputs"]) < max(o["worst"] for o in narrow["outputs"])
    assert report["ranges"]["largest_proven"] >= report["ranges"]["largest_profiled"]


@needs_verilator
def test_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rtl", "chain:2", "--interval", "12", "--states", "20"]) == 0
    said = capsys.readouterr().out
    assert "every bit equals the interpreter" in said
    assert "lint: clean" in said
    assert "signals to widen first" in said and "largest magnitude, proven" in said


def test_design_space_has_both_structures(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--algorithm", "inverse_dynamics", "--no-simulate", "--space", "--json"]
    assert main(["rtl", "chain:2", *options]) == 0
    designs = json.loads(capsys.readouterr().out)["space"]
    assert {d["structure"] for d in designs} == {"flat", "units"}
    front = [d for d in designs if d["pareto"]]
    assert 0 < len(front) < len(designs)
    fewest = min(designs, key=lambda d: (d["multipliers"], d["all_adders"], d["time_per_state"]))
    assert any(d["multipliers"] == fewest["multipliers"] for d in front)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--interval", "0"], "interval: expected a whole number, at least 1, found 0"),
        (["--bits", "3"], "bits: expected a whole number, at least 8"),
        (["--bits", "64"], "bits: expected 8 to 32"),
        (["--format", "Q99.1"], "8 to 32 bits"),
        (["--format", "Q0.0"], "8 to 32 bits"),
        (["--period", "nan"], "period: expected a positive number"),
        (["--latency", "0"], "latency: expected"),
        (["--speed", "nan"], "speed: expected a positive number"),
        (["--states", "0"], "--states: expected at least 1"),
        (["--units", "2"], "only for structure='units'"),
        (["--structure", "units", "--units", "leftward=2"], "unknown name 'leftward'"),
        (["--structure", "units", "--fold", "0"], "fold: expected"),
    ],
)
def test_wrong_numbers_are_refused(
    options: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rtl", "chain:2", "--algorithm", "inverse_dynamics", *options]) == 2
    assert complaint in capsys.readouterr().err


def test_robot_that_does_not_move_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    still = tmp_path / "still.urdf"
    still.write_text('<robot name="still"><link name="base"/></robot>')
    assert main(["rtl", str(still)]) == 2
    assert "still: no joint moves" in capsys.readouterr().err


def test_wrong_synthesis_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rtl", "chain:2", "--synthesise", "magic"]) == 2
    assert "ultrascale" in capsys.readouterr().err


def test_export_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "chain:2", "--target", "rtl", "-o", str(tmp_path / "out"), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)["designs"]
    (about,) = made.values()
    assert (tmp_path / "out" / "rtl" / f"{about['top']}.sv").exists()
    assert (tmp_path / "out" / "docs" / "blocks.svg").read_text().startswith("<svg")
