"""Negative numbers, lists, and options about the robot, as people write them, for every command."""

from __future__ import annotations

import argparse
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.cli.main import COMMANDS, main
from robomorph.cli.running import make_parser

SPELLINGS = ("-1", "-0.4", "-.5", "-4e-1", "-4E+2", "-1.e3", "-1,0", "-4e-1,-2,.5", "-1,", "-inf", "-nan")
# What a command needs beside the option that is tried.
NEEDED = {
    "info": ["iiwa14"],
    "dataset": ["iiwa14", "-o", "out", "--function", "energy", "--states", "10"],
    "export": ["iiwa14", "-o", "out"],
    "ik": ["iiwa14", "--position", "0", "0", "1"],
}


def parser_of(command: str) -> argparse.ArgumentParser:
    (subparsers,) = [a for a in make_parser()._actions if isinstance(a, argparse._SubParsersAction)]
    parser: argparse.ArgumentParser = subparsers.choices[command]
    return parser


def options() -> Iterator[tuple[str, str]]:
    """Every option of every command that takes something."""
    for command in COMMANDS:
        for action in parser_of(command)._actions:
            if action.option_strings and action.nargs != 0:
                yield command, action.option_strings[-1]


# Commands that load no robot of the command line's, or several: a plan and a scenario say themselves what
# theirs is, and a sweep has commands of its own.
WITHOUT_ROBOT = ("robots", "bench", "check", "plan", "report", "sweep")
OF_SEVERAL = ("view",)  # robots


def usage_error(capsys: pytest.CaptureFixture[str], command: str, *words: str) -> str:
    """What the parser says of the words; empty if it takes them."""
    try:
        parser_of(command).parse_args(list(words))
    except SystemExit:
        return capsys.readouterr().err
    return ""


