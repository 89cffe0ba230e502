"""Synthesis results kept in files, and the figures drawn from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robomorph.cli.main import main
from robomorph.errors import ArgumentError
from robomorph.report.rtl_resources import describe
from robomorph.report.synthesis import load_results, save_results, synthesis_records
from tests.targets.rtl.toolchains import needs_verilator, needs_yosys


def report_of(target: str, figures: dict[str, float]) -> dict[str, Any]:
    """As `robomorph rtl --json` prints it, without the parts that results do not need."""
    made = {"target": target, "tool": "yosys", "cells": {}, "figures": figures, "seconds": 1.0}
    return {
        "robot": "arm",
        "function": "forward_dynamics_gradient",
        "numbers": "Q16.16",
        "minv": "given",
        "estimates": {"interval": 24},
        "synthesis_any": made,
    }


def test_saved_results_come_back(tmp_path: Path) -> None:
    records = synthesis_records(report_of("ultrascale+", {"dsp48e2": 4.0}))
    save_results(records, tmp_path / "saved.json")
    (tmp_path / "report.json").write_text(json.dumps(report_of("ecp5-85k", {"lut4": 7.0})))
    loaded = load_results([tmp_path / "saved.json", tmp_path / "report.json"])
    assert loaded[0] == records[0]
    assert loaded[1]["synthesis"]["figures"] == {"lut4": 7.0}
    assert describe(loaded[0]) == "arm forward dynamics gradient, M^-1 given, Q16.16, interval 24"


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"results": [{"robot": "arm"}]}'])
def test_files_without_results_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(ArgumentError, match=r"bad\.json: "):
        load_results([tmp_path / "bad.json"])


@needs_verilator
@needs_yosys
def test_results_are_measured_saved_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    saved, area = tmp_path / "made.json", tmp_path / "area.json"
    design = ["rtl", "chain:1", "--algorithm", "inverse_dynamics", "--bits", "12", "--no-simulate", "--json"]
    assert main([*design, "--synthesise", "ultrascale", "--save", str(saved)]) == 0
    capsys.readouterr()
    area.write_text(json.dumps(report_of("standard cells", {"area_mm2": 0.5, "power_w": 0.1})))
    files = [str(saved), str(area)]
    assert main([*design, "--plots", str(tmp_path / "figures"), "--results", *files]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [r["synthesis"]["target"] for r in report["results"]] == ["ultrascale+", "standard cells"]
    assert report["results"][0]["synthesis"]["figures"]["lut"] > 0
    drawn = {path.name for path in (tmp_path / "figures").iterdir()}
    assert {"latency_and_resources.png", "resources_ultrascale.png", "area_and_power.png"} <= drawn


def test_save_needs_a_synthesis(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rtl", "chain:1", "--save", str(tmp_path / "none.json")]) == 2
    assert "--synthesise" in capsys.readouterr().err
