"""The exported inverse-kinematics chip: its testbench passes, and fails when a vector is wrong; a host can
make and read words from its manifest; its drawings fit."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from robomorph.export.ik_chip import export_chip
from robomorph.export.ik_chip_vectors import make_vectors, reachable
from robomorph.report.ik_chip_drawing import chip_blocks, chip_timeline
from robomorph.targets.rtl.ik.cycles import cycles_of, period
from robomorph.targets.rtl.ik.stream_words import CONVERGED
from robomorph.targets.rtl.simulate import Simulation
from tests.targets.rtl.ik.solves import QUIET, case
from tests.targets.rtl.test_export import make
from tests.targets.rtl.toolchains import needs_verilator, needs_yosys

SMALL: dict[str, Any] = {"units": 2, "speculations": 4}


@needs_verilator
def test_the_folders_testbench(tmp_path: Path) -> None:
    """Passes as written, and notices a wrong word, a wrong flag and a wrong problem."""
    one = case("chain:2", units=1, speculations=4, problems=1)
    export_chip(one.robot, one.chip, tmp_path)
    clean = make("lint", tmp_path)
    assert clean.returncode == 0 and "Warning" not in clean.stdout + clean.stderr, clean.stderr
    good = make("simulate", tmp_path)
    assert "24 states" in good.stdout and "PASSED" in good.stdout and good.returncode == 0, good.stderr
    for name, beat, bits in (("expected", 5, 1), ("expected", 0, 1 << 32), ("stimulus", 0, 1 << 12)):
        file = tmp_path / "sim" / f"{name}.hex"
        text = file.read_text()
        lines = text.splitlines()
        lines[beat] = f"{int(lines[beat], 16) ^ bits:x}"
        file.write_text("\n".join(lines) + "\n")
        bad = make("simulate", tmp_path)
        assert bad.returncode != 0 and "PASSED" not in bad.stdout, name
        file.write_text(text)


@needs_verilator
@needs_yosys
@pytest.mark.slow
def test_the_makefile_of_a_real_arm(tmp_path: Path) -> None:
    one = case("iiwa14")
    export_chip(one.robot, one.chip, tmp_path)
    assert make("lint", tmp_path).returncode == 0
    good = make("simulate", tmp_path)
    assert "PASSED" in good.stdout and good.returncode == 0, good.stdout + good.stderr
    made = make("synthesise", tmp_path)
    assert made.returncode == 0 and "DSP48E2" in made.stdout, made.stdout[-2000:] + made.stderr


def test_vectors_have_all_modes_and_several_endings() -> None:
    one = case("chain:3", **SMALL)
    vectors = make_vectors(one.robot, one.chip)
    assert {problems.mode for problems in vectors.problems} == {
        "quick-ik",
        "relaxed-quick-ik",
        "speculative-newton",
    }
    ends = {int(status) for answers in vectors.answers for status in answers.status}
    assert CONVERGED in ends and len(ends) > 1
    slow = case("chain:100", units=1, speculations=64, problems=1)
    longest = slow.design.timing.solve(3, 64)
    assert longest < make_vectors(slow.robot, slow.chip).quiet
    assert longest > 20_000


class Host:
    """Words from the manifest alone, as a driver would make them."""

    def __init__(self, manifest: dict[str, Any]) -> None:
        self.m = manifest

    def problem(
        self, target: Any, q: Any, *, tolerance: float, cap: int, mode: str, patience: int, seed: int
    ) -> list[int]:
        position, threshold = self.m["position"], self.m["threshold"]
        moved = [target[a] - position["base_translation_m"][a] for a in range(3)]
        most = (1 << position["bits"] - 1) - 1
        words = []
        for axis in range(3):
            x = sum(position["base_rotation"][a][axis] * moved[a] for a in range(3))
            word = math.floor(x / position["unit_m"] * 2 ** position["fraction_bits"] + 0.5)
            words.append(max(-most, min(most, word)))
        square = math.floor(((tolerance - threshold["lowered_by_m"]) / position["last_place_m"]) ** 2)
        tried = self.m["control"]["speculations"][mode]
        control = self.m["control"]["modes"][mode] | int(math.log2(tried)) << 4 | patience << 8 | seed << 16
        words += [square & 0xFFFFFFFF, square >> 32, cap, control]
        return [*words, *(self.angle(c, q[c["q_index"]])[0] for c in self.m["coordinates"])]

    @staticmethod
    def angle(c: dict[str, Any], q: float) -> tuple[int, int]:
        """The word, and what dropped out of it."""
        word = math.floor((q * c["scale"] + c["zero"]) * 2 ** c["fraction_bits"] + 0.5)
        if c["limited"]:
            return max(c["lower_word"], min(c["upper_word"], word)), 0
        span = 1 << c["bits"]
        whole = (word + span // 2) // span
        return word - whole * span, whole * span

    def solution(self, words: Any, start: Any) -> list[float]:
        """q, from the words of a result and the start."""
        q = [float(x) for x in start]
        for c, word in zip(self.m["coordinates"], words[4:], strict=True):
            whole = self.angle(c, q[c["q_index"]])[1]
            value = ((int(word) + whole) * 2.0 ** -c["fraction_bits"] - c["zero"]) / c["scale"]
            low, high = c["limits"]
            value = value if low is None else max(low, value)
            q[c["q_index"]] = value if high is None else min(high, value)
        return q


@pytest.mark.parametrize("name", ["chain:3", "iiwa14", "hyq", "mixed:0", "mixed:1"])
def test_a_host_needs_the_manifest_alone(name: str, tmp_path: Path) -> None:
    """Arms with limits, without, with sliding and coupled joints, and a base that stands somewhere."""
    one = case(name, **SMALL)
    export_chip(one.robot, one.chip, tmp_path)
    host = Host(json.loads((tmp_path / "design.json").read_text()))
    targets, starts = reachable(one.robot, one.frame, 20, seed=3)
    if name == "chain:3":
        starts = 40.0 * starts  # several turns away
    ours = one.words(targets, starts, mode=2, k_log=2, cap=30, patience=9, tolerance=2e-2)
    seeds = (ours[:, 6] >> 16) & 0xFFFF
    options: dict[str, Any] = {"tolerance": 2e-2, "cap": 30, "mode": "speculative-newton", "patience": 9}
    theirs = [
        host.problem(target, start, seed=int(seed), **options)
        for target, start, seed in zip(targets, starts, seeds, strict=True)
    ]
    np.testing.assert_array_equal(np.array(theirs) & 0xFFFFFFFF, ours & 0xFFFFFFFF)
    answers = one.solve(ours)
    q = [host.solution(words, start) for words, start in zip(answers.words, starts, strict=True)]
    places = one.robot.forward_kinematics(np.array(q), one.frame)[:, :3, 3]
    solved = answers.status == CONVERGED
    assert solved.any()
    assert (np.linalg.norm(places - targets, axis=1)[solved] <= 2e-2).all()


def test_the_folder_describes_every_word(tmp_path: Path) -> None:
    one = case("mixed:0", **SMALL)
    export_chip(one.robot, one.chip, tmp_path)
    manifest = json.loads((tmp_path / "design.json").read_text())
    words = manifest["inputs"] + manifest["outputs"]
    streams = manifest["streams"]
    assert len(manifest["inputs"]) == streams["in"]["words"] and len(words) == sum(
        stream["words"] for stream in streams.values()
    )
    assert (tmp_path / "docs" / "register_map.md").read_text().count("| `") == len(words)
    readme = (tmp_path / "README.md").read_text()
    assert all(f"`{word['name']}`" in readme for word in words) and "@" not in readme
    vectors = make_vectors(one.robot, one.chip)
    first = " ".join(f"{int(w) & 0xFFFFFFFF:08x}" for w in vectors.words[0])
    assert first in readme
    lines = (tmp_path / "sim" / "stimulus.hex").read_text().split()
    assert [int(x, 16) for x in lines[: len(manifest["inputs"])]] == [int(x, 16) for x in first.split()]


# --- cycles and drawings ----------------------------------------------------------------------------------


@needs_verilator
@pytest.mark.parametrize(("units", "problems"), [(2, 2), (1, 2)])
def test_problems_in_flight_take_turns_as_drawn(units: int, problems: int) -> None:
    """Twenty iterations more take as many cycles as the drawing's model says."""
    one = case("chain:3", units=units, problems=problems, speculations=16)
    ends = []
    simulation = Simulation(one.design)
    for cap in (20, 40):
        words = one.random(problems, 2, tolerance=None, cap=cap)
        assert (one.solve(words).iterations == cap).all()
        ends.append(int(simulation.run(words, quiet=QUIET).finished[-1]))
    assert (ends[1] - ends[0]) / (20 * problems) == period(one.design.timing, 16, problems)


