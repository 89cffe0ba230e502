"""[robot] of a file: what is loaded, and names for its frames, soles and postures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.given.numbers import number
from robomorph.given.toml_files import TomlFile, read_toml
from robomorph.loading import load
from robomorph.naming import hint
from robomorph.paths import user_path
from robomorph.robot import Robot

Array = npt.NDArray[np.float64]
BUILT_IN = Path(__file__).parent / "robots"
_OPTIONS = {
    *("root", "locked", "payloads", "tool_frames", "gravity", "mimic", "snap", "ignore"),
    *("armature", "damping", "friction", "stiffness", "passive"),
}
_KEYS = {"load", "package", "frames", "soles", "postures", *_OPTIONS}


@dataclass(frozen=True)
class NamedRobot:
    """A robot, and a file's own names."""

    source: str
    options: Mapping[str, Any]
    frames: Mapping[str, str]
    soles: Mapping[str, Mapping[str, Any]]
    postures: Mapping[str, Mapping[str, Any]]

    @cached_property
    def robot(self) -> Robot:
        return load(self.source, **self.options)

    def frame(self, name: str) -> str:
        """A frame by the file's name, or by its own."""
        return self.frames.get(name, name)

    def up(self) -> Array:
        """(3,) against gravity; z without."""
        gravity = self.robot.gravity
        size = float(np.linalg.norm(gravity))
        return np.array([0.0, 0.0, 1.0]) if size == 0.0 else np.asarray(-gravity / size)

    def posture(self, what: str, given: Any) -> Array:
        """(nv,) of a posture's name, or of numbers."""
        if not isinstance(given, str):
            return np.asarray(given)
        if given not in self.postures:
            raise ArgumentError(f"{what}: unknown posture {given!r}: {hint(given, list(self.postures))}")
        table = dict(self.postures[given])
        like = table.pop("like", None)
        if what.count(".like") > len(self.postures):
            raise ArgumentError(f"posture {given!r}: expected another posture to be like, found a circle")
        q = self.rest() if like is None else self.posture(f"{what}.like", like)
        for joint, value in table.items():
            place, _ = self.robot.coordinates(joint)
            q[place] = number(f"posture {given!r}, {joint}", value)
        return q

    def rest(self) -> Array:
        """Zero, or as near as limits allow."""
        limits = self.robot.limits
        return np.clip(np.zeros(self.robot.nv), limits.lower, limits.upper)

    def above_sole(self, name: Any, start: Array | None) -> tuple[list[float], list[float]]:
        """Bounds of the centre of mass (x, y, z) for which it is above a sole as it stands at the start."""
        if name not in self.soles or start is None:
            raise ArgumentError(
                f"sole: unknown name {name!r}, or no start: {hint(str(name), list(self.soles))}"
            )
        frame = str(self.soles[name].get("frame", self.frame(str(name))))
        pose = self.robot.forward_kinematics(start[0], frame)
        if not np.allclose(pose[:3, :3], np.eye(3), atol=1e-6):
            raise ArgumentError(
                f"sole {name!r}: expected a foot whose axes are the world's at the start, found it turned: "
                "give a tool frame that is not"
            )
        rectangle = self.soles[name]
        low, high = zip(*(np.add(rectangle[axis], pose[i, 3]) for i, axis in enumerate("xy")), strict=True)
        return [*map(float, low), -np.inf], [*map(float, high), np.inf]


def robot_of_file(
    file: TomlFile, robot: str | Path | None = None, urdf: str | Path | None = None
) -> NamedRobot:
    """What `robot` of a file says, or another: a table [robot], a built-in name or the path of a file with
    that table. urdf: where that robot's file is, if not where the table says."""
    chosen: Any = file.tables.get("robot") if robot is None else str(robot)
    if isinstance(chosen, str):
        file = read_toml(_robot_path(chosen, file.path))
        chosen = file.tables.get("robot")
    if not isinstance(chosen, dict):
        raise ArgumentError(f"{file.name}: expected a table [robot], found none")
    return read_robot(file.path, chosen, urdf)


def _robot_path(name: str, file: Path) -> Path:
    known = sorted(path.stem for path in BUILT_IN.glob("*.toml"))
    path = BUILT_IN / f"{name}.toml" if name in known else file.parent / user_path(name)
    if not path.is_file():
        raise ArgumentError(f"{file.name}: robot: no file {name!r}, and {hint(name, known)}")
    return path


def read_robot(where: Path, table: Mapping[str, Any], urdf: str | Path | None) -> NamedRobot:
    """A [robot] table of the file `where`."""
    for key in table:
        if key not in _KEYS:
            raise ArgumentError(f"{where.name}: unknown key {key!r} of [robot]: {hint(key, sorted(_KEYS))}")
    if not isinstance(table.get("load"), str):
        raise ArgumentError(
            f"{where.name}: [robot]: expected load = a name or path, found {table.get('load')!r}"
        )
    options = {key: table[key] for key in _OPTIONS if key in table}
    if "payloads" in options:
        options["payloads"] = {link: (x[0], x[1:]) for link, x in options["payloads"].items()}
    return NamedRobot(
        source=str(urdf) if urdf is not None else _find(where, table["load"], table.get("package")),
        options=options,
        frames=table.get("frames", {}),
        soles=table.get("soles", {}),
        postures=table.get("postures", {}),
    )


def _find(where: Path, name: str, package: str | None) -> str:
    """A built-in robot's name as it is; a file beside this one, or in an installed package."""
    if package is not None:
        try:
            files = metadata.files(package) or []
        except metadata.PackageNotFoundError:
            files = []
        found = sorted(str(file.locate()) for file in files if file.name == name)
        if not found:
            raise ArgumentError(
                f"{where.name}: robot {name!r} is in the package {package!r}, which is not installed: "
                "install it, or say where the file is (urdf=, --urdf)"
            )
        return found[0]
    beside = where.parent / user_path(name)
    return str(beside) if beside.is_file() else name
