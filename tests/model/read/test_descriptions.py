"""Robots of the package robot_descriptions, by name."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from robomorph.errors import ModelError
from robomorph.model import load_model
from robomorph.model.robots import builtin_urdf
from tests.model.read.test_xacro import ARM

MJCF = "<mujoco model='m'><worldbody><body><joint name='j'/><geom size='1'/></body></worldbody></mujoco>"


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A package of that name with three robots, which are files of this folder."""
    folder = tmp_path / "robot_descriptions"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "_descriptions.py").write_text("DESCRIPTIONS = {'arm_description': 1, 'xarm_description': 2}")
    urdf = builtin_urdf("iiwa14")
    assert urdf is not None
    (tmp_path / "arm.urdf").write_bytes(urdf)
    (tmp_path / "m.xml").write_text(MJCF)
    (tmp_path / "x.xacro").write_text(ARM)
    (folder / "arm_description.py").write_text(f"URDF_PATH = {str(tmp_path / 'arm.urdf')!r}")
    (folder / "m_mj_description.py").write_text(f"MJCF_PATH = {str(tmp_path / 'm.xml')!r}")
    xacro = f"XACRO_PATH = {str(tmp_path / 'x.xacro')!r}\nXACRO_ARGS = {{'length': '0.125', 'unused': 1}}"
    (folder / "xarm_description.py").write_text(xacro)
    (folder / "offline_description.py").write_text("raise OSError('no network\\nat all')")
    (folder / "empty_description.py").write_text("")
    for name in [name for name in sys.modules if name.split(".")[0] == "robot_descriptions"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


def test_every_kind_of_file(package: Path) -> None:
    assert load_model("robot_descriptions:arm") == load_model("robot_descriptions:arm_description")
    assert load_model("robot_descriptions:arm").link_names == load_model("iiwa14").link_names
    if importlib.util.find_spec("mujoco"):
        assert load_model("robot_descriptions:m_mj_description").joint_names == ("j",)
    model = load_model("robot_descriptions:xarm")
    assert model.bodies[0].placement.translation[2] == 0.125  # the package's own arguments
    model = load_model("robot_descriptions:xarm", xacro_args={"length": 2})
    assert model.bodies[0].placement.translation[2] == 2.0


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("arm_descriptio", "did you mean 'arm_description'"),
        ("", "no robot of that name"),
        ("../arm", "no robot of that name"),
        ("_descriptions", "no robot of that name"),
        ("offline", "cannot fetch this robot: no network"),
        ("empty", "URDF_PATH, XACRO_PATH, MJCF_PATH"),
    ],
)
def test_what_is_not_there_is_named(package: Path, name: str, found: str) -> None:
    with pytest.raises(ModelError, match=found):
        load_model(f"robot_descriptions:{name}")


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec

    def without(name: str, package: str | None = None) -> object:
        return None if name.startswith("robot_descriptions") else find(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    with pytest.raises(ModelError, match=r"pip install 'robomorph\[descriptions\]'"):
        load_model("robot_descriptions:panda_description")
