"""Shapes of URDF by hand: what is read, what is dropped with a word, and where meshes are found."""

from __future__ import annotations

import os
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError, ModelError, Pose
from robomorph.model import WORLD, Box, Capsule, Cylinder, Mesh, Model, Sphere, load_model
from robomorph.model.mesh_paths import _VARIABLES

from .samples import SOUND_INERTIAL, arm, joint, link, robot


def messages_of(source: Any, **options: Any) -> tuple[Model, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = load_model(source, **options)
    return model, [str(item.message) for item in caught]


def with_shapes(*shapes: str, more: str = "") -> str:
    """An arm whose link `upper` has these shapes; a word for them all would be on line 3."""
    lines = arm()
    lines[1] = link("upper", SOUND_INERTIAL + "".join(shapes))
    return robot(*lines, more) if more else robot(*lines)


def visual(geometry: str, rest: str = "") -> str:
    return f"<visual>{rest}<geometry>{geometry}</geometry></visual>"


# --- what is read -----------------------------------------------------------------------------------------


def test_shapes_by_hand() -> None:
    text = with_shapes(
        '<visual name="shell"><origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/>'
        '<geometry><box size="1 2 3"/></geometry>'
        '<material name="m"><color rgba="1 0.5 0 1"/></material></visual>',
        '<collision><geometry><cylinder radius="0.1" length="2"/></geometry></collision>',
        '<collision><geometry><capsule radius="0.2" length="0"/></geometry></collision>',
        visual('<sphere radius="0.3"/>'),
    )
    model, messages = messages_of(text)
    assert messages == []
    box, ball, cylinder, capsule = model.shapes
    assert (box.kind, box.name, box.link, box.body) == ("visual", "shell", "upper", 0)
    assert box.geometry == Box((1.0, 2.0, 3.0)) and box.color == (1.0, 0.5, 0.0, 1.0)
    assert box.placement == Pose(np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]), np.array([1.0, 0, 0]))
    assert (ball.name, ball.geometry, ball.color) == ("upper_1", Sphere(0.3), None)
    assert (cylinder.kind, cylinder.name, cylinder.geometry) == ("collision", "upper_0", Cylinder(0.1, 2.0))
    assert (capsule.name, capsule.geometry) == ("upper_1", Capsule(0.2, 0.0))
    assert robomorph.load(text).shapes == model.shapes


def test_a_shape_is_carried_through_fixed_and_locked_joints_and_the_world() -> None:
    shape = visual('<sphere radius="1"/>', '<origin xyz="0 0 1"/>')
    text = robot(
        link("base", SOUND_INERTIAL + shape),
        link("arm"),
        link("flange", shape),
        joint("turn", "base", "arm"),
        joint("weld", "arm", "flange", "fixed", origin='<origin xyz="0 2 0" rpy="1.5707963267948966 0 0"/>'),
    )
    base, flange = load_model(text).shapes
    assert (base.body, base.placement.translation.tolist()) == (WORLD, [0, 0, 1])
    assert (flange.link, flange.body, flange.placement.translation.tolist()) == ("flange", 0, [0, 1, 0])
    _, flange = load_model(text, locked={"turn": np.pi / 2}).shapes
    assert (flange.body, flange.placement.translation.tolist()) == (WORLD, [-1, 0, 0.5])
    base, flange = load_model(text, floating_base=True).shapes
    assert (base.body, flange.body) == (0, 1)


def test_payloads_tools_gravity_and_snap_leave_shapes_alone() -> None:
    text = with_shapes(visual('<sphere radius="1"/>', '<origin xyz="0 0 1" rpy="0.1 0.2 0.3"/>'))
    plain = load_model(text).shapes
    changed = load_model(
        text,
        payloads={"upper": (2.0, [1, 0, 0])},
        tool_frames={"tool": ("lower", [0, 0, 1])},
        gravity=(0, 0, 0),
        snap=0.0,
        mimic=False,
    )
    assert changed.shapes == plain


def test_digests_and_kernels_do_not_depend_on_shapes() -> None:
    bare, shaped = load_model(robot(*arm())), load_model(with_shapes(visual('<sphere radius="1"/>')))
    assert shaped.shapes and not bare.shapes
    assert shaped.digest == bare.digest and shaped == bare


def test_shapes_pickle_with_the_robot_and_are_small() -> None:
    shape = visual('<mesh filename="package://some_robot/meshes/link.stl" scale="1 1 1"/>')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, many = (robomorph.load(with_shapes(*[shape] * n)) for n in (1, 41))
    assert pickle.loads(pickle.dumps(many)).shapes == many.shapes
    each = (len(pickle.dumps(many.model)) - len(pickle.dumps(one.model))) / 40
    assert each < 500
    assert pickle.loads(pickle.dumps(many.shapes[0])).placement.rotation.flags.writeable is False


