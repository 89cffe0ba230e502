"""The commands as scripts and people use them: output, JSON, exit codes, pipes."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from robomorph.cli.main import main

PENDULUM = """
<robot name="pendulum">
  <link name="base"/>
  <joint name="swing [m]" type="revolute">
    <parent link="base"/> <child link="bob"/> <axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="5" effort="3"/>
  </joint>
  <link name="bob">
    <inertial>
      <origin xyz="0 0 -0.5"/> <mass value="2"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.001" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
</robot>
"""


WALL = '<joint name="bolt" type="fixed"><parent link="base"/><child link="wall"/></joint>'


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROBOMORPH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("COLUMNS", raising=False)  # test runners set it


@pytest.fixture
def pendulum(tmp_path: Path) -> str:
    path = tmp_path / "pendulum.urdf"
    path.write_text(PENDULUM)
    return str(path)


def run_json(capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    assert main([*argv, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


# --- robots -----------------------------------------------------------------------------------------------


def test_robots_lists_every_builtin(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["robots"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in ("iiwa14", "hyq", "atlas", "chain:N"))


def test_robots_json(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {row["name"]: row for row in run_json(capsys, "robots")["robots"]}
    assert rows["iiwa14"]["joints"] == 7 and rows["atlas"]["joints"] == 30
    assert rows["iiwa14"]["moving_mass_kg"] == pytest.approx(17.5)


# --- info -------------------------------------------------------------------------------------------------


def test_info_shows_13_of_36_between_the_first_two_links_of_iiwa(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "iiwa14"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (head,) = [i for i, line in enumerate(lines) if "lbr_iiwa_link_1 -> lbr_iiwa_link_2" in line]
    column = lines[head].index("lbr_iiwa_link_1 -> lbr_iiwa_link_2")
    assert lines[head + 1][column:].startswith("13 of 36")
    pattern = [line[column : column + 6] for line in lines[head + 2 : head + 8]]
    assert sum(line.count("●") + line.count("x") for line in pattern) == 13


def test_info_json_matches_the_known_sparsity_of_iiwa(capsys: pytest.CaptureFixture[str]) -> None:
    data = run_json(capsys, "info", "iiwa14")
    assert [joint["transform_nonzeros"] for joint in data["joints"]] == [14, 13, 14, 13, 14, 13, 14]
    assert data["superposed_nonzeros"] == 23
    before, after = data["operations_before_and_after_regrouping"]["inverse_dynamics"]
    assert after < before


def test_info_tells_limits_axis_and_mass(capsys: pytest.CaptureFixture[str], pendulum: str) -> None:
    (joint,) = run_json(capsys, "info", pendulum)["joints"]
    assert (joint["lower"], joint["upper"], joint["velocity"], joint["effort"]) == (-2, 2, 5, 3)
    assert joint["axis"] == [0, 1, 0] and joint["mass_kg"] == 2
    assert main(["info", pendulum]) == 0
    assert "swing [m]" in capsys.readouterr().out  # brackets are not taken for markup


def test_info_counts_shapes_and_names_missing_meshes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run_json(capsys, "info", "iiwa14")["shapes"] == {
        "visual": 0,
        "collision": 0,
        "missing_meshes": [],
    }
    shape = '<{0}><geometry><mesh filename="package://arm/{1}.stl"/></geometry></{0}>'
    shapes = "".join(shape.format(*one) for one in (("visual", "a"), ("visual", "b"), ("collision", "a")))
    urdf = tmp_path / "shaped.urdf"
    urdf.write_text(
        f'<robot name="shaped"><link name="base">{shapes}</link><link name="tip"/>'
        '<joint name="j" type="continuous"><parent link="base"/><child link="tip"/></joint></robot>'
    )
    data = run_json(capsys, "info", str(urdf))
    missing = ["package://arm/a.stl", "package://arm/b.stl"]
    assert data["shapes"] == {"visual": 2, "collision": 1, "missing_meshes": missing}
    assert any("mesh files that were not found" in message for message in data["warnings"])
    (tmp_path / "packages" / "arm").mkdir(parents=True)
    (tmp_path / "packages" / "arm" / "a.stl").touch()
    assert main(["info", str(urdf), "--package-dir", str(tmp_path / "packages")]) == 0
    out = capsys.readouterr().out
    assert "shapes: 2 visual, 1 collision; 1 mesh files not found:" in out and "package://arm/b.stl" in out
    assert main(["info", str(urdf), "--strict"]) == 2


def test_info_of_a_floating_base_and_locked_joints(capsys: pytest.CaptureFixture[str]) -> None:
    data = run_json(capsys, "info", "hyq", "--floating-base", "--locked", "lf_haa_joint=0.1")
    assert data["nv"] == 6 + 11 and data["nq"] == 7 + 11
    assert data["joints"][0]["name"] == "root_joint" and data["joints"][0]["lower"] is None
    assert "lf_haa_joint" not in [joint["name"] for joint in data["joints"]]


@pytest.mark.parametrize("columns", ["40", "80"])
def test_a_narrow_terminal_cuts_no_name_or_figure_off(
    columns: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["info", "iiwa14"]) == 0
    out = capsys.readouterr().out
    assert "…" not in out and "13 of 36" in out
    rows = [line for line in out.splitlines() if line.split()[:2] == ["lbr_iiwa_joint_7", "revolute"]]
    assert len(rows) == 1 and "3.054" in rows[0] and "2.356" in rows[0]


# --- compile ----------------------------------------------------------------------------------------------


def test_compile_checks_and_times_every_algorithm(capsys: pytest.CaptureFixture[str]) -> None:
    from robomorph.algorithms.registry import state_algorithms

    data = run_json(capsys, "compile", "iiwa14")
    assert data["ok"] is True
    assert set(data["algorithms"]) == {*state_algorithms(), "step", "step_gradient"}  # there is no drag
    for row in data["algorithms"].values():
        assert row["passed"] and 0 < row["seconds_single"] < 1 and 0 < row["seconds_batch_128"] < 1
        assert row["error_vs_interpreter"] < 1e-12
        assert row["error_vs_finite_differences"] < 1e-7
        assert len(row["compile_seconds"]) == 2  # single and lanes
    assert data["transform_nonzeros"]["lbr_iiwa_joint_2"] == 13
    first = data["load_to_first_gradient_seconds"]
    assert 0 < first["cached"] < first["nothing_cached"]


def test_compile_prints_tables_that_behave_in_a_pipe(
    capsys: pytest.CaptureFixture[str], pendulum: str
) -> None:
    assert main(["compile", pendulum, "--algorithms", "jacobian,mass_matrix", "--dtype", "float32"]) == 0
    captured = capsys.readouterr()
    assert "\x1b" not in captured.out + captured.err
    assert "from load to the first gradient" in captured.out and "nothing cached" in captured.out
    rows = [line for line in captured.out.splitlines() if "mass_matrix" in line]
    assert any(" ok " in line and " ns" in line for line in rows)
    assert "compile, check 2/2: mass_matrix" in captured.err


def test_kinematics_default_to_the_link_farthest_out() -> None:
    from robomorph import load
    from robomorph.verify.report import farthest_link

    assert farthest_link(load("chain:3")) == "tool"
    assert (
        farthest_link(load(PENDULUM.replace("</robot>", '<link name="wall"/>' + WALL + "</robot>"))) == "bob"
    )


def test_compile_without_cache_leaves_no_entries(pendulum: str, tmp_path: Path) -> None:
    assert main(["compile", pendulum, "--algorithms", "energy", "--no-cache", "--json"]) == 0
    assert not list((tmp_path / "cache").glob("*"))
    assert "ROBOMORPH_CACHE" not in os.environ


def test_compile_fails_when_a_kernel_is_wrong(
    capsys: pytest.CaptureFixture[str], pendulum: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A defect in the compiler that the interpreter shares is found by the differences, and named."""
    from robomorph.model.joints import Revolute
    from robomorph.spatial import BodyInertia, Symmetric

    right = Revolute.regroup

    def wrong(joint: Revolute, inertia: BodyInertia) -> tuple[BodyInertia, BodyInertia]:
        kept, moved = right(joint, inertia)
        return kept + BodyInertia(second=Symmetric(zz=1e-4)), moved

    monkeypatch.setattr(Revolute, "regroup", wrong)
    assert main(["compile", pendulum, "--algorithms", "mass_matrix,energy"]) == 1
    out = capsys.readouterr().out
    assert "FAILED" in out and "1 of 2 checks failed: mass_matrix" in out


