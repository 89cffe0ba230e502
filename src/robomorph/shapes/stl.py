"""STL files, binary and ASCII."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import MeshError

_HEAD, _EACH = 84, 50  # bytes before the triangles, bytes of one
_TRIANGLE = np.dtype([("normal", "<f4", (3,)), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_VERTEX = re.compile(rb"\bvertex\s+(\S+)\s+(\S+)\s+(\S+)", re.IGNORECASE)
_FACET = re.compile(rb"\bfacet\s+normal\b", re.IGNORECASE)
_END = re.compile(rb"\bendfacet\b", re.IGNORECASE)
_CLOSED = re.compile(rb"\bendsolid\b", re.IGNORECASE)


def read_stl(data: bytes) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Vertices (n, 3), equal ones merged, and faces (m, 3)."""
    corners = _ascii(data) if _is_ascii(data) else _binary(data)
    vertices = corners.reshape(-1, 3).astype(np.float64) + 0.0  # one zero, as equal bits are merged
    rows = np.ascontiguousarray(vertices).view([("", np.float64)] * 3).ravel()
    _, first, index = np.unique(rows, return_index=True, return_inverse=True)
    return vertices[first], index.reshape(-1, 3)


def _is_ascii(data: bytes) -> bool:
    """Text begins with `solid`; so do some binary files, but those have the length that they announce."""
    if not data[:_HEAD].lstrip().lower().startswith(b"solid"):
        return False
    if len(data) >= _HEAD and len(data) == _HEAD + _EACH * _count(data):
        return False
    return bool(_FACET.search(data) or _CLOSED.search(data))


def _count(data: bytes) -> int:
    return int.from_bytes(data[_HEAD - 4 : _HEAD], "little")


def _binary(data: bytes) -> npt.NDArray[Any]:
    if len(data) < _HEAD:
        raise MeshError(f"expected an STL file of {_HEAD} bytes or more, found {len(data)}")
    count = _count(data)
    if len(data) < _HEAD + _EACH * count:
        raise MeshError(
            f"expected {_HEAD + _EACH * count} bytes for the {count} triangles that it announces, "
            f"found {len(data)}: the file is truncated, or no STL"
        )
    triangles = np.frombuffer(data, _TRIANGLE, count, _HEAD)
    corners: npt.NDArray[Any] = triangles["corners"]
    return corners


def _ascii(data: bytes) -> npt.NDArray[Any]:
    found = _VERTEX.findall(data)
    begun, ended = len(_FACET.findall(data)), len(_END.findall(data))
    if not _CLOSED.search(data) or begun != ended or len(found) != 3 * begun:
        raise MeshError(
            "expected three vertices in every facet, and endsolid after the last, found "
            f"{begun} facets begun, {ended} ended, {len(found)} vertices: the file is truncated or damaged"
        )
    try:
        return np.array(found, dtype="S").astype(np.float64).reshape(-1, 3, 3)
    except ValueError as error:
        raise MeshError(f"expected numbers after `vertex`, found otherwise: {error}") from None
