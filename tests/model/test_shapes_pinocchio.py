"""Where the shapes of every example robot are, as Pinocchio's geometry has them."""

from __future__ import annotations

import re
import sys
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.errors import ModelWarning
from robomorph.model import WORLD, Box, Capsule, Cylinder, Mesh, Model, Shape, Sphere

from .oracle import example_robots
from .samples import joint, link, robot

pinocchio = pytest.importorskip("pinocchio", reason="needs the package pin")

FILES = [path for path in example_robots() if path.stem != "ur3"]  # which has no links
KINDS = {"visual": pinocchio.GeometryType.VISUAL, "collision": pinocchio.GeometryType.COLLISION}
# What Pinocchio makes of a material without a colour.
_GREY = (0.9, 0.9, 0.9, 1.0)


def load_quietly(path: Path | str, **options: Any) -> robomorph.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return robomorph.load(path, mimic=False, **options)


def by_link(model: Model, kind: str) -> dict[str, Shape]:
    """Shapes by the names that Pinocchio gives them: the link's, and a number."""
    found: dict[str, list[Shape]] = defaultdict(list)
    for shape in model.shapes:
        if shape.kind == kind:
            found[shape.link].append(shape)
    return {f"{name}_{i}": shape for name, shapes in found.items() for i, shape in enumerate(shapes)}


def geometry_of(text: str, model: Any, kind: str) -> Any:
    """Pinocchio's geometry with a ball in the place of every mesh, as poses do not depend on them."""
    bare = re.sub(r"<mesh\b[^>]*?(/>|>\s*</mesh>)", '<sphere radius="1"/>', text)
    return pinocchio.buildGeomFromUrdfString(model, bare, KINDS[kind])


def assert_same_shapes(ours: Model, theirs: Any, text: str) -> int:
    count = 0
    for kind in KINDS:
        shapes, geometry = by_link(ours, kind), geometry_of(text, theirs, kind)
        assert set(shapes) == {one.name for one in geometry.geometryObjects}
        for other in geometry.geometryObjects:
            shape = shapes[other.name]
            carrier = "universe" if shape.body == WORLD else ours.bodies[shape.body].joint_name
            assert theirs.names[other.parentJoint] == carrier
            np.testing.assert_allclose(
                shape.placement.matrix, other.placement.homogeneous, rtol=0, atol=1e-9, err_msg=other.name
            )
            count += 1
    return count


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_shapes_sit_where_pinocchio_has_them(path: Path, floating: bool) -> None:
    root = [pinocchio.JointModelFreeFlyer()] if floating else []
    text = path.read_text(encoding="utf-8")
    model = load_quietly(path, floating_base=floating).model
    count = assert_same_shapes(model, pinocchio.buildModelFromUrdf(str(path), *root), text)
    assert count == len(model.shapes) == len(re.findall(r"<visual\b|<collision\b", _without_comments(text)))


def _without_comments(text: str) -> str:
    return re.sub(r"<!--.*?-->|<gazebo\b.*?</gazebo>", "", text, flags=re.DOTALL)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_shapes_move_as_those_of_pinocchio(path: Path) -> None:
    """World poses at random configurations, through the robot's link poses."""
    ours = load_quietly(path)
    theirs = pinocchio.buildModelFromUrdf(str(path))
    data, text = theirs.createData(), path.read_text(encoding="utf-8")
    poses = ours.compile("link_poses", target="interpreter")
    for q in ours.random_state(1, batch=2).q:
        links = dict(zip(ours.link_names, poses(q), strict=True))
        own = {f.name: f.placement.matrix for f in ours.model.link_placements}
        for kind in KINDS:
            geometry = geometry_of(text, theirs, kind)
            moved = geometry.createData()
            pinocchio.updateGeometryPlacements(theirs, data, geometry, moved, _reordered(ours, theirs, q))
            for name, shape in by_link(ours.model, kind).items():
                body = links[shape.link] @ np.linalg.inv(own[shape.link])
                where = moved.oMg[geometry.getGeometryId(name)].homogeneous
                np.testing.assert_allclose(body @ shape.placement.matrix, where, rtol=0, atol=1e-9)


