"""Tables of numbers in files: CSV with or without names, NPZ by keys. Nothing in them is evaluated."""

from __future__ import annotations

import csv
import math
import zipfile
import zlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.paths import user_path

Array = npt.NDArray[np.float64]
LARGEST_TEXT = 64 * 2**20  # bytes; read at some 20 MB a second
LARGEST_ARRAYS = 256 * 2**20  # bytes, unpacked, of one array
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_BROKEN = (OSError, ValueError, RuntimeError, EOFError, NotImplementedError, zlib.error, zipfile.BadZipFile)


@dataclass(frozen=True)
class Table:
    """Rows of numbers (rows, columns), finite; names of the columns, None without a header."""

    path: Path
    names: tuple[str, ...] | None
    values: Array

    @property
    def name(self) -> str:
        return self.path.name


def read_bytes(path: str | Path, largest: int) -> bytes:
    """What a file holds; OSError where it cannot be read, ArgumentError where it is too large."""
    with user_path(path).open("rb") as file:
        data = file.read(largest + 1)
    if len(data) > largest:
        raise ArgumentError(f"{Path(path).name}: expected at most {largest // 2**20} MB, found more")
    return data


def read_table(path: str | Path) -> Table:
    """A CSV file: columns by commas, semicolons or tabs; lines end as on any system; a first line that is not
    all numbers has the columns' names."""
    path = Path(path)
    text = _text(path.name, read_bytes(path, LARGEST_TEXT))
    first = next((line for line in text.splitlines() if line.strip()), "")
    if first.lstrip().startswith("#"):
        raise ArgumentError(
            f"{path.name}: expected numbers or names, found a line that begins with '#': take the line away, "
            "or the '#' if it has the columns' names"
        )
    bare = "".join(first.split('"')[::2])  # names in quotes may have any of these
    separator = next((mark for mark in (";", "\t") if mark in bare), ",")
    try:
        lines = [
            (number, [cell.strip() for cell in cells])
            for number, cells in enumerate(csv.reader(text.splitlines(), delimiter=separator, strict=True), 1)
            if any(cell.strip() for cell in cells)
        ]
    except csv.Error as error:
        raise ArgumentError(f"{path.name}: expected a CSV file, found what cannot be read: {error}") from None
    if not lines:
        raise ArgumentError(f"{path.name}: expected lines of numbers, found none")
    names = None if all(_is_number(cell) for cell in lines[0][1]) else tuple(lines[0][1])
    rows = lines if names is None else lines[1:]
    if not rows:
        raise ArgumentError(f"{path.name}: expected lines of numbers, found only names")
    return Table(path, names, _values(path.name, rows, len(lines[0][1])))


def _text(name: str, data: bytes) -> str:
    if data.startswith(_UTF_16):
        raise ArgumentError(f"{name}: expected UTF-8, found UTF-16: save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ArgumentError(f"{name}: expected text in UTF-8, found other bytes") from None
    if "\0" in text:
        raise ArgumentError(f"{name}: expected text, found a binary file")
    return text


def _is_number(cell: str) -> bool:
    return "_" not in cell and _number(cell) is not None


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _values(name: str, rows: list[tuple[int, list[str]]], columns: int) -> Array:
    out = np.empty((len(rows), columns))
    for i, (line, cells) in enumerate(rows):
        if len(cells) != columns:
            raise ArgumentError(f"{name}:{line}: expected {columns} columns, found {len(cells)}")
        for k, cell in enumerate(cells):
            value = _number(cell) if _is_number(cell) else None
            if value is None or not math.isfinite(value):
                raise ArgumentError(f"{name}:{line}: expected a finite number, {_found(cell)}")
            out[i, k] = value
    return out


def _found(cell: str) -> str:
    if _is_number(cell.replace(",", ".", 1)) and "," in cell:
        return f"found {cell!r}: write decimals with a point"
    return f"found {cell[:40]!r}"


# --- NPZ ---------------------------------------------------------------------------------------------


def read_arrays(path: str | Path, wanted: tuple[str, ...]) -> dict[str, npt.NDArray[Any]]:
    """Arrays of an NPZ file by name, those of `wanted` that it has. Objects (pickles) are refused."""
    path = Path(path)
    user_path(path).open("rb").close()  # OSError says why it cannot be read
    try:
        with zipfile.ZipFile(user_path(path)) as archive:
            names = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
            found = {key: _member(path.name, archive, names[key], key) for key in wanted if key in names}
    except ArgumentError:
        raise
    except _BROKEN as error:
        raise ArgumentError(
            f"{path.name}: expected an NPZ file, found what cannot be read: {error}"
        ) from None
    if not found:
        raise ArgumentError(
            f"{path.name}: expected arrays called {', '.join(wanted)}, found {sorted(names)[:12] or 'none'}"
        )
    return found


def _member(name: str, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, key: str) -> npt.NDArray[Any]:
    with archive.open(entry) as file:
        data = file.read(LARGEST_ARRAYS + 1)
    if len(data) > LARGEST_ARRAYS:
        raise ArgumentError(f"{name}: {key}: expected at most {LARGEST_ARRAYS // 2**20} MB, found more")
    stream = BytesIO(data)
    version = np.lib.format.read_magic(stream)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in read:
        raise ArgumentError(f"{name}: {key}: expected an array of NumPy's format 1 or 2, found {version}")
    shape, by_columns, dtype = read[version](stream)
    if dtype.kind not in "iufU":
        raise ArgumentError(f"{name}: {key}: expected real numbers, found {dtype}")
    if math.prod(shape) * dtype.itemsize != len(data) - stream.tell():
        raise ArgumentError(
            f"{name}: {key}: expected as many numbers as its shape {shape} says, found others"
        )
    flat = np.frombuffer(data, dtype, offset=stream.tell())
    return flat.reshape(shape, order="F" if by_columns else "C")


def real_array(name: str, array: npt.NDArray[Any]) -> Array:
    """Of float64 and finite."""
    if array.dtype.kind not in "iuf":
        raise ArgumentError(f"{name}: expected real numbers, found {array.dtype}")
    values = array.astype(np.float64)
    if not np.isfinite(values).all():
        place = [int(i) for i in np.argwhere(~np.isfinite(values))[0]]
        raise ArgumentError(f"{name}: expected finite numbers, found {values[tuple(place)]} at index {place}")
    return values
