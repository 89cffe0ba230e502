"""`robomorph mpc` as people and scripts use it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robomorph.cli.main import main
from robomorph.cli.mpc import STUDIES
from tests.mpc.arms import PENDULUM

SHORT = ("--horizon", "8", "--rate", "200", "--seconds", "1.6")
TIP = ("--tool-frame", "tip", "rod", "0", "0", "-1")


@pytest.fixture
def pendulum(tmp_path: Path) -> str:
    path = tmp_path / "pendulum.urdf"
    path.write_text(PENDULUM)
    return str(path)


def run_json(capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    assert main(["mpc", *argv, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["loops"]


def test_tables_show_rates_errors_and_limits(capsys: pytest.CaptureFixture[str], pendulum: str) -> None:
    assert main(["mpc", pendulum, *SHORT]) == 0
    told = capsys.readouterr()
    for word in ("reach", "moving target", "rate by median", "left", "torque", "speed", "position", "swing"):
        assert word in told.out, word
    assert "loop 1/2: reach" in told.err


def test_json_plots_and_options_reach_the_loop(
    capsys: pytest.CaptureFixture[str], pendulum: str, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    options = ("--delay", "0.01", "--unknown-payload", "0.5", "--push", "3", "--plots", str(tmp_path / "p"))
    reach, target = run_json(capsys, pendulum, *SHORT, *TIP, *options)
    assert reach["name"] == "reach" and target["unit"] == "m"
    assert reach["success"] and reach["ticks"] == 320 and reach["delay_s"] == 0.01
    assert max(map(abs, reach["pushes"][0]["force_N"])) == 3.0
    assert reach["payload_kg"] > 0.1 and reach["error_left"] < reach["peak_after_push"]
    assert {margin["what"] for margin in reach["margins"]} == {"torque", "speed", "position"}
    made = {path.name for path in (tmp_path / "p").iterdir()}
    assert {"reach-joints.png", "moving-target-times.png", "moving-target-error.png"} <= made


def test_a_problem_of_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    argv = ["mpc", "--problem", "reach", "--seconds", "0.02", "--push", "0", "--json", str(file)]
    assert main(argv) == 0
    (loop,) = json.loads(file.read_text())["loops"]
    assert loop["name"] == "reach" and loop["horizon"] == 64 and loop["ticks"] == 20 and loop["pushes"] == []
    assert "Reach a posture" in capsys.readouterr().out


def test_mujoco_as_the_plant(capsys: pytest.CaptureFixture[str], pendulum: str) -> None:
    pytest.importorskip("mujoco")
    ours, theirs = (run_json(capsys, pendulum, *SHORT, "--plant", p)[0] for p in ("robot", "mujoco"))
    assert theirs["plant"] == "mujoco"
    assert theirs["error_left"] == pytest.approx(ours["error_left"], abs=1e-6)


def test_a_loop_that_diverges_is_exit_code_1(capsys: pytest.CaptureFixture[str], pendulum: str) -> None:
    argv = ["mpc", pendulum, *SHORT, *TIP, "--push", "1e5"]
    assert main(argv) == 1
    assert "diverged: joint 'swing'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["iiwa14", "--rate", "0"], "--rate: expected ticks a second above 0"),
        (["iiwa14", "--horizon", "0"], "horizon: expected"),
        (["iiwa14", "--delay", "-1"], "delay.measurement: expected"),
        (["iiwa14", "--seconds", "0"], "seconds: expected 1 to"),
        (["hyq", "--floating-base"], "floating"),
        (["--problem", "no-such.toml"], "no file 'no-such.toml'"),
    ],
)
def test_bad_input_is_exit_code_2(argv: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mpc", *argv]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_robot_without_torque_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "limp.urdf"
    path.write_text(PENDULUM.replace('effort="50"', 'effort="0"'))
    assert main(["mpc", str(path)]) == 2
    assert "give its joints the efforts that they have" in " ".join(capsys.readouterr().err.split())


def test_studies_are_reached_by_their_first_word(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["mpc", "rate", "--help"])
    assert stop.value.code == 0
    assert "usage: robomorph mpc rate" in capsys.readouterr().out
    assert set(STUDIES) == {"rate", "formats"}
