"""Zarr, format 3: every shard is a group in a zip file of its own, written without a package.

The zarr package puts the time of writing into zip files. The format itself is small: a JSON document per
array, and its rows as plain little-endian numbers, chunk by chunk; so it is written here, with one fixed
time.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from robomorph.errors import ArgumentError
from robomorph.scaleout.formats.base import Append, Array, Column, Format, Layout

_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip file has
_DOCUMENT = "zarr.json"


class Zarr(Format):
    name = "zarr"
    suffix = ".zarr.zip"
    reading = "zarr.open_group(zarr.storage.ZipStore(FILE, mode='r'), mode='r'), with zarr 3"

    @contextmanager
    def writer(self, path: Path, layout: Layout) -> Iterator[Append]:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as file:
            written, chunk = 0, 0

            def append(block: Mapping[str, Array]) -> None:
                nonlocal written, chunk
                size = len(next(iter(block.values())))
                if not written:  # the first block tells how long chunks are: all are, but for the last
                    chunk = max(1, size)
                    _documents(file, layout, chunk)
                for column in layout.columns:
                    name = "/".join([column.name, "c", str(written // chunk), *("0" for _ in column.shape)])
                    _store(file, name, _padded(block[column.name], chunk, layout.dtype))
                written += size

            yield append

    def read(self, path: Path) -> dict[str, Array]:
        try:
            with zipfile.ZipFile(path) as file:
                names = [n for n in file.namelist() if n.endswith(f"/{_DOCUMENT}") and n.count("/") == 1]
                return {name.partition("/")[0]: _array(file, name) for name in names}
        except (zipfile.BadZipFile, KeyError, ValueError) as error:
            raise ArgumentError(f"{path.name}: expected a shard in Zarr's format, found: {error}") from None


def _documents(file: zipfile.ZipFile, layout: Layout, chunk: int) -> None:
    group = {"zarr_format": 3, "node_type": "group", "attributes": dict(sorted(layout.about.items()))}
    _store(file, _DOCUMENT, _json(group))
    for column in layout.columns:
        _store(file, f"{column.name}/{_DOCUMENT}", _json(_array_document(column, layout, chunk)))


def _array_document(column: Column, layout: Layout, chunk: int) -> dict[str, Any]:
    grid = {"name": "regular", "configuration": {"chunk_shape": [chunk, *column.shape]}}
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [layout.rows, *column.shape],
        "data_type": layout.dtype,
        "chunk_grid": grid,
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0.0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": {"about": column.about},
    }


def _json(data: dict[str, Any]) -> bytes:
    return json.dumps(data, indent=1, sort_keys=True).encode()


def _padded(values: Array, chunk: int, dtype: str) -> bytes:
    """The rows as one chunk; the last chunk of an array is as long as the others."""
    whole = np.zeros((chunk, *values.shape[1:]), np.dtype(dtype).newbyteorder("<"))
    whole[: len(values)] = values
    return whole.tobytes()


def _store(file: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, _TIME)
    entry.create_system = 3  # as on Unix, wherever this runs
    entry.external_attr = 0o644 << 16
    file.writestr(entry, data)


def _array(file: zipfile.ZipFile, name: str) -> Array:
    about = json.loads(file.read(name))
    rows, *shape = about["shape"]
    chunk = about["chunk_grid"]["configuration"]["chunk_shape"][0]
    dtype = np.dtype(about["data_type"]).newbyteorder("<")
    folder = name.partition("/")[0]
    chunks = [
        np.frombuffer(file.read("/".join([folder, "c", str(k), *("0" for _ in shape)])), dtype)
        for k in range(-(-rows // chunk))
    ]
    flat = np.concatenate(chunks).reshape(-1, *shape)[:rows]
    return flat.astype(dtype.newbyteorder("="), copy=False)
