"""What jobs have in common: rows cut into shards, and files whose bytes follow from their content alone."""

from __future__ import annotations

import json
import math
import os
import threading
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.given.numbers import whole_number
from robomorph.robot import Robot
from robomorph.scaleout.job import Shard

_MOST_ROWS = 10**12
_MOST_SEED = 2**63 - 1
_STAMP = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip file can say
_UNIX = 3  # so that archives are the same from every system


def shards_of(rows: int, size: int) -> tuple[Shard, ...]:
    """All rows in shards of so many; the last may have fewer."""
    starts = range(0, rows, size)
    return tuple(Shard(k, start, min(size, rows - start)) for k, start in enumerate(starts))


def check_count(name: str, value: Any, least: int = 1) -> int:
    """How many rows, or rows of a shard."""
    return whole_number(name, value, least, _MOST_ROWS)


def check_seed(value: Any) -> int:
    return whole_number("seed", value, 0, _MOST_SEED)


def robot_facts(robot: Robot) -> dict[str, str]:
    """What results depend on of a robot: the digest is over every number of it."""
    return {"name": robot.name, "digest": robot.model.digest}


def plain(value: Any, *, exact: bool = False) -> Any:
    """The same as JSON has it. Numbers that are not finite are null, or words if `exact`."""
    if isinstance(value, Mapping):
        return {str(key): plain(item, exact=exact) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist(), exact=exact)
    if isinstance(value, (list, tuple)):
        return [plain(item, exact=exact) for item in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        if math.isfinite(value):
            return float(value)
        return str(value) if exact else None
    return value if value is None or isinstance(value, str) else str(value)


def described(**facts: Any) -> dict[str, Any]:
    """What a job's results depend on, as JSON has it."""
    return {name: plain(value, exact=True) for name, value in facts.items()}


def canonical(value: Any) -> str:
    """One line of JSON: keys in order, floats with every digit that they need."""
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """JSON lines, one a row."""
    path.write_bytes("".join(f"{canonical(row)}\n" for row in rows).encode())


def read_lines(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """The rows of files in order, one at a time."""
    for path in paths:
        with path.open(encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)


def write_arrays(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """An NPZ file, as `numpy.load` reads it: not packed, and without a time in it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy", _STAMP)
            entry.create_system = _UNIX
            entry.external_attr = 0o600 << 16
            with archive.open(entry, "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.ascontiguousarray(array), (1, 0), allow_pickle=False)


def replaced(path: Path, write: Callable[[Path], object]) -> Path:
    """Lets `write` make a file aside and moves it into place: nobody ever sees half of it."""
    aside = path.with_name(f".{path.stem}.aside{path.suffix}")
    write(aside)
    os.replace(aside, path)
    return path


def write_document(path: Path, document: Any) -> Path:
    """JSON for people, moved into place."""
    text = json.dumps(plain(document), indent=1, sort_keys=True, allow_nan=False) + "\n"
    return replaced(path, lambda aside: aside.write_bytes(text.encode()))


_KEPT = threading.local()  # a controller is one thread's own, and a cluster's worker may have several


def kept(key: str, make: Callable[[], Any]) -> Any:
    """What `make` made when a shard of the same job last ran in this thread; one job at a time is kept."""
    if getattr(_KEPT, "key", None) != key:
        _KEPT.made, _KEPT.key = make(), key
    return _KEPT.made