# --- what is dropped, with a word -------------------------------------------------------------------------

BAD = {
    "negative radius": ('<sphere radius="-1"/>', "a radius above 0, found -1"),
    "zero radius": ('<cylinder radius="0" length="1"/>', "a radius above 0, found 0"),
    "negative length": ('<capsule radius="1" length="-2"/>', "a length of 0 or more, found -2"),
    "no radius": ("<sphere/>", "'radius'"),
    "NaN": ('<box size="1 nan 1"/>', "a finite number in 'size'"),
    "two numbers": ('<box size="1 2"/>', "three numbers in 'size'"),
    "negative size": ('<box size="1 2 -3"/>', "without negative numbers"),
    "a line": ('<box size="0 0 3"/>', "one zero at most"),
    "infinite": ('<sphere radius="1e999"/>', "a finite number"),
    "too large": ('<sphere radius="1e40"/>', "at most 1e+30"),
    "zero scale": ('<mesh filename="a.stl" scale="1 0 1"/>', "a scale without zeros, found 1 0 1"),
    "no file": ("<mesh/>", "'filename'"),
    "xacro": ('<sphere radius="${r}"/>', '"${r}"'),
    "nothing": ("", "one of box, capsule, cylinder, mesh, sphere, found nothing"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_shape_is_dropped_by_name_and_an_error_if_strict(case: str) -> None:
    geometry, found = BAD[case]
    text = with_shapes(visual(geometry), visual('<sphere radius="1"/>'))
    model, messages = messages_of(text)
    assert [shape.geometry for shape in model.shapes] == [Sphere(1.0)]
    assert model.shapes[0].name == "upper_1"  # its own number, whatever became of the first
    assert len(messages) == 1 and '<visual> of <link name="upper"> (line 3)' in messages[0], messages
    assert found in messages[0]
    with pytest.raises(ModelError, match=r"cannot be used; it was left out"):
        load_model(text, strict=True)


@pytest.mark.parametrize(
    ("shape", "found"),
    [
        ('<visual><origin xyz="0 nan 0"/><geometry><sphere radius="1"/></geometry></visual>', "'xyz'"),
        ("<collision/>", "a <geometry>, found none"),
        ('<collision><geometry><plane normal="0 0 1"/></geometry></collision>', "<plane>"),
    ],
)
def test_bad_origins_and_missing_geometry(shape: str, found: str) -> None:
    model, messages = messages_of(with_shapes(shape))
    assert model.shapes == () and any(found in m and "left out" in m for m in messages)


def test_macros_in_shapes_are_no_reason_to_refuse_a_robot() -> None:
    text = with_shapes("<visual><xacro:shell/></visual>").replace("<robot ", '<robot xmlns:xacro="x" ')
    model, messages = messages_of(text)
    assert model.shapes == () and any("a xacro macro" in message for message in messages)


COLORS = {
    "unknown": ('<material name="nowhere"/>', "nowhere defined"),
    "three numbers": ('<material name=""><color rgba="1 0 0"/></material>', "four numbers in 'rgba'"),
    "bytes": ('<material name="m"><color rgba="255 0 0 255"/></material>', "from 0 to 1"),
    "texture": (
        '<material name="m"><texture filename="wood.png"/></material>',
        "textures, which are not read",
    ),
}


@pytest.mark.parametrize("case", COLORS)
def test_a_colour_that_cannot_be_used_leaves_the_shape(case: str) -> None:
    material, found = COLORS[case]
    model, messages = messages_of(with_shapes(visual('<sphere radius="1"/>', material)))
    (shape,) = model.shapes
    assert shape.color is None and len(messages) == 1 and found in messages[0], messages


def test_an_empty_texture_is_none() -> None:
    material = '<material name=""><color rgba="1 1 1 1"/><texture filename=""/></material>'
    model, messages = messages_of(with_shapes(visual('<sphere radius="1"/>', material)))
    assert messages == [] and model.shapes[0].color == (1.0, 1.0, 1.0, 1.0)


# --- where meshes are found -------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, _ in _VARIABLES:
        monkeypatch.delenv(name, raising=False)


def mesh(uri: str) -> str:
    return with_shapes(visual(f'<mesh filename="{uri}"/>'))


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"solid\nendsolid\n")
    return path


def found(source: Any, **options: Any) -> Path | None:
    model, messages = messages_of(source, **options)
    (shape,) = model.shapes
    assert isinstance(shape.geometry, Mesh)
    assert bool(messages) == (shape.geometry.path is None) == shape.is_missing
    return shape.geometry.path


def test_a_mesh_is_found_around_the_file(tmp_path: Path) -> None:
    stl = touch(tmp_path / "arm_description" / "meshes" / "a b.stl")
    urdf = tmp_path / "arm_description" / "urdf" / "arm.urdf"
    urdf.parent.mkdir()
    for uri in (
        "package://arm_description/meshes/a b.stl",
        "package:///arm_description/meshes/a b.stl",
        "package://arm_description/meshes/a%20b.stl",
        "model://arm_description/meshes/a b.stl",
        "../meshes/a b.stl",
        str(stl),
        f"file://{stl}",
        f"file://localhost{stl}",
        f"file://{str(stl).replace(' ', '%20')}",
        "file://../meshes/a b.stl",
    ):
        urdf.write_text(mesh(uri))
        path = found(urdf)
        assert path is not None and path.is_absolute() and path.samefile(stl), uri


def test_a_package_is_known_by_its_manifest_and_through_links(tmp_path: Path) -> None:
    stl = touch(tmp_path / "checkout" / "meshes" / "a.stl")
    (tmp_path / "checkout" / "package.xml").write_text("<package><name> arm_description </name></package>")
    urdf = tmp_path / "checkout" / "arm.urdf"
    urdf.write_text(mesh("package://arm_description/meshes/a.stl"))
    assert found(urdf) == stl
    linked = tmp_path / "elsewhere" / "arm.urdf"
    linked.parent.mkdir()
    linked.symlink_to(urdf)
    assert found(linked) == stl


@pytest.mark.parametrize("variable", [name for name, _ in _VARIABLES])
def test_a_package_is_found_through_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    text = mesh("package://pkg/a.stl")
    assert found(text) is None
    within = "share/pkg" if "PREFIX" in variable else "pkg"
    stl = touch(tmp_path / "root" / within / "a.stl")
    monkeypatch.setenv(
        variable, os.pathsep.join(["", "relative", str(tmp_path / "none"), str(tmp_path / "root")])
    )
    assert found(text) == stl


def test_workspaces_are_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = touch(tmp_path / "src" / "repository" / "pkg" / "a.stl")
    two = touch(tmp_path / "install" / "other" / "share" / "other" / "a.stl")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "src"))
    monkeypatch.setenv("COLCON_PREFIX_PATH", str(tmp_path / "install"))
    assert found(mesh("package://pkg/a.stl")) == one
    assert found(mesh("package://other/a.stl")) == two


