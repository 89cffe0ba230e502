"""OBJ and PLY files, as trimesh reads them."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import MeshError

from .extra import needed

_OBJ_FACE = re.compile(rb"^[ \t]*f[ \t]", re.MULTILINE)
_PLY_FACES = re.compile(rb"^element[ \t]+face[ \t]+(\d+)", re.MULTILINE)


def read_loose(data: bytes, kind: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Vertices (n, 3) and faces (m, 3) of a file of this kind ("obj" or "ply"); polygons are cut up."""
    trimesh = needed("trimesh", f".{kind} files")
    try:
        # A stream, not a path: materials and textures beside the file are not looked for.
        mesh = trimesh.load(
            io.BytesIO(data), file_type=kind, force="mesh", process=False, skip_materials=True
        )
        vertices, faces = np.asarray(mesh.vertices), np.asarray(getattr(mesh, "faces", ()))
    except ModuleNotFoundError as error:
        raise MeshError(
            f"reading this .{kind} file needs one more package ({error}): pip install 'robomorph[view]'"
        ) from None
    except Exception as error:  # whatever a damaged file makes of a reader of others
        said = f"{type(error).__name__}: {error}"[:200]
        raise MeshError(f"expected {kind.upper()}, found what cannot be read: {said}") from None
    stated = _stated_faces(data, kind)
    if len(faces) < stated:  # every polygon makes one triangle or more; trimesh passes over what is cut off
        raise MeshError(
            f"expected the {stated} faces that it states, found {len(faces)}: the file is truncated or "
            "damaged"
        )
    return vertices, faces


def _stated_faces(data: bytes, kind: str) -> int:
    if kind == "obj":
        return len(_OBJ_FACE.findall(data))
    found = _PLY_FACES.search(data[: data.find(b"end_header")])
    return int(found[1]) if found else 0
