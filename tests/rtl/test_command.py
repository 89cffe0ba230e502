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


def test_design_space_has_both_structures(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--algorithm", "inverse_dynamics", "--no-simulate", "--space", "--json"]
    assert main(["rtl", "chain:2", *options]) == 0
    designs = json.loads(capsys.readouterr().out)["space"]
    assert {d["structure"] for d in designs} == {"flat", "units"}
    front = [d for d in designs if d["pareto"]]
    assert 0 < len(front) < len(designs)
    fewest = min(designs, key=lambda d: (d["multipliers"], d["all_adders"], d["time_per_state"]))
    assert any(d["multipliers"] == fewest["multipliers"] for d in front)


def test_wrong_synthesis_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rtl", "chain:2", "--synthesise", "magic"]) == 2
    assert "ultrascale" in capsys.readouterr().err


def test_export_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "chain:2", "--target", "rtl", "-o", str(tmp_path / "out"), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)["designs"]
    (about,) = made.values()
    assert (tmp_path / "out" / "rtl" / f"{about['top']}.sv").exists()
    assert (tmp_path / "out" / "docs" / "blocks.svg").read_text().startswith("<svg")
