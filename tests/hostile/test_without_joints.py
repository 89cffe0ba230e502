"""Robots that do not move, as files of scenery give them: what they cannot do is refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.cli.main import main
from robomorph.errors import ArgumentError, TargetError
from robomorph.export import export

TEXT = """<robot name="still"><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
NONE = r"robot 'still': expected joints that move, found none"


@pytest.mark.parametrize("options", [{}, {"method": "quick-ik"}, {"solutions": 2}, {"q0": np.zeros(0)}])
def test_inverse_kinematics(options: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=NONE):
        robomorph.load(TEXT).inverse_kinematics([0.0, 0.0, 1.0], "b", **options)


@pytest.mark.parametrize("target", ["cpp", "cuda", "opencl", "casadi"])
def test_exports(tmp_path: Path, target: str) -> None:
    with pytest.raises(ArgumentError, match=r"export: expected .*a robot with a moving joint"):
        export(robomorph.load(TEXT), tmp_path, target=target)


def test_data_sets() -> None:
    from robomorph.scaleout import Dataset

    with pytest.raises(ArgumentError, match=NONE):
        Dataset(robomorph.load(TEXT), "energy", 5)


def test_opencl() -> None:
    pytest.importorskip("pyopencl")
    with pytest.raises(TargetError, match=r"energy: expected numbers to compute with.*target=\"cpu\""):
        robomorph.load(TEXT).compile("energy", target="opencl")


def test_gpu_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "still.urdf").write_text(TEXT)
    assert main(["gpu-report", str(tmp_path / "still.urdf")]) == 2
    assert "expected joints that move, found none" in capsys.readouterr().err
