"""Scenario files: what they may say, and what is said of mistakes in them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from robomorph import ArgumentError, RobomorphError
from robomorph.cli.main import main
from robomorph.planning import load_scenario
from robomorph.planning.requirements import OfJoints, OfTask

GOOD = """\
title = "An arm"
cost = { jerk = 1.0, energy = 0.1 }

[robot]
load = "iiwa14"
frames = { tool = "lbr_iiwa_link_7" }

[robot.postures.home]
lbr_iiwa_joint_2 = 0.5
lbr_iiwa_joint_4 = -1.0

[robot.postures.away]
like = "home"
lbr_iiwa_joint_1 = 0.7

[motion]
seconds = 2.0
intervals = 6
start = "home"
end = "away"

[limits]
position = true
velocity = 0.9

[[keep]]
task = "position"
frame = "tool"
lower = [-2.0, -2.0, 0.1]
during = [0.5, 1.0]

[[keep]]
task = "posture"
joints = ["lbr_iiwa_joint_3"]
lower = -0.5
upper = 0.5
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "arm.toml"
    path.write_text(GOOD)
    return path


def test_what_a_file_says(file: Path) -> None:
    scenario = load_scenario(file)
    motion = scenario.motion()
    assert scenario.title == "An arm" and scenario.cost == {"jerk": 1.0, "energy": 0.1}
    assert motion.start is not None and motion.end is not None
    assert motion.end[0][0] == 0.7 and motion.end[0][1] == motion.start[0][1] == 0.5
    names = [r.name for r in motion.requirements]
    assert names == ["position limits", "velocity limits", "position of 'lbr_iiwa_link_7'", "posture"]
    limits, task = motion.requirements[1], motion.requirements[2]
    assert isinstance(limits, OfJoints) and np.allclose(limits.upper, 0.9 * motion.robot.limits.velocity)
    assert isinstance(task, OfTask) and task.window == (0.5, 1.0) and task.lower[2] == 0.1


def test_another_robot_for_a_scenario(tmp_path: Path, file: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(GOOD[GOOD.index("[robot]") : GOOD.index("[motion]")].replace("0.7", "0.6"))
    motion = load_scenario(file, robot="other.toml").motion()
    assert motion.end is not None and motion.end[0][0] == 0.6


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("seconds = 2.0", "seconds = [", r"arm.toml: not TOML: .*line"),
        ("[motion]", "[motions]", r"arm.toml:16: unknown key 'motions': did you mean 'motion'"),
        ("[motion]\nseconds = 2.0", "[motion]", r"arm.toml:16, \[motion\]: expected 'seconds', found none"),
        ("intervals = 6", "intervals = 2", r"arm.toml:16, \[motion\]: intervals: expected at least 4"),
        ("intervals = 6", "interval = 6", r"unknown key 'interval' of \[motion\]: did you mean 'intervals'"),
        ('"home"\nend', '"hme"\nend', r"\[motion\]: start: unknown posture 'hme': did you mean 'home'"),
        ("velocity = 0.9", "velocity = -1", r"arm.toml:22, \[limits\]: velocity: expected"),
        ("velocity = 0.9", "speed = 1", r"unknown key 'speed' of \[limits\]"),
        ('task = "position"', 'task = "postion"', r"arm.toml:26, \[keep\]: task: unknown name 'postion'"),
        ('frame = "tool"', 'frame = "tol"', r"arm.toml:26, \[keep\]: frame: unknown name 'tol'"),
        ('frame = "tool"\n', "", r"arm.toml:26, \[keep\]: frame: expected a name, found None"),
        ("during = [0.5, 1.0]", "during = [0.5, 9.0]", r"arm.toml:26, \[keep\]: during: expected a window"),
        ("lower = -0.5", "lower = 0.6", r"arm.toml:32, \[keep\]: bounds of posture: expected lower <= upper"),
        ("lower = -0.5", "lowest = 0.6", r"arm.toml:32, \[keep\]: unknown key 'lowest'"),
        ('joints = ["lbr_iiwa_joint_3"]', 'joints = ["elbow"]', r"arm.toml:32, .*unknown joint 'elbow'"),
        ('load = "iiwa14"', 'lod = "iiwa14"', r"arm.toml: unknown key 'lod' of \[robot\]"),
        ('load = "iiwa14"', "load = 3", r"\[robot\]: expected load = a name or path, found 3"),
        ('load = "iiwa14"', 'load = "iiwa15"', "iiwa15"),
        ("lbr_iiwa_joint_2 = 0.5", "elbow = 0.5", "elbow"),
    ],
)
def test_mistakes(file: Path, old: str, new: str, says: str) -> None:
    assert old in GOOD
    file.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(RobomorphError, match=says):
        load_scenario(file).motion()


def test_no_such_scenario() -> None:
    with pytest.raises(ArgumentError, match="no file 'squatt', and did you mean 'squat'"):
        load_scenario("squatt")


# --- the command ------------------------------------------------------------------------------------


def test_the_command(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(file), "--json", "--save", str(tmp_path / "plan.npz")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["success"] and found["sizes"]["variables"] == 21 and len(found["margins"]) == 4
    assert np.load(tmp_path / "plan.npz")["q"].shape == (2001, 7)


def test_tables(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(file), "--cost", "none", "--refine", "2"]) == 0
    out = capsys.readouterr().out
    assert "An arm" in out and "tree filtered" in out and "velocity limits" in out


def test_a_failure_has_exit_code_1(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(GOOD.replace("seconds = 2.0", "seconds = 0.05").replace("[0.5, 1.0]", "[0.01, 0.02]"))
    assert main(["plan", str(file)]) == 1
    assert "velocity limits" in capsys.readouterr().out


def test_bad_input_has_exit_code_2(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "nobody"]) == 2
    assert main(["plan", str(file), "--cost", "beauty"]) == 2
    assert main(["plan", str(file), "--save", "plan.txt"]) == 2
    assert "error:" in capsys.readouterr().err


def test_plots(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert main(["plan", str(file), "--plots", str(tmp_path / "figures")]) == 0
    assert sorted(p.name for p in (tmp_path / "figures").iterdir()) == [
        "constraints.png",
        "jacobian.png",
        "motion.png",
    ]


def test_files_that_are_no_text_and_postures_that_are_no_numbers(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ArgumentError, match="expected a file with text in UTF-8"):
        load_scenario(path)
    path.write_text(
        '[robot]\nload = "iiwa14"\n[robot.postures.home]\nlbr_iiwa_joint_2 = "a"\n'
        '[motion]\nseconds = 2.0\nintervals = 8\nstart = "home"\n'
    )
    with pytest.raises(ArgumentError, match="posture 'home', lbr_iiwa_joint_2: expected a finite number"):
        load_scenario(path).motion()


def test_postures_in_a_circle(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(
        '[robot]\nload = "iiwa14"\n[robot.postures.a]\nlike = "b"\n[robot.postures.b]\nlike = "a"\n'
        '[motion]\nseconds = 2.0\nintervals = 8\nstart = "a"\n'
    )
    with pytest.raises(ArgumentError, match="found a circle"):
        load_scenario(path).motion()
