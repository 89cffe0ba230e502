"""States from a file: NPZ, CSV or Parquet."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from robomorph.errors import ArgumentError
from robomorph.given.number_files import read_arrays, read_table, real_array
from robomorph.paths import user_path
from robomorph.robot import Robot
from robomorph.scaleout.laws.base import STATES, Array, Law, Sampler, Streams

SUFFIXES = (".npz", ".csv", ".parquet")


@dataclass(frozen=True)
class StatesFile(Law):
    """Row k of the data set is row k of the file: no row is used twice, none is left out before the last.

    An NPZ file has arrays q (rows, nq), qd, qdd, tau (rows, nv), those that the functions take; a Parquet
    file has columns of lists by these names (as data sets have them); a CSV file has named columns q[0],
    q[1] ... qd[0] ... . Every worker reads the whole file, at the same path, and refuses one whose SHA-256
    is another."""

    path: str
    digest: str = field(default="")
    name: ClassVar[str] = "file"
    about: ClassVar[str] = "states of a file (.npz, .csv, .parquet), row by row"

    def __post_init__(self) -> None:
        path = user_path(self.path).absolute()
        if path.suffix.lower() not in SUFFIXES:
            raise ArgumentError(
                f"law file: expected a file called *{', *'.join(SUFFIXES)}, found {self.path!r}"
            )
        object.__setattr__(self, "path", str(path))
        if not self.digest:
            object.__setattr__(self, "digest", _digest(path))

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "sha256": self.digest}

    def check(self, robot: Robot, wanted: tuple[str, ...], states: int) -> None:
        arrays = _arrays(self.path, self.digest, wanted, robot.nq, robot.nv)
        rows = len(arrays[wanted[0]])
        if states > rows:
            raise ArgumentError(
                f"law file: {Path(self.path).name}: expected at least {states} rows for {states} states, "
                f"found {rows}: "
                f"ask for {rows} states, as rows are not used twice"
            )
        robot.integrate(arrays["q"][:states], np.zeros(robot.nv))  # refuses orientations that are not units

    def sampler(self, robot: Robot, wanted: tuple[str, ...]) -> Sampler:
        arrays = _arrays(self.path, self.digest, wanted, robot.nq, robot.nv)

        def sample(streams: Streams, start: int, rows: int) -> Mapping[str, Array]:
            # Blocks are always full; what lies past the end is cut off by who asked.
            places = np.minimum(np.arange(start, start + rows), len(arrays[wanted[0]]) - 1)
            return {name: array[places] for name, array in arrays.items()}

        return sample


def _digest(path: Path) -> str:
    with path.open("rb") as file:  # OSError says why it cannot be read
        digest = hashlib.sha256()
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


@lru_cache(maxsize=1)
def _arrays(path: str, digest: str, wanted: tuple[str, ...], nq: int, nv: int) -> dict[str, Array]:
    """The arrays, checked; a process that does many shards reads them once."""
    file = Path(path)
    found = _digest(file)
    if found != digest:
        raise ArgumentError(
            f"law file: {path}: expected the file that the job was made with (SHA-256 {digest[:12]}...), "
            f"found "
            f"another ({found[:12]}...): put the same file there, or begin a new folder"
        )
    widths = {name: nq if name == "q" else nv for name in STATES}
    reader = {".npz": read_arrays, ".csv": _from_csv, ".parquet": _from_parquet}[file.suffix.lower()]
    arrays: dict[str, Array] = {}
    for name, array in reader(file, wanted).items():
        values = real_array(f"law file: {file.name}: {name}", array)
        if values.ndim != 2 or values.shape[1] != widths[name]:
            raise ArgumentError(
                f"law file: {file.name}: {name}: expected (rows, {widths[name]}), found {values.shape}"
            )
        arrays[name] = values
    missing = [name for name in wanted if name not in arrays]
    if missing:
        raise ArgumentError(
            f"law file: {file.name}: expected {', '.join(wanted)}, found {', '.join(arrays) or 'none'}"
        )
    if len({len(array) for array in arrays.values()}) != 1 or not len(arrays["q"]):
        sizes = {name: len(array) for name, array in arrays.items()}
        raise ArgumentError(f"law file: {file.name}: expected equally many rows, at least one, found {sizes}")
    return arrays


def _from_csv(path: Path, wanted: tuple[str, ...]) -> dict[str, Any]:
    table = read_table(path)
    if table.names is None:
        raise ArgumentError(
            f"law file: {path.name}: expected a first line of names q[0],q[1],..., found numbers"
        )
    if len(set(table.names)) != len(table.names):
        raise ArgumentError(f"law file: {path.name}: expected every name once, found some twice")
    found: dict[str, Any] = {}
    for name in wanted:
        count = sum(column.startswith(f"{name}[") for column in table.names)
        names = [f"{name}[{k}]" for k in range(count)]
        lost = [column for column in names if column not in table.names]
        if lost:
            raise ArgumentError(f"law file: {path.name}: expected a column {lost[0]!r}, found none")
        if count:
            found[name] = table.values[:, [table.names.index(column) for column in names]]
    return found


def _from_parquet(path: Path, wanted: tuple[str, ...]) -> dict[str, Any]:
    from robomorph.scaleout.formats.parquet import pyarrow_parquet, table_arrays

    parquet = pyarrow_parquet()
    try:
        table = parquet.read_table(path)
        return table_arrays(table.select([name for name in wanted if name in table.column_names]))
    except (OSError, ValueError) as error:  # pyarrow's own errors are ValueErrors
        reason = str(error).splitlines()[0]
        raise ArgumentError(
            f"law file: {path.name}: expected a Parquet file with columns of lists: {reason}"
        ) from None