def test_a_kernel_without_an_independent_yardstick_is_named(
    capsys: pytest.CaptureFixture[str], pendulum: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from robomorph.verify.yardstick import Yardstick

    known = Yardstick.find
    monkeypatch.setattr(Yardstick, "find", lambda y, of: None if of.name == "energy" else known(y, of))
    argv = ["compile", pendulum, "--algorithms", "energy,mass_matrix"]
    assert main(argv) == 0
    out = capsys.readouterr().out
    assert "checked against the interpreter only: energy\n" in out
    assert "kernels agree with the interpreter and the differences" not in out
    rows = run_json(capsys, *argv)["algorithms"]
    assert rows["energy"]["checked_against"] == "the interpreter only"
    assert "finite differences" in rows["mass_matrix"]["checked_against"]


# --- bad input --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["info", "iiwa41"], "iiwa14"),
        (["compile", "nowhere.urdf"], "no such file"),
        (["compile", "iiwa14", "--algorithms", "mass_matrx"], "mass_matrix"),
        (["compile", "iiwa14", "--frame", "hand"], "hand"),
        (["compile", "iiwa14", "--threads", "0"], "--threads"),
        (["info", "iiwa14", "--locked", "elbow=1"], "elbow"),
        (["info", "iiwa14", "--gravity", "0,0"], "gravity"),
        (["info", "iiwa14", "--snap", "nan"], "snap"),
    ],
)
def test_bad_input_is_exit_code_2_and_a_message(
    argv: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ") and message in captured.err
    assert "Traceback" not in captured.err


@pytest.mark.parametrize(
    "argv", [[], ["nonsense"], ["info"], ["info", "iiwa14", "--locked", "x"], ["compile", "--dtype", "int"]]
)
def test_wrong_usage_is_exit_code_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(argv)
    assert stop.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_strict_turns_warnings_into_an_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "loose.urdf"
    path.write_text(PENDULUM.replace('xyz="0 1 0"', 'xyz="0 2 0"'))
    assert main(["info", str(path), "--json"]) == 0
    captured = capsys.readouterr()
    assert "unit length" in json.loads(captured.out)["warnings"][0]
    assert captured.err.startswith("warning: ")
    assert main(["info", str(path), "--strict"]) == 2


# --- as a process -----------------------------------------------------------------------------------------


def start(*argv: str, **options: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "robomorph", *argv]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def test_help_and_version() -> None:
    for argv in (["--help"], ["compile", "--help"], ["--version"]):
        process = start(*argv)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0 and not err and "robomorph" in out
        assert "examples:" in out or "--version" in argv


def test_a_reader_that_leaves_early_is_no_error() -> None:
    process = start("info", "atlas")
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=60) == 0


