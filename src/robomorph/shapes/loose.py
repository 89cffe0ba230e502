"""OBJ and PLY files, as trimesh reads them."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import MeshError

from .extra import needed


def read_loose(data: bytes, kind: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Vertices (n, 3) and faces (m, 3) of a file of this kind ("obj" or "ply"); polygons are cut up."""
    trimesh = needed("trimesh", f".{kind} files")
    try:
        # A stream, not a path: materials and textures beside the file are not looked for.
        mesh = trimesh.load(
            io.BytesIO(data), file_type=kind, force="mesh", process=False, skip_materials=True
        )
        return np.asarray(mesh.vertices), np.asarray(mesh.faces)
    except Exception as error:  # whatever a damaged file makes of a reader of others
        raise MeshError(f"expected {kind.upper()}, found what cannot be read: {_said(error)}") from None


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:200]
