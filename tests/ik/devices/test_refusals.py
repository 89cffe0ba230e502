"""What a device does not take is refused by name, with the remedy, before any toolchain is looked for."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from robomorph import ArgumentError
from robomorph.cli.main import main
from robomorph.errors import TargetError
from robomorph.ik import METHODS, AxisTarget, Method, OrientationTarget, PositionTarget
from robomorph.ik import devices as table
from robomorph.ik.devices import device_names
from robomorph.ik.methods.jacobian_transpose import buss_rule
from tests.ik.arms import arm
from tests.ik.devices.problems import FRAMES, QUICK
from tests.targets.gpu.toolchains import needs_opencl

TOOL = FRAMES["iiwa14"]
PLACE = [0.4, 0.2, 0.6]


@pytest.mark.parametrize("on", ["opencl", "cuda"])
@pytest.mark.parametrize(
    ("target", "options", "says"),
    [
        (PLACE, {"method": "lm"}, r'method: \w+ runs methods .*"quick-ik".*found "lm": .*on="cpu"'),
        (PLACE, {}, r'found "lm"'),
        (PLACE, {**QUICK, "solutions": 3}, r"solutions: \w+ finds one"),
        (PLACE, {**QUICK, "starts": 5}, r"starts: \w+ starts from q0 alone, found 5: .*batch of q0"),
        (np.eye(4), QUICK, r"target: \w+ takes targets whose errors are differences .*found .*on=\"cpu\""),
        (OrientationTarget(TOOL, np.eye(3)), QUICK, "target: .*differences"),
        (
            [PositionTarget(TOOL, PLACE), AxisTarget(TOOL, [0, 0, 1], [0, 0, 1])],
            QUICK,
            "target: .*differences",
        ),
    ],
)
def test_refused_by_name(on: str, target: Any, options: dict[str, Any], says: str) -> None:
    robot = arm("iiwa14")[0]
    frame = (
        TOOL if isinstance(target, (np.ndarray, list)) and not isinstance(target[0], PositionTarget) else None
    )
    with pytest.raises(ArgumentError, match=says):
        robot.inverse_kinematics(target, frame, on=on, **options)


def test_a_floating_base_is_refused_by_name() -> None:
    robot = arm("hyq", floating=True)[0]
    with pytest.raises(
        ArgumentError, match=rf"opencl moves joints whose coordinates add, found {robot.joint_names[0]}"
    ):
        robot.inverse_kinematics([0.1, 0.0, 0.0], FRAMES["hyq"], on="opencl", **QUICK)


@pytest.mark.parametrize(
    ("on", "says"), [("gpu", "unknown device 'gpu'"), ("opencI", "opencl"), (None, "NoneType"), (1, "int")]
)
def test_unknown_devices(on: Any, says: str) -> None:
    with pytest.raises(ArgumentError, match=f"on: .*{says}"):
        arm("iiwa14")[0].inverse_kinematics(PLACE, TOOL, on=on, **QUICK)


def test_a_device_without_its_module_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(table._MODULES, "abacus", "abacus")
    assert "abacus" not in device_names() and {"cpu", "opencl", "cuda"} <= set(device_names())
    with pytest.raises(ArgumentError, match="on: unknown device 'abacus'"):
        arm("iiwa14")[0].inverse_kinematics(PLACE, TOOL, on="abacus", **QUICK)


def test_the_cpu_is_the_default() -> None:
    robot = arm("iiwa14")[0]
    assert robot.inverse_kinematics(PLACE, TOOL, on="cpu") == robot.inverse_kinematics(PLACE, TOOL)


def test_a_missing_driver_is_the_error_of_other_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    from robomorph.targets.gpu.cuda import device

    def no_driver(index: int | None = None) -> Any:
        raise TargetError('target "cuda" needs the driver of NVIDIA')

    monkeypatch.setattr(device, "open_device", no_driver)
    with pytest.raises(TargetError, match='target "cuda" needs the driver'):
        arm("iiwa14")[0].inverse_kinematics(PLACE, TOOL, on="cuda", **QUICK)


@needs_opencl
def test_a_method_of_the_callers_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any method that tries lengths of its step runs, by the program of that step."""
    monkeypatch.setitem(METHODS, "own", Method("own", buss_rule, speculative=True))
    robot = arm("iiwa14")[0]
    own = robot.inverse_kinematics(PLACE, TOOL, method="own", on="opencl")
    assert own.success and np.array_equal(
        own.q, robot.inverse_kinematics(PLACE, TOOL, on="opencl", **QUICK).q
    )


@needs_opencl
def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["ik", "iiwa14", "--position", *map(str, PLACE), "--tolerance", "1e-4", "--json"]
    assert main([*words, "--method", "quick-ik", "--on", "opencl"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert main([*words, "--method", "quick-ik"]) == 0
    assert found["iterations"] == json.loads(capsys.readouterr().out)["iterations"]
    assert main([*words, "--on", "opencl"]) == 2
    assert "quick-ik" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main([*words, "--on", "abacus"])
