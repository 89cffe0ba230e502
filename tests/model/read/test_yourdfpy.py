"""yourdfpy's objects against the files that they were read from."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from robomorph.errors import ModelError
from robomorph.model import load_model
from robomorph.model.robots import builtin_urdf
from tests.model.read.mujoco_oracle import load
from tests.model.read.test_pinocchio_models import FILES
from tests.model.samples import MENAGERIE

yourdfpy: Any = pytest.importorskip("yourdfpy")
CHOSEN = [
    path
    for path in FILES
    if Path(path).stem in ("panda", "ur5_robot", "hyq_no_sensors", "talos_reduced", "solo12")
]


def parsed(source: str) -> Any:
    given = source if "<" not in source else io.BytesIO(source.encode())
    return yourdfpy.URDF.load(given, build_scene_graph=False, load_meshes=False)


def same(ours: Any, theirs: Any) -> None:
    """The same robot, to the rounding of rotations that went through angles and matrices."""
    assert theirs.joint_names == ours.joint_names and theirs.link_names == ours.link_names
    for a, b in zip(ours.bodies, theirs.bodies, strict=True):
        assert (b.kind, b.limits, b.damping, b.friction) == (a.kind, a.limits, a.damping, a.friction)
        np.testing.assert_allclose(b.placement.matrix, a.placement.matrix, atol=2e-15)
        np.testing.assert_allclose(b.axis, a.axis, atol=1e-15)
        np.testing.assert_allclose(b.inertia.tensor, a.inertia.tensor, atol=1e-13 * max(1.0, a.inertia.mass))
        assert (a.mimic is None) == (b.mimic is None)
    assert len(theirs.shapes) == len(ours.shapes)
    for a, b in zip(ours.shapes, theirs.shapes, strict=True):
        assert (b.kind, b.link, b.color) == (a.kind, a.link, a.color)


@pytest.mark.parametrize("name", ["iiwa14", "hyq", "atlas", "chain:5"])
def test_built_in_robots(name: str) -> None:
    text = builtin_urdf(name)
    assert text is not None
    same(load_model(name), load_model(parsed(text.decode())))


@pytest.mark.parametrize("path", CHOSEN, ids=[Path(path).stem for path in CHOSEN])
def test_files_with_shapes(path: str) -> None:
    ours, theirs = load(path), load(parsed(path))
    same(ours.model, theirs.model)
    found = [shape.geometry.path for shape in theirs.shapes if hasattr(shape.geometry, "path")]
    assert found and all(found), "meshes are found where yourdfpy finds them"


def test_every_kind_of_joint() -> None:
    text = MENAGERIE if isinstance(MENAGERIE, str) else Path(MENAGERIE).read_text()
    same(load(text).model, load(parsed(text)).model)


@pytest.mark.parametrize("pitch", [np.pi / 2, 1.57079632679, 1.570796326794, 1.5707963, np.pi / 2 - 1e-15])
def test_right_angles_keep_their_digits(pitch: float) -> None:
    """yourdfpy's own writer is 1e-4 rad off here."""
    text = builtin_urdf("chain:2")
    assert text is not None
    tilted = text.decode().replace(
        '<origin xyz="0.5 0 0"/>', f'<origin xyz="0.5 0 0" rpy="0.3 {pitch!r} 0.7"/>', 1
    )
    assert tilted != text.decode()
    same(load(tilted, snap=0.0).model, load(parsed(tilted), snap=0.0).model)


def _set(path: str, value: Any) -> Any:
    """The robot chain:2 with one number of its first link or joint changed by hand."""
    built_in = builtin_urdf("chain:2")
    assert built_in is not None
    given = parsed(built_in.decode())
    *names, last = path.split(".")
    part = given.robot
    for name in names:
        part = part[int(name)] if name.isdigit() else getattr(part, name)
    setattr(part, last, value)
    return given


@pytest.mark.parametrize(
    ("path", "value", "found"),
    [
        ("joints.0.origin", 2.0 * np.eye(4), "no rigid motion"),
        ("joints.0.origin", np.eye(4)[[1, 0, 2, 3]], "no rigid motion"),
        ("joints.0.origin", np.full((4, 4), np.nan), "no rigid motion"),
        ("links.1.inertial.origin", np.diag([1.0, 1.0, -1.0, 1.0]), "no rigid motion"),
        ("links.1.inertial.inertia", np.arange(9.0).reshape(3, 3), "not symmetric"),
    ],
)
def test_numbers_changed_by_hand_are_checked(path: str, value: Any, found: str) -> None:
    with pytest.raises(ModelError, match=f"cannot be written down: an .*{found}"):
        load_model(_set(path, value))


@pytest.mark.parametrize("path", ["joints.0.origin", "joints.0.axis", "links.1.inertial.mass"])
def test_whole_numbers_that_no_float_has(path: str) -> None:
    with pytest.raises(ModelError, match=r"cannot be written down: .*too large"):
        load_model(_set(path, 10**400))


def test_other_objects_of_that_name_are_refused() -> None:
    class URDF(SimpleNamespace):
        pass

    URDF.__module__, URDF.__qualname__ = "yourdfpy.urdf", "URDF"
    with pytest.raises(ModelError, match="cannot be written"):
        load_model(URDF(robot=None))
    with pytest.raises(ModelError, match="expected a built-in name, a path"):
        load_model(SimpleNamespace())
