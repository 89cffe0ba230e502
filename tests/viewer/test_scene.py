"""Scene documents of robots against Pinocchio and the robots' own kinematics, and what is refused of them."""

from __future__ import annotations

import base64
import copy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.errors import ArgumentError, ModelWarning
from robomorph.viewer.document import check_scene, encoded
from robomorph.viewer.html import LARGE_MESH, page_html
from robomorph.viewer.poses import matrix
from robomorph.viewer.scene import Placing, make_scene
from tests.model.oracle import example_robots
from tests.viewer.scenes import blocks, motion, robot

CUBE = np.array(np.meshgrid([0.0, 1.0], [0.0, 1.0], [0.0, 1.0])).reshape(3, -1).T


def placed(entry: dict[str, Any], shape: dict[str, Any]) -> Any:
    """(4, 4) of a shape in the world."""
    link = np.array(entry["poses"][shape["link"]])
    inside = matrix(np.array(shape["position"]), np.array(shape["quaternion"]))
    return matrix(link[:3], link[3:]) @ inside


def test_shapes_are_where_pinocchio_has_them() -> None:
    """UR5 at random angles: meshes of links, some of which are fixed to others."""
    pinocchio = pytest.importorskip("pinocchio", reason="needs the package pin")
    path = next(path for path in example_robots() if path.name == "ur5_robot.urdf")
    model = robomorph.load(path)
    q = model.random_state(3).q
    entry = make_scene([Placing(model, q)])["robots"][0]
    theirs = pinocchio.buildModelFromUrdf(str(path))
    geometry = pinocchio.buildGeomFromUrdf(
        theirs, str(path), pinocchio.GeometryType.VISUAL, package_dirs=[str(path.parents[4])]
    )
    data, places = theirs.createData(), geometry.createData()
    pinocchio.updateGeometryPlacements(theirs, data, geometry, places, q)
    ours = [placed(entry, shape) for shape in entry["shapes"] if shape["layer"] == "visual"]
    assert len(ours) == len(places.oMg) > 5
    for other in places.oMg:
        assert min(np.abs(other.homogeneous - one).max() for one in ours) < 1e-9


def test_a_robot_without_shapes_is_drawn_from_its_tree() -> None:
    entry = make_scene([robot("iiwa14")])["robots"][0]
    layers = {shape["layer"] for shape in entry["shapes"]}
    assert layers == {"visual", "inertia"}
    kinds = {shape["kind"] for shape in entry["shapes"] if shape["layer"] == "visual"}
    assert kinds == {"capsule", "sphere"}


def test_inertia_ellipsoids_lie_at_the_centre_of_mass() -> None:
    model = robot("hyq", True)
    entry = make_scene([model])["robots"][0]
    masses = [body.inertia.mass for body in model.model.bodies]
    centres = [placed(entry, shape)[:3, 3] for shape in entry["shapes"] if shape["layer"] == "inertia"]
    assert len(centres) == len(masses)
    mean = np.average(centres, axis=0, weights=masses)
    assert mean == pytest.approx(model.center_of_mass(np.array(entry["q"])), abs=1e-12)


def test_coordinates_say_what_a_slider_can_set() -> None:
    model = robot("hyq", True)
    rows = make_scene([model])["robots"][0]["coordinates"]
    assert [row["index"] for row in rows] == list(range(model.nq))
    assert [row["kind"] for row in rows[:8]] == ["length"] * 3 + ["other"] * 4 + ["angle"]
    assert [row["slider"] for row in rows[:8]] == [True] * 3 + [False] * 4 + [True]
    assert rows[7]["lower"] == model.limits.lower[7] and rows[0]["lower"] is None


def test_tool_frames_hang_on_a_link() -> None:
    turn = np.array([0.2, -0.4, 0.1, 0.8])
    tip = matrix(np.array([0.1, 0.2, 0.3]), turn / np.linalg.norm(turn))
    model = robomorph.load("iiwa14", tool_frames={"tip": ("lbr_iiwa_link_7", tip)})
    q = model.random_state(1).q
    entry = make_scene([Placing(model, q)])["robots"][0]
    (tool,) = entry["tools"]
    assert tool["name"] == "tip"
    assert np.abs(placed(entry, tool) - model.forward_kinematics(q, "tip")).max() < 1e-12


# --- meshes -------------------------------------------------------------------------------------------


def mesh_robot(folder: Path, mesh: str) -> robomorph.Robot:
    (folder / "robot.urdf").write_text(
        "<robot name='m'><link name='a'/><link name='b'><visual><geometry>"
        f"<mesh filename='{mesh}' scale='2 1 -1'/></geometry></visual></link>"
        "<joint name='j' type='continuous'><parent link='a'/><child link='b'/>"
        "<origin xyz='0 0 0.5'/><axis xyz='0 0 1'/></joint></robot>"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return robomorph.load(folder / "robot.urdf")


def write_stl(path: Path, triangles: Any) -> None:
    rows = np.zeros(len(triangles), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    rows["corners"] = triangles
    path.write_bytes(b"\0" * 80 + np.uint32(len(rows)).tobytes() + rows.tobytes())


def cube_triangles() -> Any:
    hull = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6)]
    return CUBE[np.array([*hull, (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)])]


def numbers(text: str, dtype: str) -> Any:
    return np.frombuffer(base64.b64decode(text), dtype).reshape(-1, 3)


