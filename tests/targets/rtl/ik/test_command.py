"""`robomorph rtl --algorithm quick_ik` and `robomorph export --functions quick_ik`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robomorph.accelerators.ik.knobs import make_knobs
from robomorph.accelerators.ik.problems import MODES, mode_speculations
from robomorph.cli import ik_chip_report
from robomorph.cli.main import main
from robomorph.errors import ArgumentError
from robomorph.ik.methods import METHODS
from robomorph.targets.rtl.chip import source_files
from robomorph.targets.rtl.ik import chip as chip_module
from robomorph.targets.rtl.ik.plan import Knobs
from robomorph.targets.rtl.ik.timing import Timing
from tests.targets.rtl.toolchains import needs_verilator

SMALL = ("--units", "1", "--speculations", "4", "--problems", "2")
RTL = ("rtl", "chain:3", "--algorithm", "quick_ik", *SMALL)


@needs_verilator
def test_report(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a robot with one end, which is taken; every figure in JSON."""
    assert main([*RTL, "--states", "4", "--max-iterations", "60", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["frame"] == "tool" and report["frame_chosen"] and report["passed"]
    assert report["chain"]["joints"] == 3 and report["chain"]["limited"] == 0
    found = report["simulated"]
    assert found["exact"] and found["cycles_exact"] and found["true"] and report["lint"] == ""
    assert set(found["modes"]) == set(MODES) == set(report["estimates"]["cycles"])
    for mode, one in report["estimates"]["cycles"].items():
        terms = one["joints"] * (one["serial_gap"] + one["search_gap"]) + one["constant"]
        assert terms == one["iteration"]
        solved = found["modes"][mode]
        assert sum(solved["statuses"].values()) == 4 and solved["cycles_compared"] > 0
        assert solved["worst_true_error_m"] <= found["tolerance_m"] == 0.01
    assert 0.0 < report["words"]["declared_error_m"] < 1e-3


@needs_verilator
def test_tables_of_one_mode(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--mode", "speculative-newton", "--states", "3", "--tolerance", "0.02"]
    assert main([*RTL, *options]) == 0
    said = capsys.readouterr().out
    assert "the robot's only end" in said and "lint: clean" in said
    assert "3 problems a mode to 0.02 m" in said
    assert "exact" in said and "equal (3)" in said
    assert "relaxed-quick-ik" not in said


@needs_verilator
def test_a_named_frame_and_knobs(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--algorithm", "quick_ik", "--frame", "lf_lowerleg", "--no-simulate", "--json"]
    chosen = ["--chip", "unit=16", "serial=18,units=2", "period=0.7", "--speculations", "8"]
    assert main(["rtl", "hyq", *options, *chosen]) == 0
    report = json.loads(capsys.readouterr().out)
    assert "simulated" not in report and not report["frame_chosen"]
    assert report["chain"]["limited"] == 3
    assert report["words"]["widths"]["unit"] == 16 and report["words"]["widths"]["serial"] == 18
    knobs = report["knobs"]
    assert (knobs["units"], knobs["speculations"], knobs["period"]) == (2, 8, 0.7)


@needs_verilator
def test_differences_fail(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A formula that is a cycle off, and hardware that is not the definition's, are found and said."""
    options = [*RTL, "--states", "2", "--mode", "quick-ik", "--json"]
    whole = Timing.solve
    with monkeypatch.context() as patch:
        patch.setattr(Timing, "solve", lambda *given, **more: whole(*given, **more) + 1)
        assert main(options) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["simulated"]["exact"] and not report["simulated"]["cycles_exact"]

    def changed(top: Any) -> dict[str, str]:
        made = source_files(top)
        line = "count_q[k] >= cap[k]"
        assert line in made["rm_ik_control.sv"]
        control = made["rm_ik_control.sv"].replace(line, "count_q[k] > cap[k]")
        return {**made, "rm_ik_control.sv": control}

    with monkeypatch.context() as patch:
        patch.setattr(chip_module, "source_files", changed)
        assert main([*options, "--max-iterations", "1"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert not report["simulated"]["exact"] and not report["passed"]


REFUSED = [
    (["--interval", "8"], "--interval: not for the inverse-kinematics chip"),
    (["--preset", "papers", "--structure", "units"], "--preset, --structure: not for the inverse-kin"),
    (["--fold", "3"], "this chip's are --chip fold=..."),
    (["--bits", "18"], "--bits: not for"),
    (["--sweep", "12,16"], "--sweep: not for the inverse-kinematics chip"),
    (["--space"], "--space: not for the inverse-kinematics chip"),
    (["--plots", "figures"], "--plots: not for the inverse-kinematics chip"),
    (["--chip", "colour=3"], "unknown knob 'colour': expected widths (unit, angle,"),
    (["--chip", "unit"], "--chip: expected NAME=VALUE"),
    (["--chip", "unit=x"], "--chip unit: expected a whole number, found 'x'"),
    (["--chip", "unit=3"], "unit: expected a whole number from 12 to 24, found 3"),
    (["--chip", "unit=16,unit=18"], "expected 'unit' once"),
    (["--chip", "period=nan"], "--chip period: expected a positive number"),
    (["--chip", "units=4"], "--units and --chip units=4: give one of them"),
    (["--units", "forward=2"], "how many search units: expected a whole number, found 'forward=2'"),
    (["--units", "3"], "units: expected a power of two"),
    (["--speculations", "0"], "speculations: expected"),
    (["--mode", "newton"], "--mode: expected quick-ik, relaxed-quick-ik, speculative-newton, found 'newton'"),
    (["--tolerance", "1e-6"], "this chip's own error may be"),
    (["--tolerance", "nan"], "tolerance: expected a positive number"),
    (["--max-iterations", "0"], "--max-iterations: expected 1 to"),
    (["--states", "0"], "--states: expected at least 1"),
    (["--frame", "nowhere"], "no link or frame called 'nowhere'"),
    (["--frame", "link_0"], "no joint moves 'link_0'"),
    (["--save", "x.json"], "--save: nothing to write without --synthesise"),
]


@pytest.mark.parametrize(("options", "complaint"), REFUSED, ids=lambda value: " ".join(value)[:40])
def test_options_that_mean_nothing_are_refused(
    options: list[str], complaint: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main([*RTL, *options]) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    ["--speculations 4", "--problems 1", "--chip unit=18", "--mode quick-ik", "--tolerance 0.1"],
)
def test_other_designs_refuse_the_chips_options(options: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rtl", "chain:2", "--algorithm", "inverse_dynamics", *options.split()]) == 2
    assert f"{options.split()[0]}: only for the inverse-kinematics chip, quick_ik" in capsys.readouterr().err


def test_a_robot_of_many_ends_must_be_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rtl", "hyq", "--algorithm", "quick_ik"]) == 2
    said = capsys.readouterr().err
    for end in ("lf_lowerleg", "rf_lowerleg", "lh_lowerleg", "rh_lowerleg"):
        assert repr(end) in said


def test_a_joint_of_another_kind_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rtl", "hyq", "--floating-base", "--algorithm", "quick_ik", "--frame", "lf_lowerleg"]) == 2
    assert "(floating): the chip turns and slides" in capsys.readouterr().err


EXPORT = ("export", "chain:3", "--target", "rtl")


def test_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside a function of the other kind, each with options of its own."""
    options = ["--functions", "quick_ik:link_3,energy", "--speculations", "4", "--bits", "18", "--json"]
    assert main([*EXPORT, *options, "-o", str(tmp_path)]) == 0
    made = json.loads(capsys.readouterr().out)["designs"]
    assert {Path(folder).name for folder in made} == {"quick_ik_link_3", "energy"}
    chip = json.loads((tmp_path / "quick_ik_link_3" / "design.json").read_text())
    assert chip["knobs"]["speculations"] == chip["knobs"]["units"] == 4
    assert json.loads((tmp_path / "energy" / "design.json").read_text())["numbers"].startswith("18-bit")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--functions", "quick_ik", "--bits", "18"], "--bits: not for the inverse-kinematics chip"),
        (["--functions", "energy", "--problems", "2"], "--problems: only for the inverse-kinematics chip"),
        (["--functions", "quick_ik,energy", "--units", "2"], "--units: search units of quick_ik, link units"),
        (["--functions", "quick_ik=q"], "--functions quick_ik: expected no outputs, found q"),
        (["--functions", "quick_ik", "--f-ext", "all"], "--f-ext: none of quick_ik"),
        (["--functions", "quick_ik", "--dtype", "float32"], "--dtype: a chip computes in fixed point"),
        (["--functions", "quick_ik:tool", "--target", "cpp"], "a chip: expected --target rtl, found cpp"),
        (["--target", "cpp", "--chip", "unit=18"], "--chip: only for --target rtl"),
    ],
)
def test_export_refuses(
    options: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*EXPORT, "-o", str(tmp_path / "out"), *options]) == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_modes_try_as_many_lengths_as_the_methods_of_the_host() -> None:
    for mode in MODES:
        assert mode_speculations(mode, Knobs()) == METHODS[mode].speculations
        assert mode_speculations(mode, Knobs(units=1, speculations=2)) == 2


def test_knobs_by_name() -> None:
    widths, knobs = make_knobs({"unit": 14, "speculations": 2})
    assert widths.unit == 14 and knobs.units == 2
    with pytest.raises(ArgumentError, match="chip: unknown knob 'unt'"):
        make_knobs({"unt": np.int64(3)})


def test_energy_is_power_over_the_cycles_of_an_iteration() -> None:
    """2 ns at 0.5 W are 1 nJ a cycle; the clock that a path of 4 ns allows decides the time."""
    figures = {"power_w": 0.5, "clock_ns": 2.0, "critical_path_ns": 4.0}
    report: dict[str, Any] = {"estimates": {"cycles": {"quick-ik": {"iteration": 2000}}}}
    assert ik_chip_report._energy(report) is None
    made = ik_chip_report._energy({**report, "synthesis_cells": {"figures": figures}})
    assert [next(iter(column.cells)) for column in made.columns] == ["quick-ik", "2000", "8.000", "2.000"]
    assert "250 MHz" in made.caption