@pytest.mark.parametrize(("command", "flag"), list(options()))
def test_a_negative_number_is_a_value(command: str, flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It may be refused as a value, but never taken for another option."""
    for text in SPELLINGS:
        found = usage_error(capsys, command, *NEEDED.get(command, []), flag, text)
        assert "expected one argument" not in found and "expected at least one argument" not in found, text
        assert "unrecognized" not in found and "expected 3 arguments" not in found, text


@pytest.mark.parametrize(
    "words",
    [
        ["-4e-1", "-.2", "+0.6"],
        ["-4e-1,-.2,.6"],
        ["-4e-1,", "-.2,", ".6"],
        ["-4e-1 -.2 .6"],
        [" -.4 ,-.2", ".6 "],
    ],
)
def test_a_position_in_every_spelling(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ik", "iiwa14", "--position", *words, "--json"]) == 0
    q = np.array(json.loads(capsys.readouterr().out)["q"])
    robot = robomorph.load("iiwa14")
    found = robot.forward_kinematics(q, robot.link_names[-1])[:3, 3]
    np.testing.assert_allclose(found, [-0.4, -0.2, 0.6], atol=2e-5)


@pytest.mark.parametrize(
    "words",
    [
        ["--q0", "-1,0,0,-1e-1,0,0,0"],
        ["--q0=-1,0,0,-1e-1,0,0,0"],
        ["--q0", "-1", *["0", "0", "-1e-1", "0", "0", "0"]],
    ],
)
def test_a_start_in_every_spelling(words: list[str]) -> None:
    found = parser_of("ik").parse_args(["iiwa14", "--position", "0", "0", "1", *words])
    assert found.q0 == [-1, 0, 0, -0.1, 0, 0, 0]


@pytest.mark.parametrize(
    "words",
    [["-1,0,-9.81"], ["-1", "0", "-9.81"], ["-1,", "0,", "-9.81"], ["-1e0,-0,-981e-2"], ["-1 0 -9.81"]],
)
@pytest.mark.parametrize("command", [c for c in COMMANDS if c not in WITHOUT_ROBOT])
@pytest.mark.parametrize("robot_last", [False, True])
def test_gravity_for_every_command(words: list[str], command: str, robot_last: bool) -> None:
    """Before or after the robot."""
    gravity, more = ["--gravity", *words], NEEDED.get(command, ["iiwa14"])[1:]
    line = [*gravity, "hyq", *more] if robot_last else ["hyq", *gravity, *more]
    found = parser_of(command).parse_args(line)
    robot = found.robots[0] if command in OF_SEVERAL else found.robot
    assert (found.gravity, robot) == ([-1, 0, -9.81], "hyq")


def test_gravity_arrives(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "chain:2", "--gravity", "-1e0", "0", "-9.81", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["gravity"] == [-1, 0, -9.81]


LISTS = [
    ("export", "--functions", ["mass_matrix", "energy"]),
    ("export", "--frames", ["lbr_iiwa_link_1", "lbr_iiwa_link_2"]),
    ("export", "--f-ext", ["lbr_iiwa_link_1", "lbr_iiwa_link_2"]),
    ("compile", "--algorithms", ["mass_matrix", "energy"]),
    ("compile", "--derivatives", ["vjp", "second"]),
    ("info", "--ignore", ["tendon", "equality"]),
    ("view", "--ignore", ["tendon", "equality"]),
    ("bench", "--only", ["steps", "threads"]),
    ("report", "--only", ["sparsity", "operations"]),
    ("rtl", "--synthesise", ["ecp5", "cells"]),
    ("rtl", "--sweep", ["12", "16"]),
    ("gpu-report", "--arch", ["80", "90"]),
    ("rtl", "--units", ["forward=2", "backward=1"]),
]


@pytest.mark.parametrize(("command", "flag", "items"), LISTS)
def test_lists_take_commas_and_spaces_before_and_after_the_robot(
    command: str, flag: str, items: list[str]
) -> None:
    parser, dest = parser_of(command), flag.strip("-").replace("-", "_")
    more = ["-o", "out"] if command == "export" else []
    a, b = items
    spellings = [[f"{a},{b}"], [a, b], [f"{a},", b], [f"{a}, {b}"]]
    robot = "robots" if command in ("bench", "report", "view") else "robot"
    wanted = vars(parser.parse_args(["hyq", flag, f"{a},{b}", *more]))
    for words in spellings:
        lines = (["hyq", flag, *words, *more], [flag, *words, "hyq", *more], [flag, *words, *more, "hyq"])
        for line in lines:
            found = vars(parser.parse_args(line))
            assert found[dest] == wanted[dest], line
            assert found[robot] == wanted[robot], line
    assert robot == "robots" or wanted[robot] == "hyq"


def test_a_robot_that_was_named_is_not_replaced() -> None:
    """Not even by the default's own name, nor one of several."""
    found = parser_of("compile").parse_args(["iiwa14", "--algorithms", "energy", "hyq"])
    assert found.robot == "iiwa14" and found.algorithms == ["energy", "hyq"]
    found = parser_of("compile").parse_args(["--algorithms", "energy", "mass_matrix"])
    assert found.robot == "iiwa14" and found.algorithms == ["energy", "mass_matrix"]
    found = parser_of("bench").parse_args(["--only", "steps", "iiwa14", "hyq"])
    assert found.robots == ["iiwa14", "hyq"] and found.only == ["steps"]
    found = parser_of("bench").parse_args(["ik", "--only", "paper", "single"])
    assert found.robots == ["ik"] and found.only == ["paper", "single"]


def test_a_robot_that_is_missing_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["--gravity", "0", "0", "1"], ["--locked", "a=1", "b=2"]):
        assert "required: ROBOT" in usage_error(capsys, "info", *words)


