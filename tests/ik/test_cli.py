"""`robomorph ik` and `robomorph bench ik` as commands."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from robomorph.cli.main import main
from tests.ik.arms import arm


def test_a_position(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ik", "iiwa14", "--position", "0.4", "0.2", "0.6"]) == 0
    out = capsys.readouterr().out
    assert "converged" in out and "lbr_iiwa_joint_7" in out and "us a call" in out
    assert "X" in out and "x to the right, z up" in out


def test_a_pose_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Roll, pitch and yaw as URDF means them, confirmed by Pinocchio."""
    words = ["--position", "0.4", "0.2", "0.6", "--rpy", "0.3", "2.8", "-0.5"]
    assert main(["ik", "iiwa14", *words, "--json", "--any"]) == 0
    found = json.loads(capsys.readouterr().out)
    import pinocchio

    _, reference = arm("iiwa14")
    pose = reference.forward_kinematics(np.array(found["q"]), found["frame"])
    assert np.allclose(pose[:3, 3], [0.4, 0.2, 0.6], atol=1.1e-5)
    assert np.allclose(pose[:3, :3], pinocchio.rpy.rpyToMatrix(0.3, 2.8, -0.5), atol=2e-5)
    assert found["success"] is True and found["reason"] == "converged" and found["seconds"] > 0


def test_several_solutions_are_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ik", "iiwa14", "--position", "0.4", "0.2", "0.6", "--solutions", "3"]) == 0
    assert "q3" in capsys.readouterr().out


def test_failure_and_wrong_usage_have_their_own_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ik", "iiwa14", "--position", "3", "0", "0"]) == 1
    assert "out of reach" in capsys.readouterr().out
    assert main(["ik", "hyq", "--position", "0", "0", "0"]) == 2
    assert "4 ends" in capsys.readouterr().err
    assert main(["bench", "ik", "--only", "nothing"]) == 2
    assert "unknown section" in capsys.readouterr().err


def test_the_benchmark_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ik.json"
    assert main(["bench", "ik", "--quick", "--only", "single", "--json", str(path)]) == 0
    assert "chain of 100 joints" in capsys.readouterr().out
    data = json.loads(path.read_text())
    ours = next(r for r in data["records"] if r["who"] == "robomorph" and r["case"] == "0.01 m")
    assert ours["best_ns"] > 0 and ours["figures"]["solved"] == 1.0
    assert {goal["goal"] for goal in data["goals"]} == {12.0, 500.0}
