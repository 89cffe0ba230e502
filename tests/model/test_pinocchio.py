"""Every example robot, and our own, read as Pinocchio reads them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from robomorph.errors import ModelError, ModelWarning
from robomorph.model import Model, load_model
from robomorph.model.robots import builtin_urdf

from .oracle import assert_same, example_robots
from .samples import MENAGERIE

pinocchio = pytest.importorskip("pinocchio", reason="needs the package pin")

ROBOTS = example_robots()
REFUSED = {"ur3": "at least one <link>"}  # a xacro leftover without links


def load_quietly(source: Path | str, **options: Any) -> Model:
    """Load with free mimic joints, as Pinocchio does by default, whatever there is to warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load_model(source, mimic=False, **options)


def test_the_example_robots_are_installed() -> None:
    assert len(ROBOTS) >= 40


@pytest.mark.parametrize(
    "path", [path for path in ROBOTS if path.stem in REFUSED], ids=lambda path: path.stem
)
def test_refused_robot(path: Path) -> None:
    with pytest.raises(ModelError, match=REFUSED[path.stem]):
        load_quietly(path)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize(
    "path", [path for path in ROBOTS if path.stem not in REFUSED], ids=lambda path: path.stem
)
def test_example_robot(path: Path, floating: bool) -> None:
    root = [pinocchio.JointModelFreeFlyer()] if floating else []
    other = pinocchio.buildModelFromUrdf(str(path), *root)
    assert_same(load_quietly(path, floating_base=floating), other)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", ["iiwa14", "hyq", "atlas", "chain:5", "menagerie"])
def test_own_robot(name: str, floating: bool) -> None:
    text = MENAGERIE if name == "menagerie" else (builtin_urdf(name) or b"").decode()
    root = [pinocchio.JointModelFreeFlyer()] if floating else []
    other = pinocchio.buildModelFromXML(text, *root)
    assert_same(load_quietly(text, floating_base=floating), other)


@pytest.mark.parametrize("name", ["iiwa14", "hyq", "atlas"])
def test_limits(name: str) -> None:
    other = pinocchio.buildModelFromXML((builtin_urdf(name) or b"").decode())
    for body in load_model(name).bodies:
        joint = other.joints[other.getJointId(body.joint_name)]
        assert body.limits.lower == other.lowerPositionLimit[joint.idx_q]
        assert body.limits.upper == other.upperPositionLimit[joint.idx_q]
        assert body.limits.velocity == other.velocityLimit[joint.idx_v]
        assert body.limits.effort == other.effortLimit[joint.idx_v]