def _reordered(ours: robomorph.Robot, theirs: Any, q: Any) -> Any:
    """Our configuration in Pinocchio's order, an unlimited angle as cosine and sine."""
    out = pinocchio.neutral(theirs)
    for name in ours.joint_names:
        other = theirs.joints[theirs.getJointId(name)]
        own = q[ours.coordinates(name)[0]]
        turned = other.nq == 2 and own.size == 1
        out[other.idx_q : other.idx_q + other.nq] = [np.cos(own[0]), np.sin(own[0])] if turned else own
    return out


@pytest.mark.parametrize("name", ["double_pendulum", "ur5_robot", "panda_collision", "finger_edu"])
def test_files_sizes_and_colours_are_those_of_pinocchio(name: str) -> None:
    path = next(path for path in FILES if path.stem == name)
    model = load_quietly(path).model
    theirs = pinocchio.buildModelFromUrdf(str(path))
    packages = [str(folder) for folder in path.parents[:5]]
    for kind, theirs_kind in KINDS.items():
        geometry = pinocchio.buildGeomFromUrdf(theirs, str(path), theirs_kind, package_dirs=packages)
        shapes = by_link(model, kind)
        assert len(shapes) == len(geometry.geometryObjects)
        for other in geometry.geometryObjects:
            shape = shapes[other.name]
            assert _same_geometry(shape.geometry, other), other.name
            if kind == "visual":
                np.testing.assert_allclose(shape.color or _GREY, other.meshColor, atol=1e-12)


def _same_geometry(ours: Any, other: Any) -> bool:
    theirs = other.geometry
    if isinstance(ours, Mesh):
        assert ours.path is not None
        same = ours.path.samefile(other.meshPath)
        return same and np.allclose(ours.scale, np.asarray(other.meshScale).ravel(), atol=0, rtol=1e-12)
    if isinstance(ours, Box):
        return np.allclose(ours.size, 2.0 * np.asarray(theirs.halfSide).ravel(), atol=1e-12)
    if isinstance(ours, Sphere):
        return bool(np.isclose(ours.radius, theirs.radius))
    assert isinstance(ours, (Cylinder, Capsule))
    assert type(theirs).__name__ == type(ours).__name__
    return np.allclose((ours.radius, ours.length), (theirs.radius, 2.0 * theirs.halfLength), atol=1e-12)


EVERY_SHAPE = (
    '<visual><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><geometry><box size="0.1 0.2 0.3"/></geometry>'
    '<material name="red"/></visual>'
    '<visual><geometry><cylinder radius="0.1" length="0.5"/></geometry>'
    '<material name="red"><color rgba="0 0 1 1"/></material></visual>'
    '<visual><geometry><sphere radius="0.2"/></geometry>'
    '<material name="late"><color rgba="0 0.5 0 0.25"/></material></visual>'
    '<visual><geometry><sphere radius="0.3"/></geometry>'
    '<material name=""><color rgba="0.125 0 0 1"/></material></visual>'
    '<collision><origin xyz="0 0 0.1"/><geometry><capsule radius="0.1" length="0.5"/></geometry></collision>'
)


def test_every_geometry_and_colour_is_that_of_pinocchio() -> None:
    """A name means what it was first defined as, whatever stands beside it later."""
    reused = (
        '<visual><geometry><sphere radius="0.4"/></geometry><material name="late"/></visual>'
        '<visual><geometry><sphere radius="0.4"/></geometry></visual>'
    )
    text = robot(
        '<material name="red"><color rgba="1 0 0 1"/></material>',
        link("base", EVERY_SHAPE),
        link("tip", reused),
        joint("j", "base", "tip"),
    ).replace("<robot ", '<robot version="1.2" ')
    model, theirs = load_quietly(text).model, pinocchio.buildModelFromXML(text)
    assert_same_shapes(model, theirs, text)
    for kind, theirs_kind in KINDS.items():
        geometry = pinocchio.buildGeomFromUrdfString(theirs, text, theirs_kind)
        for other in geometry.geometryObjects:
            shape = by_link(model, kind)[other.name]
            assert _same_geometry(shape.geometry, other)
            np.testing.assert_allclose(shape.color or _GREY, other.meshColor, atol=1e-12)
    assert [shape.color for shape in model.shapes if shape.link == "tip"] == [(0.0, 0.5, 0.0, 0.25), None]


