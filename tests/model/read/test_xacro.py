"""xacro by file name or by asking: arguments, packages, errors, and what is written down."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

import robomorph
from robomorph.errors import ArgumentError, ModelError
from robomorph.model import load_model

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
LINK = """<link name="{0}"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
ARM = f"""<?xml version="1.0"?>
{HEAD}
  <xacro:arg name="length" default="0.5"/>
  <xacro:property name="n" value="2"/>
  <xacro:macro name="segment" params="i">
    {LINK.format("link_${i}")}
    <joint name="joint_${{i}}" type="revolute">
      <parent link="link_${{i-1}}"/><child link="link_${{i}}"/>
      <origin xyz="0 0 $(arg length)" rpy="${{pi/2}} 0 0"/><axis xyz="0 0 1"/>
      <limit lower="${{-pi}}" upper="${{pi}}" velocity="1" effort="2"/>
    </joint>
  </xacro:macro>
  <link name="link_0"/>
  <xacro:segment i="1"/><xacro:segment i="2"/>
</robot>"""


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(ARM)
    return path


def test_file_is_run(arm: Path) -> None:
    robot = robomorph.load(arm)
    assert robot.joint_names == ("joint_1", "joint_2")
    assert robot.model.bodies[1].placement.rotation[1].tolist() == [0.0, 0.0, -1.0]
    assert robot.limits.upper.tolist() == [np.pi, np.pi]


def test_arguments_are_words_of_xacro(arm: Path) -> None:
    for value in (0.25, "0.25", np.float64(0.25)):
        robot = robomorph.load(arm, xacro_args={"length": value})
        assert robot.model.bodies[1].placement.translation.tolist() == [0.0, 0.0, 0.25]
    assert robot.record is not None and robot.record.options["xacro_args"] == {"length": 0.25}
    assert robot.record.document.format == "URDF" and b"xacro:macro" not in robot.record.document.data
    assert pickle.loads(pickle.dumps(robot)).model == robot.model


def test_mjcf_is_no_xacro() -> None:
    with pytest.raises(ModelError, match=r"found <mujoco>.*this is MJCF: load it without xacro=True"):
        robomorph.load("<mujoco/>", xacro=True)


def test_arguments_that_the_file_does_not_ask_for_are_told(arm: Path) -> None:
    with pytest.raises(ArgumentError, match=r"found 'lenght'; did you mean 'length'"):
        robomorph.load(arm, xacro_args={"lenght": 2})
    unused = ARM.replace('<xacro:arg name="length" default="0.5"/>', "").replace("$(arg length)", "1")
    with pytest.raises(ArgumentError, match=r"xacro_args.*found 'length'"):
        robomorph.load(unused, xacro=True, xacro_args={"length": 2})
    for use in ("$(arg length)", "${xacro.arg('length')}"):
        assert robomorph.load(unused.replace("0 0 1", f"0 0 {use}", 1), xacro=True, xacro_args={"length": 2})


def test_text_is_run_only_if_asked() -> None:
    with pytest.raises(ModelError, match=r"a xacro macro.*xacro=True"):
        load_model(ARM)
    assert load_model(ARM, xacro=True).joint_names == ("joint_1", "joint_2")
    assert (
        load_model(ARM.encode(), xacro=True, xacro_args={"length": 1}).bodies[0].placement.translation[2]
        == 1.0
    )


def test_other_names_are_run_if_asked(arm: Path, tmp_path: Path) -> None:
    other = tmp_path / "arm.txt"
    other.write_text(ARM)
    assert load_model(other, xacro=True) == load_model(arm)


def test_packages_are_found_as_those_of_meshes_are(tmp_path: Path) -> None:
    package = tmp_path / "workspace" / "my_arm"
    package.mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>my_arm</name></package>")
    (package / "part.xacro").write_text(
        f"{HEAD}<xacro:macro name='part' params=''>{LINK.format('a')}</xacro:macro></robot>"
    )
    text = f"{HEAD}<xacro:include filename='$(find my_arm)/part.xacro'/><xacro:part/></robot>"
    assert load_model(text, xacro=True, package_dirs=[package.parent]).link_names == ("a",)
    inside = package / "robot.xacro"
    inside.write_text(text)
    assert load_model(inside).link_names == ("a",)
    with pytest.raises(ModelError, match="package_dirs"):
        load_model(text, xacro=True)


BROKEN = {
    "no such macro": (f"{HEAD}<xacro:nothing/></robot>", "unknown macro name: xacro:nothing"),
    "no such property": (f"{HEAD}<link name='${{a}}'/></robot>", "'a' is not defined"),
    "missing argument": (f"{HEAD}<link name='$(arg a)'/></robot>", "xacro_args"),
    "no such file": (f"{HEAD}<xacro:include filename='no.xacro'/></robot>", "No such file"),
    "not a truth": (f"{HEAD}<xacro:if value='maybe'/></robot>", "boolean"),
    "endless": (
        f"{HEAD}<xacro:macro name='m' params=''><xacro:m/></xacro:macro><xacro:m/></robot>",
        "recursion",
    ),
    "unclosed": (f"{HEAD}<link>", "well-formed XML"),
    "entities": ('<!DOCTYPE a [<!ENTITY b "c">]><robot name="&b;"/>', "document type"),
    "empty": ("<!-- nothing -->", "well-formed XML"),
    "no urdf": ("<sdf/>", "<robot> as the outermost element"),
    "python": (f"{HEAD}<link name='${{open(\"x\")}}'/></robot>", "open"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_cannot_be_run_is_a_model_error(case: str, capfd: pytest.CaptureFixture[str]) -> None:
    text, found = BROKEN[case]
    with pytest.raises(ModelError, match=found):
        load_model(text, xacro=True)
    assert load_model(ARM, xacro=True).joint_names == ("joint_1", "joint_2")  # nothing is left behind
    assert capfd.readouterr() == ("", "")


def test_warnings_of_xacro_are_ours(capfd: pytest.CaptureFixture[str]) -> None:
    text = f"{HEAD}<xacro:include filename='no*.xacro'/><xacro:property nmae='b' name='a' value='1'/>"
    text += f"{LINK.format('a')}</robot>"
    with pytest.warns(
        UserWarning, match=r"xacro warns of.*no\*.*matched no files; .*attribute.*nmae"
    ) as told:
        robot = robomorph.load(text, xacro=True)
    assert len(told) == 1 and capfd.readouterr() == ("", "")
    assert pickle.loads(pickle.dumps(robot)).record == robot.record
    with pytest.raises(ModelError, match=r"strict=True.*\n.*nmae"):
        load_model(text, xacro=True, strict=True)


def test_arguments_without_xacro_are_refused(arm: Path) -> None:
    with pytest.raises(ArgumentError, match="xacro_args: expected xacro, found <built-in iiwa14>"):
        load_model("iiwa14", xacro_args={"a": 1})
    with pytest.raises(ArgumentError, match="mapping from names"):
        load_model(arm, xacro_args=[("a", 1)])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="xacro: expected True or False"):
        robomorph.load(arm, xacro="yes")  # type: ignore[arg-type]


def test_missing_package_is_named(arm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(ModelError, match=r"pip install 'robomorph\[xacro\]'"):
        load_model(arm)
