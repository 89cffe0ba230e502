"""Positions and poses in files, in the order of time: what a frame is to follow."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.given.number_files import Table, read_arrays, read_table, real_array
from robomorph.model.rotation import rotation_from_quaternion
from robomorph.naming import hint

Array = npt.NDArray[np.float64]
_PLACE, _TURN, _TIME = ("x", "y", "z"), ("qx", "qy", "qz", "qw"), ("t", "time", "times")
_UNIT = 1e-3  # how far the length of a quaternion with few digits may be from one


@dataclass(frozen=True)
class PosePath:
    """targets: positions (T, 3) m, or poses (T, 4, 4); times (T,) s, increasing; None if there are none."""

    targets: Array
    times: Array | None


def read_pose_path(path: str | Path) -> PosePath:
    """CSV: x y z, or x y z qx qy qz qw, a pose a line, perhaps after a time; with names in any order. NPZ:
    arrays `positions` (T, 3) or `poses` (T, 7) or (T, 4, 4), perhaps `times` or `t`."""
    path = Path(path)
    ending = path.suffix.lower()
    if ending == ".csv":
        table = read_table(path)
        columns, times = _columns(table)
    elif ending == ".npz":
        columns, times = _arrays(path)
    else:
        raise ArgumentError(f"path: expected a file ending in .npz or .csv, found {path.name!r}")
    targets = columns if columns.ndim == 3 or columns.shape[1] == 3 else _poses(path.name, columns)
    if times is not None and not (np.diff(times) > 0.0).all():
        raise ArgumentError(f"{path.name}: times: expected increasing times, found others")
    return PosePath(targets, times)


def _columns(table: Table) -> tuple[Array, Array | None]:
    """(T, 3) or (T, 7), and the times."""
    if table.names is None:
        count = table.values.shape[1]
        if count not in (3, 4, 7, 8):
            raise ArgumentError(
                f"{table.name}: expected 3 columns (x y z), 7 (x y z qx qy qz qw), or one more with the "
                f"time first, found {count}"
            )
        timed = count in (4, 8)
        return table.values[:, int(timed) :], table.values[:, 0] if timed else None
    places: dict[str, int] = {}
    for k, name in enumerate(table.names):
        known = "t" if name.lower() in _TIME else name.lower()
        if known not in ("t", *_PLACE, *_TURN):
            raise ArgumentError(
                f"{table.name}: unknown column {name!r}: {hint(name, ['t', *_PLACE, *_TURN])}"
            )
        if known in places:
            raise ArgumentError(f"{table.name}: expected a column {name!r} once, found it twice")
        places[known] = k
    wanted = [*_PLACE, *(_TURN if set(_TURN) & set(places) else ())]
    missing = [name for name in wanted if name not in places]
    if missing:
        raise ArgumentError(
            f"{table.name}: expected columns {', '.join(wanted)}, found none called {missing}"
        )
    times = table.values[:, places["t"]] if "t" in places else None
    return table.values[:, [places[name] for name in wanted]], times


def _arrays(path: Path) -> tuple[Array, Array | None]:
    """(T, 3), (T, 7) or (T, 4, 4), and the times."""
    found = read_arrays(path, ("positions", "poses", "times", "t"))
    for one, other in (("positions", "poses"), ("times", "t")):
        if one in found and other in found:
            raise ArgumentError(f"{path.name}: expected {one} or {other}, found both")
    arrays = {key: real_array(f"{path.name}: {key}", value) for key, value in found.items()}
    times = arrays.pop("times", arrays.pop("t", None))
    if not arrays:
        raise ArgumentError(f"{path.name}: expected an array called positions or poses, found neither")
    ((key, values),) = arrays.items()
    shapes = ((3,),) if key == "positions" else ((7,), (4, 4))
    if values.ndim < 2 or not len(values) or values.shape[1:] not in shapes:
        words = " or ".join(str(("T", *shape)).replace("'", "") for shape in shapes)
        raise ArgumentError(f"{path.name}: {key}: expected shape {words}, found {values.shape}")
    if times is not None and times.shape != (len(values),):
        raise ArgumentError(f"{path.name}: times: expected ({len(values)},), found {times.shape}")
    return values, times


def _poses(name: str, columns: Array) -> Array:
    """(T, 4, 4) of positions and quaternions."""
    lengths = np.linalg.norm(columns[:, 3:], axis=1)
    wrong = np.flatnonzero(np.abs(lengths - 1.0) > _UNIT)
    if len(wrong):
        k = int(wrong[0])
        raise ArgumentError(
            f"{name}: expected quaternions qx qy qz qw of length one, found length {lengths[k]:.6g} at pose "
            f"{k + 1}"
        )
    out = np.tile(np.eye(4), (len(columns), 1, 1))
    out[:, :3, 3] = columns[:, :3]
    out[:, :3, :3] = [rotation_from_quaternion(turn, 0.0) for turn in columns[:, 3:] / lengths[:, None]]
    return out
