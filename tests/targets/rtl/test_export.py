"""The exported folder: complete, and its own testbench passes, and fails when a vector is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from robomorph.errors import ArgumentError
from robomorph.export.rtl import export_accelerator
from robomorph.report.rtl_drawing import block_diagram, timeline
from robomorph.targets.rtl.synthesis import check_by_yosys, synthesise_ecp5
from robomorph.targets.rtl.tools import find_verilator, verilator_env
from tests.targets.rtl.accelerators import accelerator
from tests.targets.rtl.toolchains import needs_verilator, needs_yosys


def make(goal: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a goal of the exported Makefile with the tools of this environment."""
    tool = find_verilator()
    command = ["make", goal, f"VERILATOR={tool.binary}", f"PYTHON={sys.executable}"]
    env = {**os.environ, **verilator_env(tool)}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


@needs_verilator
@needs_yosys
@pytest.mark.slow
@pytest.mark.parametrize("boundary", ["fixed", "float32"])
def test_makefile_of_a_clean_export(tmp_path: Path, boundary: str) -> None:
    """Lint, simulation and synthesis pass; the testbench notices a wrong word."""
    a = accelerator("chain:2", "inverse_dynamics", interval=8, bits=16, trig="host", boundary=boundary)
    export_accelerator(a, tmp_path)
    clean = make("lint", tmp_path)
    assert clean.returncode == 0 and "Warning" not in clean.stdout + clean.stderr, clean.stderr
    good = make("simulate", tmp_path)
    assert "PASSED" in good.stdout and good.returncode == 0, good.stdout + good.stderr
    made = make("synthesise", tmp_path)
    assert made.returncode == 0 and "DSP48E2" in made.stdout, made.stdout[-2000:] + made.stderr
    expected = tmp_path / "sim" / "expected.hex"
    lines = expected.read_text().splitlines()
    for beat in (0, 3, -1):
        changed = [*lines]
        changed[beat] = f"{int(lines[beat], 16) ^ 1:x}"
        expected.write_text("\n".join(changed) + "\n")
        bad = make("simulate", tmp_path)
        assert bad.returncode != 0 and "PASSED" not in bad.stdout and "1 wrong beats" in bad.stdout


def test_folder_describes_every_word(tmp_path: Path) -> None:
    a = accelerator("chain:2", "forward_dynamics_gradient", interval=16)
    export_accelerator(a, tmp_path)
    manifest = json.loads((tmp_path / "design.json").read_text())
    assert [w["name"] for w in manifest["outputs"]][:3] == ["qdd[0]", "qdd[1]", "dqdd_dq[0,0]"]
    assert len(manifest["inputs"]) == manifest["streams"]["in"]["words"]
    assert (tmp_path / "docs" / "register_map.md").read_text().count("| `") == len(
        manifest["inputs"] + manifest["outputs"]
    )
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "precious.txt").write_text("mine")
    with pytest.raises(ArgumentError, match="expected an empty folder"):
        export_accelerator(a, tmp_path / "other")


def test_exporting_again_removes_what_the_earlier_export_wrote_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "chip"
    export_accelerator(accelerator("chain:3", "inverse_dynamics", interval=12, structure="units"), folder)
    before = {f.name for f in (folder / "rtl").iterdir()}
    mine = folder / "rtl" / "mine.sv"
    outside = tmp_path / "outside.txt"
    for file in (mine, outside):
        file.write_text("mine")
    manifest = json.loads((folder / "design.json").read_text())
    manifest["files"] += ["../outside.txt", "nowhere.sv"]
    (folder / "design.json").write_text(json.dumps(manifest))
    after = accelerator("chain:2", "inverse_dynamics", interval=8, trig="host")
    written = export_accelerator(after, folder)
    present = {f for f in folder.rglob("*") if f.is_file()}
    assert present == {*written, mine}
    assert outside.exists()
    assert before - {f.name for f in written}  # there was something to remove
    assert set(json.loads((folder / "design.json").read_text())["files"]) == {
        str(f.relative_to(folder)) for f in written
    }


def test_a_manifest_of_another_program_is_no_earlier_export(tmp_path: Path) -> None:
    (tmp_path / "design.json").write_text('{"files": ["precious.txt"]}')
    (tmp_path / "precious.txt").write_text("mine")
    a = accelerator("chain:2", "inverse_dynamics", interval=8, trig="host")
    with pytest.raises(ArgumentError, match="expected an empty folder"):
        export_accelerator(a, tmp_path)
    export_accelerator(a, tmp_path, force=True)
    assert (tmp_path / "precious.txt").exists()


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"interval": 8}, ["rm_stream_in", "rm_control", "shared multipliers", "rm_stream_out"]),
        ({"interval": 8, "boundary": "float32"}, ["rm_float_to_fixed", "rm_fixed_to_float"]),
        ({"interval": 12, "structure": "units"}, ["1 x velocities", "fold"]),
    ],
    ids=["flat", "float32", "units"],
)
def test_drawings_are_well_formed_and_name_the_parts(options: dict[str, Any], names: list[str]) -> None:
    design = accelerator("chain:3", "inverse_dynamics", **options).design
    drawing = "".join(ElementTree.fromstring(block_diagram(design)).itertext())
    for name in names:
        assert name in drawing
    bars = ElementTree.fromstring(timeline(design)).iter("{http://www.w3.org/2000/svg}title")
    cycles = {int(str(bar.text).split()[1].rstrip(":")) for bar in bars}
    assert cycles and max(cycles) < design.schedule.length


@needs_yosys
@pytest.mark.parametrize(("robot", "bits"), [("chain:2", 16), ("iiwa14", 32)])
def test_yosys_reads_complete_designs(robot: str, bits: int) -> None:
    a = accelerator(robot, "forward_dynamics_gradient", interval=48, bits=bits)
    assert check_by_yosys(a.design) > a.design.stats.adders


@needs_yosys
@pytest.mark.slow
def test_synthesis_of_a_small_design() -> None:
    a = accelerator("chain:2", "inverse_dynamics", interval=24, bits=16, trig="host")
    made = synthesise_ecp5(a.design, place=False)
    assert made.figures["mult18x18d"] == a.design.stats.multipliers
    assert made.figures["ff"] > 0 and made.figures["lut4"] > 0