def test_package_dirs_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(tmp_path / "ros" / "pkg" / "a.stl")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ros"))
    stl = touch(tmp_path / "mine" / "pkg" / "a.stl")
    for folder in (tmp_path / "mine", str(tmp_path / "mine"), tmp_path / "mine" / "pkg"):
        assert found(mesh("package://pkg/a.stl"), package_dirs=[folder]) == stl
    assert found(mesh("pkg/a.stl"), package_dirs=[tmp_path / "mine"]) == stl
    robot_of_dirs = robomorph.load(mesh("package://pkg/a.stl"), package_dirs=(tmp_path / "mine",))
    assert robot_of_dirs.shapes[0].geometry == Mesh("package://pkg/a.stl", (1.0, 1.0, 1.0), stl)


@pytest.mark.parametrize("wrong", ["folder", b"x", 3, ["no such folder"], [3], [None], ["a\0b"]])
def test_package_dirs_that_are_none_are_refused(wrong: Any) -> None:
    with pytest.raises(ArgumentError, match=r"package_dirs: expected"):
        load_model(mesh("a.stl"), package_dirs=wrong)


def test_missing_meshes_give_one_warning_that_lists_them(tmp_path: Path) -> None:
    shapes = [visual(f'<mesh filename="package://pkg/{name}.stl"/>') for name in ("a", "b", "a")]
    model, messages = messages_of(with_shapes(*shapes))
    assert len(messages) == 1 and "package_dirs" in messages[0]
    assert messages[0].count("package://pkg/a.stl") == messages[0].count("package://pkg/b.stl") == 1
    assert [shape.is_missing for shape in model.shapes] == [True] * 3
    with pytest.raises(ModelError, match="mesh files that were not found"):
        load_model(with_shapes(*shapes), strict=True)


@pytest.mark.parametrize(
    "uri",
    [
        "package://",
        "package://..",
        "package://../x",
        "http://host/a.stl",
        "x" * 5000,
        "file://",
        "/",
        "/dev/null",
    ],
)
def test_odd_addresses_are_missing_and_nothing_worse(uri: str) -> None:
    assert found(mesh(uri)) is None


def test_another_format_of_the_same_mesh_is_another_mesh(tmp_path: Path) -> None:
    touch(tmp_path / "a.stl")
    urdf = tmp_path / "arm.urdf"
    urdf.write_text(mesh("a.dae"))
    assert found(urdf) is None
