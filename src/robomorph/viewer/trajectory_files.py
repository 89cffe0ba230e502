"""Motions in files: NPZ (q, times or t, perhaps qd and tau) and CSV (columns by name, or time and then q)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.given.number_files import Table, read_arrays, read_table, real_array
from robomorph.naming import hint, listed
from robomorph.viewer.trajectory import Trajectory, sample_times

if TYPE_CHECKING:
    from robomorph.robot import Robot

Array = npt.NDArray[np.float64]
_TIME = ("t", "time", "times")
_KEYS = ("q", "times", "t", "qd", "tau", "joints")
_IGNORED = "qdd"  # written by `robomorph plan --save`; nothing is shown of it


def read_trajectory(path: str | Path, robot: Robot, rate: float | None = None) -> Trajectory:
    """By the file's ending."""
    path = Path(path)
    if path.suffix.lower() == ".npz":
        return _of_arrays(path, robot, rate)
    if path.suffix.lower() == ".csv":
        table = read_table(path)
        return (_without_names if table.names is None else _by_names)(table, robot, rate).fit(robot)
    raise ArgumentError(f"trajectory: expected a file ending in .npz or .csv, found {path.name!r}")


def _of_arrays(path: Path, robot: Robot, rate: float | None) -> Trajectory:
    found = read_arrays(path, _KEYS)
    if "q" not in found:
        raise ArgumentError(f"{path.name}: expected an array called q, found {sorted(found)}")
    if "times" in found and "t" in found:
        raise ArgumentError(f"{path.name}: expected times or t, found both")
    _check_joints(path.name, robot, found.pop("joints", None))
    arrays = {key: real_array(f"{path.name}: {key}", value) for key, value in found.items()}
    times = arrays.pop("times", arrays.pop("t", None))
    q = arrays["q"]
    if times is None:
        times = sample_times(len(q) if q.ndim else 0, _needed(path.name, rate))
    else:
        _not_needed(path.name, rate)
    return Trajectory(times, q, arrays.get("qd"), arrays.get("tau"), path.stem).fit(robot)


def _check_joints(name: str, robot: Robot, joints: npt.NDArray[np.str_] | None) -> None:
    """What a file says of its columns must be so: `joints` are names of the entries of q, or of qd."""
    if joints is None:
        return
    found = tuple(str(joint) for joint in joints.ravel())
    if found not in (robot.coordinate_names, robot.velocity_names):
        raise ArgumentError(
            f"{name}: joints: expected those of {robot.name} ({listed(robot.coordinate_names)}), found "
            f"{listed(found)}"
        )


def _without_names(table: Table, robot: Robot, rate: float | None) -> Trajectory:
    columns = table.values.shape[1]
    if columns == robot.nq + 1:
        _not_needed(table.name, rate)
        return Trajectory(table.values[:, 0], table.values[:, 1:], name=table.path.stem)
    if columns == robot.nq:
        times = sample_times(len(table.values), _needed(table.name, rate))
        return Trajectory(times, table.values, name=table.path.stem)
    raise ArgumentError(
        f"{table.name}: expected {robot.nq + 1} columns (time, then q of {robot.name}), or {robot.nq} and a "
        f"rate, found {columns}"
    )


def _by_names(table: Table, robot: Robot, rate: float | None) -> Trajectory:
    assert table.names is not None
    places: dict[tuple[str, str], int] = {}
    for k, name in enumerate(table.names):
        place = _meaning(table.name, name, robot)
        if place in places:
            raise ArgumentError(f"{table.name}: expected a column {name!r} once, found it twice")
        places[place] = k
    q = _columns(table, places, "q", robot.coordinate_names)
    if q is None:
        raise ArgumentError(f"{table.name}: expected a column for every joint, found none: {_missing(robot)}")
    at = places.get(("time", ""))
    if at is None:
        times = sample_times(len(q), _needed(table.name, rate))
    else:
        _not_needed(table.name, rate)
        times = table.values[:, at]
    qd, tau = (_columns(table, places, what, robot.velocity_names) for what in ("qd", "tau"))
    return Trajectory(times, q, qd, tau, table.path.stem)


def _meaning(file: str, name: str, robot: Robot) -> tuple[str, str]:
    """What a column holds ("time", "q", "qd", ...) and of which joint."""
    if name in robot.coordinate_names:
        return "q", name
    if name.lower() in _TIME:
        return "time", ""
    what, _, joint = name.partition(" ")
    known = {"q": robot.coordinate_names, **dict.fromkeys(("qd", "tau", _IGNORED), robot.velocity_names)}
    if joint in known.get(what, ()):
        return what, joint
    raise ArgumentError(f"{file}: unknown column {name!r}: {hint(name, ['t', *robot.coordinate_names])}")


def _columns(
    table: Table, places: dict[tuple[str, str], int], what: str, names: tuple[str, ...]
) -> Array | None:
    found = [places.get((what, name)) for name in names]
    if all(place is None for place in found):
        return None
    missing = [name for name, place in zip(names, found, strict=True) if place is None]
    if missing:
        raise ArgumentError(
            f"{table.name}: expected a column of {what} for every joint, found none for {missing}"
        )
    return table.values[:, [place for place in found if place is not None]]


def _missing(robot: Robot) -> str:
    return f"the joints are {listed(robot.coordinate_names)}"


def _needed(file: str, rate: float | None) -> float:
    if rate is None:
        raise ArgumentError(f"{file}: it has no times: give the samples a second (rate, --rate)")
    return rate


def _not_needed(file: str, rate: float | None) -> None:
    if rate is not None:
        raise ArgumentError(f"{file}: it has times of its own: leave the rate out")
