"""`robomorph rtl` and `robomorph export --target rtl`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import robomorph
from robomorph import ArgumentError
from robomorph.cli.main import main
from robomorph.cli.rtl_options import design_options
from robomorph.cli.running import make_parser
from tests.targets.rtl.toolchains import needs_verilator

RTL = ("rtl", "chain:2", "--preset", "papers")
EXPORT = ("export", "chain:2", "--target", "rtl", "--preset", "papers")


@needs_verilator
def test_report_keeps_estimates_and_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(
            [
                *RTL,
                "--no-simulate",
                "--interval",
                "12",
                "--sweep",
                "12,24",
                "--json",
            ]
        )
        == 0
    )
    report = json.loads(capsys.readouterr().out)
    assert report["lint"] == "" and "simulated" not in report
    assert report["estimates"]["interval"] <= 12
    narrow, wide = report["sweep"]["per_signal"]
    assert max(o["worst"] for o in wide["outputs"]) < max(o["worst"] for o in narrow["outputs"])
    assert report["ranges"]["largest_proven"] >= report["ranges"]["largest_profiled"]


@needs_verilator
def test_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RTL, "--interval", "12", "--states", "20"]) == 0
    said = capsys.readouterr().out
    assert "every bit equals the interpreter" in said
    assert "lint: clean" in said
    assert "signals to widen first" in said and "feeds most" in said and "largest magnitude, proven" in said
    assert "not proven: M^-1 within twice its sampled range" in " ".join(said.split())


@needs_verilator
def test_design_space_has_both_structures(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--algorithm", "inverse_dynamics", "--no-simulate", "--space", "--json"]
    assert main([*RTL, *options]) == 0
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
        (["--structure", "units", "--units", "=2"], "units: expected such as"),
        (["--structure", "units", "--fold", "0"], "fold: expected"),
        (["--no-memories"], "only for structure='units'"),
        (["--queue", "3"], "queue: expected 0 or a power of two"),
        (["--format", "Q16.16", "--bits", "18"], "give one of them"),
        (["--sweep", "4,16"], "--sweep: expected 8 to 32 bits, found 4"),
        (["--liberty", "missing.lib", "--synthesise", "cells"], "--liberty: no such file: missing.lib"),
        (["--save", "missing/x.json", "--synthesise", "ecp5"], "--save: no such folder"),
        (["--plots", "/dev/null/x"], "--plots: cannot make the folder"),
    ],
)
def test_wrong_numbers_are_refused(
    options: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*RTL, "--algorithm", "inverse_dynamics", *options]) == 2
    assert complaint in capsys.readouterr().err


def test_robot_that_does_not_move_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    still = tmp_path / "still.urdf"
    still.write_text('<robot name="still"><link name="base"/></robot>')
    assert main(["rtl", str(still)]) == 2
    assert "still: no joint moves" in capsys.readouterr().err


def test_wrong_synthesis_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RTL, "--synthesise", "magic"]) == 2
    assert "ultrascale" in capsys.readouterr().err


def test_export_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*EXPORT, "-o", str(tmp_path / "out"), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)["designs"]
    (about,) = made.values()
    assert (tmp_path / "out" / "rtl" / f"{about['top']}.sv").exists()
    assert (tmp_path / "out" / "docs" / "blocks.svg").read_text().startswith("<svg")


def exported(folder: Path, *options: str) -> dict[str, dict[str, Any]]:
    """The manifests of the designs that the command wrote, by folder below `folder`."""
    assert main([*EXPORT, "-o", str(folder), *options]) == 0
    found = folder.rglob("design.json")
    return {str(f.parent.relative_to(folder)): json.loads(f.read_text()) for f in found}


def test_export_takes_design_options(tmp_path: Path) -> None:
    options = ["--bits", "18", "--trig", "chip", "--interval", "6", "--boundary", "float32"]
    (about,) = exported(tmp_path, "--functions", "inverse_dynamics", *options).values()
    assert about["numbers"].startswith("18-bit") and about["boundary"] == "float32"
    assert about["estimates"]["interval"] == 6 and about["estimates"]["rotate_units"] > 0


def test_export_without_options_is_the_papers_design(tmp_path: Path) -> None:
    (about,) = exported(tmp_path).values()
    arguments = {word["name"].partition("[")[0] for word in about["inputs"]}
    assert arguments == {"qd", "qdd", "trig", "minv"}


def test_export_takes_frames_wrenches_and_outputs(tmp_path: Path) -> None:
    frame = robomorph.load("chain:2").model.link_names[-1]
    wanted = "inverse_dynamics,forward_dynamics_gradient=qdd+dqdd_dq"
    made = exported(tmp_path, "--functions", wanted, "--frames", frame, "--f-ext", frame)
    assert set(made) == {
        "inverse_dynamics",
        "forward_dynamics_gradient",
        f"forward_kinematics_{frame}",
        f"jacobian_{frame}",
        f"jacobian_rate_{frame}",
        f"frame_velocity_{frame}",
        f"frame_acceleration_{frame}",
    }
    assert made[f"jacobian_{frame}"]["top"] == f"chain_2_jacobian_{frame}_top"
    assert any(word["name"].startswith("f_ext") for word in made["inverse_dynamics"]["inputs"])
    results = {word["name"].partition("[")[0] for word in made["forward_dynamics_gradient"]["outputs"]}
    assert results == {"qdd", "dqdd_dq"}  # qdd was asked for, so M^-1 is not given


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--target", "rtl", "--dtype", "float32"], "--boundary float32"),
        (["--target", "rtl", "--name", "mine"], "--name: designs are named after"),
        (["--target", "rtl", "--functions", "mass_matrix", "--f-ext", "all"], "--f-ext: none of mass_matrix"),
        (["--target", "rtl", "--functions", "energy,energy"], "energy would be exported twice"),
        (
            ["--target", "rtl", "--functions", "forward_dynamics_gradient=qdd", "--minv", "given"],
            "not qdd: use --minv chip",
        ),
        (["--bits", "32", "--unit-latency", "3"], "--bits, --unit-latency: only for --target rtl"),
    ],
)
def test_export_refuses_options_that_mean_nothing(
    options: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "chain:2", "-o", str(tmp_path / "out"), *options]) == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@needs_verilator
def test_jacobian_of_a_frame_with_proven_ranges(capsys: pytest.CaptureFixture[str]) -> None:
    frame = robomorph.load("chain:2").model.link_names[-1]
    options = ["--algorithm", "jacobian", "--ranges", "proven", "--states", "20", "--json"]
    assert main([*RTL, "--frame", frame, *options]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["simulated"]["exact"] and report["errors"]["overflows"] == 0
    assert main([*RTL, *options]) == 2
    assert "frame: jacobian is about one frame" in capsys.readouterr().err


@pytest.mark.parametrize("algorithm", ["forward_dynamics_gradient", "inverse_dynamics"])
@pytest.mark.parametrize("preset", ["complete", "papers"])
def test_the_command_and_the_call_build_the_same_chip(preset: str, algorithm: str) -> None:
    """By default, and from any preset."""
    parser = make_parser()
    words = ["rtl", "chain:2", "--algorithm", algorithm]
    named = parser.parse_args([*words, "--preset", preset])
    kernel: Any = robomorph.load("chain:2").compile(algorithm, target="rtl", preset=preset)
    assert design_options(named, algorithm) == kernel.accelerator.options
    if preset == "complete":
        bare: Any = robomorph.load("chain:2").compile(algorithm, target="rtl")
        assert design_options(parser.parse_args(words), algorithm) == bare.accelerator.options
    given = "given" if (preset, algorithm) == ("papers", "forward_dynamics_gradient") else "chip"
    assert kernel.accelerator.options.minv == given


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(ArgumentError, match="preset: expected one of complete, papers"):
        robomorph.load("chain:2").compile("energy", target="rtl", preset="small")