def test_output_survives_a_terminal_without_unicode() -> None:
    process = start("info", "iiwa14", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and not err and out.isascii()
    assert "13 of 36" in out


def test_interrupt_is_exit_code_130(tmp_path: Path) -> None:
    # Started by a shell in the background, the tests ignore interrupts: the program must not inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = start("compile", "atlas", env={**os.environ, "ROBOMORPH_CACHE_DIR": str(tmp_path)})
    signal.signal(signal.SIGINT, before)
    assert process.stderr is not None
    assert "first gradient" in process.stderr.readline()  # it is at work
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("argv", [["robots"], ["robots", "--json"], ["--help"]])
def test_a_full_disk_is_exit_code_2(argv: list[str]) -> None:
    # argparse itself drops errors of an unbuffered stream
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "robomorph", *argv]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment)
    assert done.returncode == 2
    assert done.stderr == "error: cannot write: No space left on device\n"


def test_closed_streams() -> None:
    """As a shell's >&- leaves them."""
    script = f"exec {shlex.quote(sys.executable)} -m robomorph robots"
    done = subprocess.run(["sh", "-c", f"{script} >&-"], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("error: standard output is closed") and "Traceback" not in done.stderr
    assert subprocess.run(["sh", "-c", f"{script} >&- 2>&-"]).returncode == 2
    done = subprocess.run(["sh", "-c", f"{script} 2>&-"], stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0 and "iiwa14" in done.stdout


def test_a_file_that_cannot_be_written_is_exit_code_2(
    capsys: pytest.CaptureFixture[str], pendulum: str, tmp_path: Path
) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file")
    assert main(["export", pendulum, "--functions", "mass_matrix", "-o", str(taken / "out")]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: ") and str(taken) in "".join(err.split("\n")) and "Traceback" not in err


@pytest.mark.parametrize("way", ["not at all", "before", "after", "variable"])
def test_defects_have_a_code_of_their_own(
    way: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from robomorph.cli import robots

    def broken(args: Any) -> int:
        raise ZeroDivisionError("of [all]\nthings")

    monkeypatch.setattr(robots, "run", broken)
    monkeypatch.setenv("ROBOMORPH_DEBUG", "1" if way == "variable" else "0")
    argv = {"before": ["--debug", "robots"], "after": ["robots", "--debug"]}.get(way, ["robots"])
    assert main(argv) == 70
    err = capsys.readouterr().err
    last = err.splitlines()[-1]
    assert last.startswith("error: this is a defect in robomorph (ZeroDivisionError: of [all] things)")
    assert ("Traceback" in err and "in broken" in err) == (way != "not at all")
    assert len(err.splitlines()) == 1 or way != "not at all"


def test_every_command_is_in_the_help_and_the_readme(capsys: pytest.CaptureFixture[str]) -> None:
    from robomorph.cli.main import COMMANDS

    with pytest.raises(SystemExit):
        main(["--help"])
    examples = capsys.readouterr().out.split("examples:")[1]
    readme = Path(__file__).parents[2].joinpath("README.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f"robomorph {name} " in examples and f"| `robomorph {name}" in readme, name
