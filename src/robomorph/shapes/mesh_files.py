"""Mesh files into triangles. Numbers and sizes are checked before anything is drawn from them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from robomorph.errors import MeshError
from robomorph.paths import user_path

from .collada import read_collada
from .loose import read_loose
from .stl import read_stl

LARGEST_FILE = 200 * 10**6  # bytes
_Arrays: TypeAlias = tuple[npt.NDArray[Any], npt.NDArray[Any]]
_READERS: dict[str, Callable[[bytes], _Arrays]] = {
    ".stl": read_stl,
    ".obj": lambda data: read_loose(data, "obj"),
    ".ply": lambda data: read_loose(data, "ply"),
    ".dae": read_collada,
}


@dataclass(frozen=True, eq=False)
class Triangles:
    """A surface. vertices: (n, 3) float64, m. faces: (m, 3) int64, indices of the vertices of every triangle,
    counter-clockwise seen from outside if the file has them so. Both are read-only."""

    vertices: npt.NDArray[np.float64]
    faces: npt.NDArray[np.int64]


def read_mesh(path: str | os.PathLike[str], scale: npt.ArrayLike = 1.0) -> Triangles:
    """The triangles of an STL, OBJ, PLY or COLLADA (.dae) file, in the frame of the shape that names it.

    scale: a number, or three for x, y and z of the mesh; negative ones mirror. As in ROS, COLLADA's unit is
    used and its up axis is not. Materials and colours are not read. OBJ, PLY and COLLADA need
    robomorph[view]. MeshError if the file cannot be used.
    """
    file = user_path(path)
    factors = _scale(file, scale)
    data = _contents(file)
    try:
        vertices, faces = _READERS[file.suffix.lower()](data)
    except MeshError as error:
        raise MeshError(f"{file}: {error}") from None
    vertices, faces = _checked(file, vertices, faces)
    if np.prod(np.sign(factors)) < 0.0:  # mirrored: what was outside stays outside
        faces = faces[:, ::-1].copy()
    vertices = vertices * factors
    vertices.flags.writeable = faces.flags.writeable = False
    return Triangles(vertices, faces)


def _scale(file: Path, scale: npt.ArrayLike) -> npt.NDArray[np.float64]:
    try:
        factors = np.broadcast_to(np.asarray(scale, dtype=np.float64), (3,))
    except (TypeError, ValueError):
        factors = np.zeros(3)
    if not np.isfinite(factors).all() or (factors == 0.0).any():
        raise MeshError(f"{file}: scale: expected one or three finite numbers without 0, found {scale!r}")
    return factors


def _contents(file: Path) -> bytes:
    """All bytes of a regular file that is not too large."""
    if file.suffix.lower() not in _READERS:
        known = ", ".join(_READERS)
        raise MeshError(f"{file}: expected a mesh file ({known}), found {file.suffix or 'no suffix'}")
    if not os.path.isfile(file):
        found = "something that is not a regular file" if os.path.exists(file) else "no such file"
        raise MeshError(f"{file}: expected a mesh file, found {found}")
    try:
        with open(file, "rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise MeshError(f"{file}: cannot be read: {error.strerror}") from None
    if len(data) > LARGEST_FILE:
        raise MeshError(
            f"{file}: expected at most {LARGEST_FILE / 1e6:g} MB, found "
            f"{os.path.getsize(file) / 1e6:.0f} MB; make the mesh coarser"
        )
    if not data.strip(b"\0 \t\r\n"):
        raise MeshError(f"{file}: expected a mesh, found an empty file")
    return data


def _checked(
    file: Path, vertices: npt.NDArray[Any], faces: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    points, corners = np.asarray(vertices, dtype=np.float64), np.asarray(faces, dtype=np.int64)
    if points.size == 0 or corners.size == 0:
        raise MeshError(f"{file}: expected triangles, found none")
    if not np.isfinite(points).all():
        bad = int((~np.isfinite(points).all(axis=1)).sum())
        raise MeshError(
            f"{file}: expected finite vertices, found {bad} of {len(points)} with NaN or infinity"
        )
    if corners.min() < 0 or corners.max() >= len(points):
        wrong = int(corners.min() if corners.min() < 0 else corners.max())
        raise MeshError(
            f"{file}: expected indices of {len(points)} vertices, found a face with vertex {wrong} (from 0)"
        )
    return points, corners
