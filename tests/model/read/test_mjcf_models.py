"""Robots of gymnasium and dm_control against MuJoCo without its constraints, actuators and passive forces."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from robomorph.errors import ModelError
from tests.model.read.mujoco_oracle import differences, load, mj_model

GYM, DM = "gymnasium/envs/mujoco/assets", "dm_control/suite"
TOLERANCE = 1e-10
# File -> degrees of freedom, mass of what moves (kg), what has to be left out.
MODELS: dict[str, tuple[int, float, tuple[str, ...]]] = {
    f"{GYM}/half_cheetah.xml": (9, 14.0, ()),
    f"{GYM}/hopper.xml": (6, 15.819999, ()),
    f"{GYM}/walker2d_v5.xml": (9, 23.677, ()),
    f"{GYM}/ant.xml": (14, 0.910881, ()),
    f"{GYM}/swimmer.xml": (5, 106.814, ("fluid",)),
    f"{GYM}/humanoid.xml": (23, 42.116, ("tendon",)),
    f"{GYM}/inverted_double_pendulum.xml": (3, 18.869, ()),
    f"{GYM}/reacher.xml": (4, 0.078452, ()),
    f"{GYM}/pusher_v5.xml": (11, 13.673, ()),
    f"{DM}/fish.xml": (13, 0.034488, ("tendon", "actuator", "fluid")),
    f"{DM}/quadruped.xml": (28, 121.255, ("tendon", "equality", "actuator")),
    f"{DM}/humanoid_CMU.xml": (62, 51.846, ()),
    f"{DM}/dog.xml": (85, 10.297, ("tendon", "actuator")),
}
LARGE = ("humanoid_CMU", "dog")


def file_of(name: str) -> Path:
    """The file in the package that has it, which need not be one that can be imported."""
    package = name.split("/")[0].replace("_", "-")
    try:
        found = [file for file in metadata.files(package) or [] if str(file) == name]
    except metadata.PackageNotFoundError:
        found = []
    if not found:
        pytest.skip(f"the package {package} is not installed")
    return Path(str(found[0].locate()))


def _cases() -> list[object]:
    return [
        pytest.param(name, id=Path(name).stem, marks=[pytest.mark.slow] if Path(name).stem in LARGE else [])
        for name in MODELS
    ]


@pytest.mark.parametrize("name", _cases())
def test_kernels_agree_with_mujoco(name: str) -> None:
    path, (nv, mass, ignore) = file_of(name), MODELS[name]
    robot = load(path, ignore=ignore)
    assert robot.nv == nv and robot.model.mass == pytest.approx(mass, rel=1e-4)
    found = differences(robot, mj_model(path))
    assert max(found.values()) < TOLERANCE, found


@pytest.mark.parametrize("name", [name for name in MODELS if Path(name).stem in LARGE], ids=LARGE)
def test_large_models_agree_by_the_textbook(name: str) -> None:
    path, (nv, mass, ignore) = file_of(name), MODELS[name]
    robot = load(path, ignore=ignore)
    assert robot.nv == nv and robot.model.mass == pytest.approx(mass, rel=1e-4)
    found = differences(robot, mj_model(path), compiled=False)
    assert max(found.values()) < TOLERANCE, found


@pytest.mark.parametrize("name", [name for name, (_, _, ignore) in MODELS.items() if ignore])
def test_what_is_left_out_has_to_be_named(name: str) -> None:
    path, ignore = file_of(name), MODELS[name][2]
    for kind in ignore:
        with pytest.raises(ModelError, match=rf"ignore=\[.*'{kind}'"):
            load(path, ignore=[other for other in ignore if other != kind])


@pytest.mark.parametrize("name", ["half_cheetah", "ant"])
def test_objects_and_text_are_the_file(name: str) -> None:
    path = file_of(f"{GYM}/{name}.xml")
    robot = load(path)
    for other in (str(path), path.read_text(), path.read_bytes(), mj_model(path)):
        assert load(other).model == robot.model
    assert robot.model.joint_names[0] in ("rootx", "root")
    assert robot.model.bodies[0].kind == ("floating" if name == "ant" else "prismatic")
