"""Geoms into shapes. A geom that may touch others (contype or conaffinity) is a collision shape; one that
MuJoCo's viewer shows (group 0 to 2), or that touches nothing, a visual one: most are both."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..geometry import Box, Capsule, Color, Cylinder, Ellipsoid, Geometry, Mesh, Shape, ShapeKind, Sphere
from ..mesh_paths import MeshPaths
from ..model import WORLD
from ..notes import DROPPED_GEOM, MISSING_MESH, Place
from ..pose import Pose
from ..rotation import rotation_from_quaternion
from .base import Reading
from .mjcf_arrays import Arrays
from .mjcf_names import Names
from .mjcf_poses import pose_of

_PLANE, _HFIELD, _SPHERE, _CAPSULE, _ELLIPSOID, _CYLINDER, _BOX, _MESH = range(8)  # MuJoCo's mjtGeom
_LAST_SHOWN_GROUP = 2
_GREY = (0.5, 0.5, 0.5, 1.0)  # what rgba is where the file has none


class Shapes:
    """The shapes of a model's bodies. `path` is the model's file, absolute; `spec` its MjSpec, which alone
    says what `refpos` and `refquat` a mesh has, or None."""

    def __init__(self, arrays: Arrays, names: Names, path: str | None, reading: Reading, spec: Any) -> None:
        self.arrays = arrays
        self.names = names
        self.notes = reading.notes
        # Of what is no file MuJoCo looks from the current folder on.
        self.meshes = MeshPaths(path or os.path.abspath("model.xml"), reading.package_dirs)
        # Versions before 4 leave it out of the paths that a model keeps.
        self.folder = str(getattr(getattr(spec, "compiler", spec), "meshdir", "") or "")
        self.specs = {} if spec is None else {mesh.name or Path(mesh.file).stem: mesh for mesh in spec.meshes}
        self._missing: set[str] = set()

    def of(self, body: int) -> tuple[Shape, ...]:
        """The visual shapes of a body, then what it may touch."""
        first, count = int(self.arrays["body_geomadr"][body]), int(self.arrays["body_geomnum"][body])
        found = [shape for geom in range(first, first + count) for shape in self._geom(geom, body)]
        return tuple(sorted(found, key=lambda shape: shape.kind != "visual"))

    def _geom(self, geom: int, body: int) -> Iterator[Shape]:
        arrays = self.arrays
        touches = bool(arrays["geom_contype"][geom] or arrays["geom_conaffinity"][geom])
        shown = not touches or int(arrays["geom_group"][geom]) <= _LAST_SHOWN_GROUP
        pose = pose_of(arrays, "geom", geom)
        geometry = self._geometry(geom)
        if geometry is None:
            return
        if isinstance(geometry, Mesh):  # MuJoCo moves a mesh to its centre and main axes
            mesh = int(arrays["geom_dataid"][geom])
            pose = pose.compose(pose_of(arrays, "mesh", mesh).inverse())
            pose = pose.compose(self._reference(mesh))
        link = self.names.bodies[body]
        name = arrays.name("geom", geom) or f"{link}_{geom - int(arrays['body_geomadr'][body])}"
        kinds: list[ShapeKind] = [*(["visual"] if shown else []), *(["collision"] if touches else [])]  # type: ignore[list-item]
        for kind in kinds:
            color = self._color(geom) if kind == "visual" else None
            yield Shape(kind, name, link, WORLD, pose, geometry, color)

    def _geometry(self, geom: int) -> Geometry | None:
        kind = int(self.arrays["geom_type"][geom])
        a, b, c = (float(value) for value in self.arrays["geom_size"][geom])
        known: dict[int, Geometry] = {
            _SPHERE: Sphere(a),
            _CAPSULE: Capsule(a, 2.0 * b),
            _ELLIPSOID: Ellipsoid((a, b, c)),
            _CYLINDER: Cylinder(a, 2.0 * b),
            _BOX: Box((2.0 * a, 2.0 * b, 2.0 * c)),
        }
        if kind == _MESH:
            return self._mesh(geom)
        if kind not in known and kind != _PLANE:  # the ground is no part of a robot
            self._note(geom, "a height field" if kind == _HFIELD else "a signed distance function")
        return known.get(kind)

    def _mesh(self, geom: int) -> Mesh | None:
        mesh = int(self.arrays["geom_dataid"][geom])
        start = int(self.arrays["mesh_pathadr"][mesh])
        if start < 0:
            self._note(geom, f"mesh {self.arrays.name('mesh', mesh)!r}, which is in no file")
            return None
        if self._is_sheared(mesh):
            self._note(
                geom, f"mesh {self.arrays.name('mesh', mesh)!r}, turned by refquat and scaled unevenly"
            )
            return None
        uri = self.arrays.path(start)
        x, y, z = (float(value) for value in self.arrays["mesh_scale"][mesh])
        path = self.meshes.find(uri) or self.meshes.find(os.path.join(self.folder, uri))
        if path is None and uri not in self._missing:
            self._missing.add(uri)
            self.notes.add(MISSING_MESH, self._place(geom), uri)
        return Mesh(uri, (x, y, z), path)

    def _reference(self, mesh: int) -> Pose:
        """Where the file's own frame, after scaling, is in that of refpos and refquat."""
        spec = self.specs.get(self.arrays.name("mesh", mesh))
        if spec is None:
            return Pose()
        unit = np.roll(np.array(spec.refquat) / np.linalg.norm(spec.refquat), -1)
        back = rotation_from_quaternion(unit, 0.0).T
        return Pose(back, -self.arrays["mesh_scale"][mesh] * (back @ np.array(spec.refpos)))

    def _is_sheared(self, mesh: int) -> bool:
        """MuJoCo turns a mesh by refquat before it scales it; here it is scaled first."""
        scale, spec = self.arrays["mesh_scale"][mesh], self.specs.get(self.arrays.name("mesh", mesh))
        return spec is not None and bool(np.any(spec.refquat[1:])) and len(set(scale.tolist())) > 1

    def _color(self, geom: int) -> Color | None:
        """The geom's own colour, else its material's."""
        rgba = tuple(float(value) for value in self.arrays["geom_rgba"][geom])
        material = int(self.arrays["geom_matid"][geom])
        if material >= 0 and np.allclose(rgba, _GREY):
            rgba = tuple(float(value) for value in self.arrays["mat_rgba"][material])
        r, g, b, a = np.clip(rgba, 0.0, 1.0).tolist()
        return r, g, b, a

    def _note(self, geom: int, what: str) -> None:
        self.notes.add(DROPPED_GEOM, self._place(geom), what)

    def _place(self, geom: int) -> Place:
        return Place(self.arrays.label, 0, f'<geom name="{self.arrays.name("geom", geom)}">')