def test_a_mesh_keeps_its_triangles_and_no_point_twice(tmp_path: Path) -> None:
    write_stl(tmp_path / "cube.stl", cube_triangles())
    scene = make_scene([mesh_robot(tmp_path, "cube.stl")])
    (mesh,) = scene["meshes"].values()
    points, faces = numbers(mesh["vertices"], "<f4"), numbers(mesh["faces"], "<u4")
    assert len(points) == 8
    assert np.array_equal(points[faces], cube_triangles())
    (shape,) = [one for one in scene["robots"][0]["shapes"] if one["kind"] == "mesh"]
    assert shape["size"] == [2.0, 1.0, -1.0]


@pytest.mark.parametrize("mesh", ["missing.stl", "broken.stl"])
def test_the_tree_stands_in_for_a_bad_mesh(tmp_path: Path, mesh: str) -> None:
    (tmp_path / "broken.stl").write_bytes(b"solid nothing\nfacet normal what\n")
    model = mesh_robot(tmp_path, mesh)
    with pytest.warns(ModelWarning, match=mesh):
        scene = make_scene([model])
    assert scene["meshes"] == {}
    shapes = scene["robots"][0]["shapes"]
    assert shapes and all(shape["kind"] != "mesh" for shape in shapes)


def test_a_file_with_a_large_mesh_says_how_large(tmp_path: Path) -> None:
    count = LARGE_MESH + 1
    mesh = {"vertices": encoded(CUBE, "<f4"), "faces": encoded([[0, 1, 2]] * count, "<u4"), "name": "big.stl"}
    scene = blocks(meshes={"m0": mesh})
    with pytest.warns(ModelWarning, match=r"'big.stl': 50,001 triangles make 0.8 MB"):
        page_html(scene)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page_html(scene, live=True)


# --- what is refused ----------------------------------------------------------------------------------


def good() -> dict[str, Any]:
    mark = {"kind": "arrow", "position": [0, 0, 0], "vector": [0, 0, 1]}
    scene = blocks(trajectories=[motion(robot("iiwa14"))], marks=[mark])
    scene["robots"].append(make_scene([robot("iiwa14")])["robots"][0])
    scene["trajectories"][0]["robot"] = 1
    return scene


def not_finite(motion: dict[str, Any]) -> str:
    poses = np.frombuffer(base64.b64decode(motion["poses"]), "<f4").copy()
    poses[5] = np.nan
    return base64.b64encode(poses.tobytes()).decode()


def first_shape(**changes: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda scene: scene["robots"][0]["shapes"][0].update(changes)


def first_motion(**changes: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda scene: scene["trajectories"][0].update(changes)


def number(value: float, *place: Any) -> Callable[[dict[str, Any]], Any]:
    """Put a number where the names and indices lead to."""

    def spoil(scene: dict[str, Any]) -> None:
        inside: Any = scene
        for key in place[:-1]:
            inside = inside[key]
        inside[place[-1]] = value

    return spoil


NAN, INFINITY = float("nan"), float("inf")
LINE = ("trajectories", 0, "plots", 0, "lines", 0, "values")
BAD: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "version": (number(2, "version"), "version: expected 1, found 2"),
    "NaN in a pose": (
        number(NAN, "robots", 0, "poses", 1, 2),
        r"robots\[0\].poses\[1\]\[2\]: expected a fin",
    ),
    "infinity in q": (number(INFINITY, "robots", 1, "q", 0), r"robots\[1\].q\[0\]: expected a finite"),
    "NaN in a line": (number(NAN, *LINE, 3), r"lines\[0\].values\[3\]"),
    "NaN, encoded": (
        lambda scene: first_motion(poses=not_finite(scene["trajectories"][0]))(scene),
        r"trajectories\[0\].poses: expected finite",
    ),
    "a pose too few": (lambda scene: scene["robots"][0]["poses"].pop(), "one for each of 3 links, found 2"),
    "no unit quaternion": (first_shape(quaternion=[0, 0, 0, 2]), "length one, found length 2"),
    "a size too many": (first_shape(kind="sphere"), "expected 1 numbers"),
    "a negative size": (first_shape(size=[1, 1, -1]), "not negative"),
    "an unknown kind": (first_shape(kind="bx"), "did you mean 'box'"),
    "an unknown mesh": (first_shape(kind="mesh", mesh="m7"), "scene's meshes"),
    "a link beyond": (first_shape(link=3), "an index below 3"),
    "times that stand": (number(0.0, "trajectories", 0, "times", 1), "increasing"),
    "another's motion": (first_motion(robot=0), "61 times x 3 links x 7"),
    "an arrow to nowhere": (lambda scene: scene["marks"][0].pop("vector"), r"marks\[0\].vector: expected 3"),
    "no text": (number(3, "title"), "title: expected a text"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_drawn_is_refused(name: str) -> None:
    scene = copy.deepcopy(good())
    check_scene(scene)
    spoil, words = BAD[name]
    spoil(scene)
    with pytest.raises(ArgumentError, match=words):
        page_html(scene)


def test_arrays_with_nan_are_not_encoded() -> None:
    with pytest.raises(ArgumentError, match="NaN or infinity"):
        encoded([1e39], "<f4")


def test_a_scene_needs_a_robot() -> None:
    with pytest.raises(ArgumentError, match="one at least"):
        make_scene([])
