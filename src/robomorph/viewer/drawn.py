"""What is drawn of a robot: the shapes of its file, meshes as triangles, stand-ins where there are none."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from robomorph.errors import MeshError, ModelWarning
from robomorph.model import Box, Capsule, Cylinder, Ellipsoid, Mesh, Model, Shape, Sphere
from robomorph.shapes import inertia_shapes, read_mesh, skeleton_shapes
from robomorph.viewer.document import encoded
from robomorph.viewer.poses import sevens

# Of what has no colour of its own: links in turn, so that neighbours can be told apart.
_PAINTS = ((0.80, 0.83, 0.87, 1.0), (0.55, 0.63, 0.73, 1.0))
_COLLISION = (0.9, 0.62, 0.0, 0.35)
_INERTIA = (0.34, 0.71, 0.91, 0.4)
_STACKLEVEL = 6


class Meshes:
    """The meshes of a scene, each file read once; `documents` is what the page is given of them."""

    def __init__(self) -> None:
        self.documents: dict[str, dict[str, str]] = {}
        self._names: dict[Path, str | None] = {}

    def name(self, mesh: Mesh, owner: str) -> str | None:
        """What the mesh is called in the scene; None, with a warning, if it cannot be read."""
        if mesh.path is None:
            _warn(f"{owner}: the mesh {mesh.uri!r} was not found: name its folder by load(package_dirs=)")
            return None
        if mesh.path not in self._names:
            self._names[mesh.path] = self._read(mesh.path, owner)
        return self._names[mesh.path]

    def _read(self, path: Path, owner: str) -> str | None:
        try:
            triangles = read_mesh(path)
        except MeshError as error:
            _warn(f"{owner}: {error}")
            return None
        # Files such as STL repeat a point for every triangle that has it.
        points, places = np.unique(triangles.vertices.astype("<f4"), axis=0, return_inverse=True)
        faces = places.reshape(-1)[triangles.faces]
        name = f"m{len(self.documents)}"
        self.documents[name] = {
            "vertices": encoded(points, "<f4"),
            "faces": encoded(faces, "<u4"),
            "name": path.name,
        }
        return name


def robot_shapes(model: Model, meshes: Meshes) -> list[dict[str, Any]]:
    """Entries of `shapes`: what the file shows, else what touches, else the tree; collisions, inertias."""
    own = {kind: [s for s in model.shapes if s.kind == kind] for kind in ("visual", "collision")}
    shown = own["visual"] or own["collision"] or list(skeleton_shapes(model))
    out = list(_documents(model, _with_stand_ins(model, shown, meshes), "visual", meshes))
    touching = [shape for shape in own["collision"] if _drawable(shape, meshes, warn=False)]
    out += _documents(model, touching, "collision", meshes)
    out += _documents(model, inertia_shapes(model).shapes, "inertia", meshes)
    return out


def _with_stand_ins(model: Model, shapes: list[Shape], meshes: Meshes) -> list[Shape]:
    """Shapes that can be drawn; for the bodies of the others their part of the tree."""
    drawable = [_drawable(shape, meshes) for shape in shapes]
    good = [shape for shape, able in zip(shapes, drawable, strict=True) if able]
    bare = {shape.body for shape, able in zip(shapes, drawable, strict=True) if not able}
    return good + [bone for bone in skeleton_shapes(model) if bone.body in bare] if bare else good


def _drawable(shape: Shape, meshes: Meshes, warn: bool = True) -> bool:
    if not isinstance(shape.geometry, Mesh):
        return True
    with warnings.catch_warnings():
        if not warn:
            warnings.simplefilter("ignore", ModelWarning)
        return meshes.name(shape.geometry, f"link {shape.link!r}") is not None


def _documents(model: Model, shapes: Iterable[Shape], layer: str, meshes: Meshes) -> Iterator[dict[str, Any]]:
    for shape in shapes:
        link = _carrier(model, shape)
        if link is None:
            continue  # fixed to the world, to which no link belongs
        inside = model.link_placements[link].placement.inverse().compose(shape.placement)
        pose = sevens(inside.matrix).tolist()
        yield {
            "link": link,
            "layer": layer,
            **_geometry(shape, meshes),
            "position": pose[:3],
            "quaternion": pose[3:],
            "colour": list(_colour(shape, layer, link)),
            "name": shape.name,
        }


def _carrier(model: Model, shape: Shape) -> int | None:
    """A link that moves with the shape: its own, or another of the same body."""
    own = model.link_index(shape.link)
    frames = model.link_placements
    if frames[own].body == shape.body:
        return own
    return next((i for i, frame in enumerate(frames) if frame.body == shape.body), None)


def _colour(shape: Shape, layer: str, link: int) -> tuple[float, ...]:
    if layer == "collision":
        return _COLLISION
    if layer == "inertia":
        return _INERTIA
    return shape.color if shape.color is not None else _PAINTS[link % len(_PAINTS)]


def _geometry(shape: Shape, meshes: Meshes) -> dict[str, Any]:
    found = shape.geometry
    if isinstance(found, Mesh):
        return {"kind": "mesh", "mesh": meshes.name(found, shape.link), "size": list(found.scale)}
    if isinstance(found, Box):
        return {"kind": "box", "size": list(found.size)}
    if isinstance(found, Sphere):
        return {"kind": "sphere", "size": [found.radius]}
    if isinstance(found, Ellipsoid):
        return {"kind": "ellipsoid", "size": list(found.radii)}
    kind = "cylinder" if isinstance(found, Cylinder) else "capsule"
    assert isinstance(found, (Cylinder, Capsule))
    return {"kind": kind, "size": [found.radius, found.length]}


def _warn(text: str) -> None:
    warnings.warn(f"{text}; drawn from the tree instead", ModelWarning, stacklevel=_STACKLEVEL)
