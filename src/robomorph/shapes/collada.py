"""COLLADA (.dae) files, as ROS takes them: the unit counts, the up axis does not."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import MeshError

from .extra import needed

# What only colours a mesh. A picture that is missing there would cost the geometry that it is on.
_PAINT = re.compile(
    rb"<(bind_material|library_images|library_effects|library_materials)\b([^>]*/>|.*?</\1\s*>)",
    re.DOTALL,
)


def read_collada(data: bytes) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Vertices (n, 3), m, and faces (m, 3) of all geometry of the scene, where its nodes place it."""
    collada = needed("collada", ".dae files (pycollada)")
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise MeshError("expected COLLADA without a document type declaration, found one")
    try:
        document = collada.Collada(io.BytesIO(_PAINT.sub(b"", data)), ignore=[collada.common.DaeError])
        parts = list(_parts(document))
        unit = float(document.assetInfo.unitmeter or 1.0)
    except Exception as error:  # whatever a damaged file makes of a reader of others
        said = f"{type(error).__name__}: {error}"[:200]
        raise MeshError(f"expected COLLADA, found what cannot be read: {said}") from None
    if document.errors:  # what could not be read is left out, and would be missing without a word
        raise MeshError(f"expected COLLADA that can be read whole, found {str(document.errors[0])[:200]}")
    if not (np.isfinite(unit) and unit > 0.0):
        raise MeshError(f"expected a unit above 0 m, found {unit}")
    if not parts:
        raise MeshError("expected triangles in the scene, found none")
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in parts[:-1])])
    faces = np.concatenate([corners + start for (_, corners), start in zip(parts, starts, strict=True)])
    return unit * np.concatenate([vertices for vertices, _ in parts]), faces


def _parts(document: Any) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    if document.scene is None:
        return
    for geometry in document.scene.objects("geometry"):
        mirrored = np.linalg.det(np.asarray(geometry.matrix, dtype=np.float64)[:3, :3]) < 0.0
        for primitive in geometry.primitives():
            triangles = primitive.triangleset() if hasattr(primitive, "triangleset") else primitive
            index = getattr(triangles, "vertex_index", None)
            if index is None or np.ndim(index) != 2 or np.shape(index)[1] != 3:
                continue  # lines
            # Materials share the vertices of their geometry: each part takes along what it uses.
            used, corners = np.unique(np.asarray(index, dtype=np.int64), return_inverse=True)
            faces = corners.reshape(-1, 3)
            vertices = np.asarray(triangles.vertex, dtype=np.float64)[used]
            yield vertices, faces[:, ::-1] if mirrored else faces