def test_terms_of_the_formula() -> None:
    timing = case("iiwa14", units=4, speculations=64).design.timing
    for newton in (False, True):
        found = cycles_of(timing, 16, newton=newton, relaxed=False)
        assert found.joints * (found.serial_gap + found.search_gap) + found.constant == found.iteration
        assert found.outside + 3 * found.iteration == timing.solve(3, 16, newton=newton)


@pytest.mark.parametrize(
    ("name", "knobs"),
    [
        ("chain:100", {"units": 16}),
        ("iiwa14", {}),
        ("hyq", {"units": 1, "speculations": 1, "problems": 1}),
        ("mixed:0", {"units": 64, "speculations": 1024, "problems": 8}),
    ],
)
def test_drawings_fit_and_name_the_parts(name: str, knobs: dict[str, Any]) -> None:
    design = case(name, **knobs).design
    drawing = ElementTree.fromstring(chip_blocks(design))
    said = " ".join(drawing.itertext())
    for part in ("rm_ik_load", "rm_ik_unload", "rm_ik_control", "w unit", "CORDIC", "selector", "M = J J^T"):
        assert part in said
    assert f"{design.plan.input_words} words a problem" in said
    box: dict[str, str] = {}
    for shape in drawing:
        if shape.tag.endswith("rect"):
            box = shape.attrib if "rx" in shape.attrib else {}
        elif shape.tag.endswith("text") and box and shape.text:
            wide = 7.4 if "font-weight" in shape.attrib else 6.9  # a letter, on average, of 13 units
            end = float(shape.attrib["x"]) + wide * len(shape.text)
            assert end <= float(box["x"]) + float(box["width"]), shape.text
        else:
            box = {}
    lines = " ".join(ElementTree.fromstring(chip_timeline(design)).itertext())
    assert f"{design.timing.iteration(design.plan.knobs.speculations)} cycles" in lines
    assert "problems in flight" in lines or "one problem in flight" in lines
