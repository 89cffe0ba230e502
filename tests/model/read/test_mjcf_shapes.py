"""Geoms as shapes: kinds, colours, sizes, meshes where MuJoCo has them."""

from __future__ import annotations

import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

from robomorph.errors import ModelWarning
from robomorph.model import Box, Capsule, Cylinder, Ellipsoid, Mesh, Model, Sphere, load_model
from robomorph.shapes import read_mesh
from tests.model.read.mujoco_oracle import mj_model


def geoms(*lines: str, asset: str = "") -> str:
    inside = "".join(lines)
    return (
        f"<mujoco model='m'><asset>{asset}</asset><worldbody><geom type='plane' size='1 1 1'/>"
        f"<body name='b'><joint/>{inside}</body></worldbody></mujoco>"
    )


def test_shapes_and_sizes() -> None:
    model = load_model(
        geoms(
            "<geom type='box' size='1 2 3' pos='0.1 0 0'/>",
            "<geom name='ball' type='sphere' size='0.4'/>",
            "<geom type='capsule' size='0.1 0.5'/>",
            "<geom type='cylinder' size='0.2 0.3'/>",
            "<geom type='ellipsoid' size='1 2 3'/>",
            "<geom type='capsule' size='0.1' fromto='0 0 0 0 0 2'/>",
        ),
        strict=True,
    )
    visual = [shape for shape in model.shapes if shape.kind == "visual"]
    assert [shape.geometry for shape in visual] == [
        Box((2.0, 4.0, 6.0)),
        Sphere(0.4),
        Capsule(0.1, 1.0),
        Cylinder(0.2, 0.6),
        Ellipsoid((1.0, 2.0, 3.0)),
        Capsule(0.1, 2.0),
    ]
    assert [shape.name for shape in visual[:3]] == ["b_0", "ball", "b_2"]
    assert visual[0].placement.translation.tolist() == [0.1, 0.0, 0.0] and visual[0].body == 0
    assert visual[5].placement.translation.tolist() == [0.0, 0.0, 1.0]
    assert [shape.kind for shape in model.shapes] == ["visual"] * 6 + ["collision"] * 6


def test_what_is_drawn_and_what_may_touch() -> None:
    def kinds(attributes: str) -> list[str]:
        shapes = load_model(
            geoms("<geom size='1' mass='1' contype='0' conaffinity='0'/>", f"<geom size='2' {attributes}/>")
        ).shapes
        return [shape.kind for shape in shapes if shape.geometry == Sphere(2.0)]

    assert kinds("") == ["visual", "collision"]
    assert kinds("contype='0' conaffinity='0'") == ["visual"]
    assert kinds("contype='0'") == ["visual", "collision"]
    assert kinds("group='3'") == ["collision"]
    assert kinds("group='4' contype='0' conaffinity='0'") == ["visual"]


def test_colours() -> None:
    asset = "<material name='red' rgba='1 0 0 1'/>"
    model = load_model(
        geoms(
            "<geom size='1'/>",
            "<geom size='1' material='red'/>",
            "<geom size='1' material='red' rgba='0 1 0 .5'/>",
            asset=asset,
        )
    )
    assert [shape.color for shape in model.shapes[:3]] == [
        (0.5, 0.5, 0.5, 1.0),
        (1.0, 0.0, 0.0, 1.0),
        (0.0, 1.0, 0.0, 0.5),
    ]
    assert model.shapes[3].color is None


def wedge(path: Path) -> None:
    """A tetrahedron far from its own origin, whose main axes are not the file's."""
    corners = [(1, 0, 0), (1.5, 0, 0), (1, 0.7, 0.1), (1.1, 0.2, 1.3)]
    faces = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
    path.write_text("\n".join(lines))


@pytest.mark.parametrize(
    "attributes",
    [
        "",
        "scale='1 2 -0.5'",
        "scale='1 2 3' refpos='0.1 0 0.2'",
        "refpos='0.1 0 0.2' refquat='1 2 3 4' scale='2 2 2'",
    ],
)
def test_meshes_lie_where_mujoco_has_them(attributes: str, tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    (tmp_path / "meshes").mkdir()
    wedge(tmp_path / "meshes" / "wedge.obj")
    asset = f"<mesh name='w' file='wedge.obj' {attributes}/>"
    text = geoms("<geom type='mesh' mesh='w' pos='0 0.1 0.2' euler='10 20 30'/>", asset=asset)
    path = tmp_path / "robot.xml"
    path.write_text(text.replace("<asset>", "<compiler meshdir='meshes'/><asset>"))
    shape = load_model(path, strict=True).shapes[0]
    assert isinstance(shape.geometry, Mesh) and shape.geometry.path == tmp_path / "meshes" / "wedge.obj"
    mesh = read_mesh(shape.geometry.path, shape.geometry.scale)
    ours = mesh.vertices @ shape.placement.rotation.T + shape.placement.translation
    model = mj_model(path)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    theirs = model.mesh_vert @ data.geom_xmat[1].reshape(3, 3).T + data.geom_xpos[1]
    for corner in theirs:
        assert np.abs(ours - corner).max(axis=1).min() < 1e-6  # MuJoCo keeps float32


def test_meshes_of_what_is_no_file_lie_where_mujoco_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wedge(tmp_path / "wedge.obj")
    text = geoms("<geom type='mesh' mesh='wedge'/>", asset="<mesh file='wedge.obj'/>")
    Path("robot.xml").write_text(text)
    sources = [text, mj_model(text), mj_model("robot.xml")]
    if hasattr(mujoco.MjSpec, "from_file"):
        sources.append(mujoco.MjSpec.from_file("robot.xml"))
    for source in sources:
        shape = load_model(source, strict=True).shapes[0]
        assert isinstance(shape.geometry, Mesh) and shape.geometry.path == tmp_path / "wedge.obj"


def test_what_is_no_shape_is_told_and_left_out() -> None:
    field = "<hfield name='h' nrow='3' ncol='3' size='1 1 1 1'/>"
    mesh = "<mesh name='v' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/>"
    text = geoms("<geom size='1'/>", "<geom type='mesh' mesh='v'/>", asset=mesh + field)
    text = text.replace("<body", "<geom name='ground' type='hfield' hfield='h'/><body")
    with pytest.warns(
        ModelWarning, match=r'no shape of a robot.*name="ground".*a height field.*which is in no file'
    ):
        model = load_model(text)
    assert len(model.shapes) == 2


def test_shapes_change_no_kernel() -> None:
    def digest(attributes: str) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model: Model = load_model(geoms(f"<geom size='1' mass='1' {attributes}/>"))
        return model.digest

    assert digest("") == digest("rgba='1 0 0 1' group='4' contype='0' conaffinity='2'")