def test_export_with_spaces_writes_what_was_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "with a space" / "out"
    words = ["--functions", "mass_matrix", "energy=kinetic", "--frames", "link_1", "tool", "-o", str(folder)]
    assert main(["export", "chain:2", *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["functions"]
    assert {"mass_matrix", "energy", "jacobian_link_1", "jacobian_tool"} <= set(found)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["compile", "chain:2", "--derivatives", "hvpp"], "derivatives: unknown derivative 'hvpp'"),
        (["compile", "chain:2", "--algorithms", "energy.grad"], "unknown derivative 'grad'"),
        (["compile", "chain:2", "--ignore", ","], "--ignore: expected names"),
        (["compile", "chain:2", "--ignore", "tendn,sensor"], "tendn"),
        (["export", "chain:2", "-o", "x", "--functions", ""], "--functions: expected names"),
        (["export", "chain:2", "-o", "x", "--functions", ","], "--functions: expected names"),
        (["export", "chain:2", "-o", "x", "--frames", " "], "--frames: expected names"),
        (["export", "chain:2", "-o", "x", "--functions", "mass_matrx"], "did you mean 'mass_matrix'"),
        (
            ["export", "chain:2", "-o", "x", "--functions", "energy", "mass_matrx"],
            "did you mean 'mass_matrix'",
        ),
        (["export", "chain:2", "-o", "x", "--frames", "tol"], "did you mean 'tool'"),
        (["export", "chain:2", "-o", "x", "--f-ext", "lnk_1"], "did you mean"),
        (["ik", "chain:2", "--position", "nan", "0", "0"], "--position: expected three finite numbers"),
        (["ik", "chain:2", "--position", "0", "0"], "--position: expected three finite numbers"),
        (["ik", "chain:2", "--position", "1,2,3,4"], "--position: expected three finite numbers"),
        (["ik", "chain:2", "--position", "1,,2"], "--position: expected numbers"),
        (["ik", "chain:2", "--position", "0", "0", "1", "--rpy", "-inf,0,0"], "--rpy: expected three"),
        (["ik", "chain:2", "--position", "0", "0", "1", "--tolerance", "-1e-3"], "tolerance"),
        (["ik", "chain:2", "--position", "0", "0", "1", "--solutions", "-1"], "solutions"),
        (["ik", "chain:2", "--position", "0", "0", "1", "--seed", "-1"], "seed"),
        (["ik", "chain:2", "--position", "0", "0", "1", "--q0", "-1,0,0"], "q0"),
        (["ik", "chain:2", "--position", "0", "0", "1", "--method", "ln"], "--method"),
        (["ik", "chain:2", "--position", "0", "0", "1", "--fixed", "joint_1,joint_9"], "joint_9"),
        (["compile", "chain:2", "--threads", "-1"], "--threads"),
        (["info", "chain:2", "--snap", "-1e-3"], "snap"),
        (["info", "chain:2", "--gravity", "-1,nan,0"], "gravity"),
        (["info", "chain:2", "--gravity", "-1"], "gravity"),
        (["rtl", "chain:2", "--states", "-5"], "--states"),
        (["rtl", "chain:2", "--sweep", "-8"], "--sweep"),
        (["rtl", "chain:2", "--sweep", "8.5"], "--sweep: expected whole numbers"),
        (["rtl", "chain:2", "--interval", "-8"], "interval"),
        (["rtl", "chain:2", "--period", "-1e-1"], "period"),
        (["rtl", "chain:2", "--queue", "-2"], "queue"),
        (["rtl", "chain:2", "--speed", "-1"], "speed"),
        (["rtl", "chain:2", "--acceleration", "-1"], "acceleration"),
        (["rtl", "chain:2", "--bits", "-1"], "bits"),
        (["rtl", "chain:2", "--latency", "-1"], "latency"),
        (["rtl", "chain:2", "--structure", "units", "--fold", "-1"], "fold"),
        (["rtl", "chain:2", "--structure", "units", "--unit-latency", "-1"], "unit_latency"),
        (["rtl", "chain:2", "--step", "-1"], "step"),
        (["gpu-report", "chain:2", "--arch", "-80"], "--arch"),
        (["info", "chain:2", "--locked", "joint_1=x"], "--locked: expected numbers"),
        (["info", "chain:2", "--locked", "joint_1=0", "joint_1=1"], "--locked: expected 'joint_1' once"),
        (["info", "chain:2", "--locked", "joint_1=0", "--locked", "joint_1=1"], "'joint_1' once"),
        (["info", "chain:2", "--payload", "link_1"], "--payload: expected LINK and 1, 4 or 10 numbers"),
        (["info", "chain:2", "--payload", "link_1", "x"], "--payload: expected numbers"),
        (["info", "chain:2", "--payload", "lnk_1", "1"], "did you mean 'link_1'"),
        (["info", "chain:2", "--payload", "link_1", "-1"], "mass of 0 or more"),
        (["info", "chain:2", "--payload", "link_1", "nan"], "finite"),
        (["info", "chain:2", "--payload", "tool", "1", "--payload", "tool", "2"], "'tool' once"),
        (["info", "chain:2", "--tool-frame", "tcp"], "--tool-frame: expected NAME LINK"),
        (["info", "chain:2", "--tool-frame", "tcp", "tool", "0", "0"], "--tool-frame: expected NAME LINK"),
        (["info", "chain:2", "--tool-frame", "tcp", "tol", "0", "0", "1"], "did you mean 'tool'"),
        (["info", "chain:2", "--tool-frame", "tcp", "tool", "0,0,nan"], "finite"),
        (
            ["info", "chain:2", "--tool-frame", "tcp", "tool", "0,0,1,inf,0,0"],
            "--tool-frame tcp: expected finite",
        ),
        (["info", "chain:2", "--tool-frame", "tool", "tool", "0", "0", "1"], "tool"),
    ],
)
def test_what_is_wrong_is_named(
    argv: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        code = main(argv)
    except SystemExit as stop:
        code = int(stop.code or 0)
    found = " ".join(capsys.readouterr().err.split())
    assert code == 2 and message in found and "Traceback" not in found, found
    assert not list(tmp_path.iterdir()), "a refusal leaves nothing"


@pytest.mark.parametrize("command", [c for c in COMMANDS if c not in WITHOUT_ROBOT])
def test_every_option_of_load_is_an_option_of_every_command(command: str) -> None:
    """`check_finite` is about calls, which the commands make themselves."""
    import inspect

    flags = {flag for action in parser_of(command)._actions for flag in action.option_strings}
    spelled = {"mimic": "--no-mimic", "payloads": "--payload", "tool_frames": "--tool-frame"}
    spelled |= {"package_dirs": "--package-dir", "xacro_args": "--xacro-arg"}
    for name in list(inspect.signature(robomorph.load).parameters)[1:]:
        flag = spelled.get(name, "--" + name.replace("_", "-"))
        assert flag in flags or name == "check_finite", name


def test_payloads_and_tool_frames_do_what_load_does(capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "--payload tool 2 -1e-1 0,.3 --payload link_1 1 --tool-frame tcp tool 0 0 -.1 0 1.5707963267948966 0"
    )
    assert main(["info", *words.split(), "chain:2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    pose = np.array([[0, 0, 1.0, 0], [0, 1, 0, 0], [-1, 0, 0, -0.1], [0, 0, 0, 1]])
    robot = robomorph.load(
        "chain:2",
        payloads={"tool": (2.0, (-0.1, 0, 0.3)), "link_1": (1.0, (0, 0, 0))},
        tool_frames={"tcp": ("tool", pose)},
    )
    assert found["digest"] == robot.model.digest and found["tool_frames"] == ["tcp"]


def test_a_payload_with_inertia_against_pinocchio(capsys: pytest.CaptureFixture[str]) -> None:
    pin = pytest.importorskip("pinocchio")
    words = ["2", "0.1", "0", "0.3", "0.01", "0.02", "0.025", "0.001", "-0.002", "3e-3"]
    assert main(["info", "chain:1", "--payload", "link_1", *words, "--json"]) == 0
    (joint,) = json.loads(capsys.readouterr().out)["joints"]
    assert main(["info", "chain:1", "--json"]) == 0
    (before,) = json.loads(capsys.readouterr().out)["joints"]

    def inertia(j: dict[str, Any]) -> Any:
        return pin.Inertia(
            j["mass_kg"], np.array(j["center_of_mass"]), np.array(j["inertia_about_center_of_mass"])
        )

    tensor = np.array([[0.01, 0.001, -0.002], [0.001, 0.02, 0.003], [-0.002, 0.003, 0.025]])
    load = pin.Inertia(2.0, np.array([0.1, 0, 0.3]), tensor)
    np.testing.assert_allclose(inertia(joint).matrix(), (inertia(before) + load).matrix(), atol=1e-12)


def test_help_says_how_each_list_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["ik", "--help"])
    out = " ".join(capsys.readouterr().out.split())
    for text in (
        "--position X Y Z",
        "--payload LINK MASS [X Y Z [IXX IYY IZZ IXY IXZ IYZ]]",
        "--tool-frame NAME LINK X Y Z [ROLL PITCH YAW]",
        "--gravity X Y Z",
        "--locked JOINT=VALUE ...",
        "quick-ik",
    ):
        assert text in out, text


def test_the_start_of_help_imports_nothing_heavy() -> None:
    import subprocess
    import sys

    command = [sys.executable, "-X", "importtime", "-m", "robomorph", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = set(re.findall(r"\|\s+([\w.]+)$", done.stderr, re.MULTILINE))
    assert not found & {"numpy", "llvmlite", "rich", "robomorph.robot", "robomorph.runtime.kernel"}


def test_spellings_of_numbers_are_those_of_float() -> None:
    """What the parser takes for a number is what float() reads, and the other way round."""
    from robomorph.cli.parser import is_number

    pieces = ("-", "+", "", "1", ".", "e", "5", "inf", "nan", "x")
    for parts in itertools.product(pieces, repeat=4):
        text = "".join(parts)
        try:
            float(text)
            real = True
        except ValueError:
            real = False
        assert is_number(text) == real, text


@pytest.mark.parametrize("threads", [1, 2])
def test_the_table_says_how_many_threads_its_times_used(
    threads: int, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compile", "iiwa14", "--algorithms", "forward_dynamics_gradient", "center_of_mass"]
    assert main([*words, "--threads", str(threads)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    many = "1 thread" if threads == 1 else "2 threads"
    assert f"one call on one thread, batches on at most {many}" in out
    assert re.search(r"batch 128 threads", out)
    assert main([*words, "--threads", str(threads), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["threads"] == threads
    used = [row["threads_batch_128"] for row in found["algorithms"].values()]
    assert used[0] == threads and all(1 <= n <= threads for n in used)


def test_compile_without_a_number_uses_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "chain:2", "--algorithms", "energy", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["threads"] == robomorph.get_default_threads()


def test_compile_leaves_out_what_a_robot_has_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By default; asked for by name, it is refused by name."""
    from tests.hostile.test_exports import idle_robot

    path = tmp_path / "idle.urdf"
    path.write_text(idle_robot())
    assert main(["compile", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    dynamics = {"forward_dynamics", "forward_dynamics_gradient", "mass_matrix_inverse"}
    assert set(found["refused"]) == {*dynamics, "step", "step_gradient"}
    assert found["load_to_first_gradient_seconds"] is None and found["ok"] and "energy" in found["algorithms"]
    assert main(["compile", str(path)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.count("refused: ") == 1 and "step_gradient: divides by the mass matrix, which" in out
    assert main(["compile", str(path), "--algorithms", "energy", "forward_dynamics"]) == 2
    assert "singular" in capsys.readouterr().err