@pytest.mark.parametrize("name", ["panda_collision", "romeo_small", "talos_reduced"])
def test_locked_joints_carry_their_shapes(name: str) -> None:
    """Every other joint locked at a random value, in ours and in Pinocchio's reduced model."""
    path = next(path for path in FILES if path.stem == name)
    free = load_quietly(path)
    q = free.random_state(3).q
    locked = {j: float(q[free.coordinates(j)[0]][0]) for j in free.joint_names[::2]}
    model = load_quietly(path, locked=locked).model
    whole, text = pinocchio.buildModelFromUrdf(str(path)), path.read_text(encoding="utf-8")
    ids = [whole.getJointId(joint_name) for joint_name in locked]
    for kind in KINDS:
        geometry = geometry_of(text, whole, kind)
        less, moved = pinocchio.buildReducedModel(whole, geometry, ids, _reordered(free, whole, q))
        shapes = by_link(model, kind)
        assert len(shapes) == len(moved.geometryObjects) > 0
        for other in moved.geometryObjects:
            shape = shapes[other.name]
            carrier = "universe" if shape.body == WORLD else model.bodies[shape.body].joint_name
            assert less.names[other.parentJoint] == carrier
            np.testing.assert_allclose(
                shape.placement.matrix, other.placement.homogeneous, rtol=0, atol=1e-9, err_msg=other.name
            )


@pytest.mark.parametrize(("name", "root"), [("panda_collision", "panda_hand"), ("a1", "FL_foot")])
def test_another_root_carries_the_shapes(name: str, root: str) -> None:
    """Seen from the new root, every shape is where it was: at random configurations, against Pinocchio."""
    path = next(path for path in FILES if path.stem == name)
    free, turned = load_quietly(path), load_quietly(path, root=root)
    whole, text = pinocchio.buildModelFromUrdf(str(path)), path.read_text(encoding="utf-8")
    data, q = whole.createData(), free.random_state(4).q
    own = np.concatenate([q[free.coordinates(j)[0]] for j in turned.joint_names])
    links = dict(zip(turned.link_names, turned.compile("link_poses", target="interpreter")(own), strict=True))
    frames = {f.name: f.placement.matrix for f in turned.model.link_placements}
    for kind in KINDS:
        geometry = geometry_of(text, whole, kind)
        moved = geometry.createData()
        pinocchio.updateGeometryPlacements(whole, data, geometry, moved, _reordered(free, whole, q))
        pinocchio.updateFramePlacements(whole, data)
        base = np.linalg.inv(data.oMf[whole.getFrameId(root)].homogeneous)
        for shape_name, shape in by_link(turned.model, kind).items():
            body = links[shape.link] @ np.linalg.inv(frames[shape.link])
            where = base @ moved.oMg[geometry.getGeometryId(shape_name)].homogeneous
            np.testing.assert_allclose(body @ shape.placement.matrix, where, rtol=0, atol=1e-9)


def test_loading_opens_no_mesh() -> None:
    """Not one file is opened but the description, and package.xml of folders around it."""
    path = next(path for path in FILES if path.stem == "panda")
    opened: list[str] = []
    watching = True

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if watching and event == "open":
            opened.append(str(arguments[0]))

    sys.addaudithook(watch)  # which stays for good, but looks away afterwards
    try:
        model = load_quietly(path).model
    finally:
        watching = False
    assert sum(isinstance(shape.geometry, Mesh) for shape in model.shapes) >= 20
    assert str(path) in opened
    assert {Path(name).suffix for name in opened} <= {".urdf", ".xml", ".py", ".pyc"}, opened
