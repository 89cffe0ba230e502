"""Scene documents: what the page is given to draw, and whether it can be.

A document is made of what JSON has. Lengths are metres, poses [x y z qx qy qz qw] in the world:

    {"version": 1, "title": text,
     "robots": [{"name", "ghost", "links": [names], "poses": [[7] per link], "q": [nq],
                 "coordinates": [{"name", "joint", "index", "lower", "upper", "kind", "slider"}],
                 "frames": [names that a handle can hold],
                 "tools": [{"name", "link", "position", "quaternion"}],
                 "shapes": [{"link", "layer", "kind", "size", "position", "quaternion", "colour", "name",
                             "mesh"}]}],
     "meshes": {name: {"vertices": base64 of float32 (n, 3), "faces": base64 of uint32 (m, 3), "name"}},
     "marks": [{"layer", "kind", "position", "size", "colour", "name", "robot", "vector" or "quaternion"}],
     "trajectories": [{"name", "robot", "times": [T], "poses": base64 of float32 (T, links, 7),
                       "marks": [marks per time],
                       "plots": [{"title", "unit", "lines": [{"name", "values": [T], "lower", "upper"}]}]}]}
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.naming import hint

VERSION = 1
LAYERS = ("visual", "collision", "inertia", "frames", "com", "manipulability", "forces", "names")
SHAPE_SIZES = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2, "ellipsoid": 3, "mesh": 3}
_MARKS = {
    "point": {},
    "arrow": {"vector": 3},
    "axes": {"quaternion": 4},
    "ellipsoid": {"quaternion": 4, "size": 3},
}
_UNIT = 1e-3  # how far a quaternion's length may be from one
Document = Mapping[str, Any]


def encoded(array: npt.ArrayLike, dtype: str) -> str:
    """Base64 of an array's numbers as `dtype`, which is little-endian; refuses what is not finite."""
    with np.errstate(over="ignore"):
        numbers = np.ascontiguousarray(array, dtype)
    if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
        raise ArgumentError(f"scene: expected numbers that {dtype} can hold, found NaN or infinity")
    return base64.b64encode(numbers.tobytes()).decode("ascii")


def decoded(place: str, text: Any, dtype: str) -> npt.NDArray[Any]:
    """The numbers of a base64 text."""
    if not isinstance(text, str):
        raise _wrong(place, "base64 text", text)
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), dtype)
    except (binascii.Error, ValueError) as error:
        raise ArgumentError(f"scene: {place}: expected base64 of {dtype} numbers: {error}") from None


def check_scene(scene: Document) -> None:
    """ArgumentError, with the place, unless the page can draw this document."""
    if not isinstance(scene, Mapping):
        raise _wrong("the document", "a mapping", scene)
    if scene.get("version") != VERSION:
        raise _wrong("version", str(VERSION), scene.get("version"))
    _text("title", scene.get("title"))
    meshes = scene.get("meshes", {})
    for name, mesh in meshes.items():
        _check_mesh(f"meshes[{name!r}]", mesh)
    robots = _list("robots", scene.get("robots"))
    for i, robot in enumerate(robots):
        _check_robot(f"robots[{i}]", robot, meshes)
    for i, mark in enumerate(_list("marks", scene.get("marks", []))):
        _check_mark(f"marks[{i}]", mark)
    for i, motion in enumerate(_list("trajectories", scene.get("trajectories", []))):
        check_trajectory(f"trajectories[{i}]", motion, robots)


def _check_mesh(place: str, mesh: Any) -> None:
    _mapping(place, mesh)
    vertices = decoded(f"{place}.vertices", mesh.get("vertices"), "<f4")
    faces = decoded(f"{place}.faces", mesh.get("faces"), "<u4")
    if len(vertices) % 3 or len(faces) % 3:
        raise ArgumentError(
            f"scene: {place}: expected threes, found {len(vertices)} and {len(faces)} numbers"
        )
    if not np.isfinite(vertices).all():
        raise ArgumentError(f"scene: {place}.vertices: expected finite numbers, found NaN or infinity")
    if len(faces) and faces.max() >= len(vertices) // 3:
        raise ArgumentError(
            f"scene: {place}.faces: expected indices below {len(vertices) // 3}, found {faces.max()}"
        )


def _check_robot(place: str, robot: Any, meshes: Document) -> None:
    _mapping(place, robot)
    _text(f"{place}.name", robot.get("name"))
    links = _list(f"{place}.links", robot.get("links"))
    for i, link in enumerate(links):
        _text(f"{place}.links[{i}]", link)
    poses = _list(f"{place}.poses", robot.get("poses"))
    if len(poses) != len(links):
        raise _wrong(f"{place}.poses", f"one for each of {len(links)} links", len(poses))
    for i, pose in enumerate(poses):
        _numbers(f"{place}.poses[{i}]", pose, 7)
        _quaternion(f"{place}.poses[{i}]", pose[3:])
    q = robot.get("q", [])
    _numbers(f"{place}.q", q, len(q))
    for i, coordinate in enumerate(robot.get("coordinates", [])):
        _index(f"{place}.coordinates[{i}].index", coordinate.get("index"), len(q))
        for side in ("lower", "upper"):
            if coordinate.get(side) is not None:
                _numbers(f"{place}.coordinates[{i}].{side}", [coordinate[side]], 1)
    for i, tool in enumerate(robot.get("tools", [])):
        _index(f"{place}.tools[{i}].link", tool.get("link"), len(links))
        _placed(f"{place}.tools[{i}]", tool)
    for i, shape in enumerate(_list(f"{place}.shapes", robot.get("shapes"))):
        _check_shape(f"{place}.shapes[{i}]", shape, len(links), meshes)


def _check_shape(place: str, shape: Any, links: int, meshes: Document) -> None:
    _mapping(place, shape)
    _index(f"{place}.link", shape.get("link"), links)
    kind = _one_of(f"{place}.kind", shape.get("kind"), tuple(SHAPE_SIZES))
    _one_of(f"{place}.layer", shape.get("layer", "visual"), LAYERS)
    _numbers(f"{place}.size", shape.get("size"), SHAPE_SIZES[kind])
    if kind != "mesh" and min(shape["size"]) < 0:
        raise _wrong(f"{place}.size", "sizes that are not negative", shape["size"])
    if kind == "mesh" and shape.get("mesh") not in meshes:
        raise _wrong(f"{place}.mesh", "the name of one of the scene's meshes", shape.get("mesh"))
    _placed(place, shape)
    if shape.get("colour") is not None:
        _numbers(f"{place}.colour", shape["colour"], 4)


def _check_mark(place: str, mark: Any) -> None:
    _mapping(place, mark)
    kind = _one_of(f"{place}.kind", mark.get("kind"), tuple(_MARKS))
    _numbers(f"{place}.position", mark.get("position"), 3)
    for name, count in _MARKS[kind].items():
        _numbers(f"{place}.{name}", mark.get(name), count)
    for name, count in (("colour", 4), ("size", 3 if kind == "ellipsoid" else 1)):
        if mark.get(name) is not None:
            _numbers(f"{place}.{name}", mark[name], count)


def check_trajectory(place: str, motion: Any, robots: Sequence[Document]) -> None:
    """ArgumentError unless this is a trajectory of one of the robots."""
    _mapping(place, motion)
    _text(f"{place}.name", motion.get("name"))
    _index(f"{place}.robot", motion.get("robot"), len(robots))
    times = motion.get("times")
    _numbers(f"{place}.times", times, len(times) if isinstance(times, (list, tuple)) else -1)
    if not times or any(after <= before for before, after in pairwise(times)):
        raise ArgumentError(f"scene: {place}.times: expected increasing times, one at least")
    poses = decoded(f"{place}.poses", motion.get("poses"), "<f4")
    links = len(robots[motion["robot"]]["links"])
    if len(poses) != len(times) * links * 7:
        raise ArgumentError(
            f"scene: {place}.poses: expected {len(times)} times x {links} links x 7 numbers, "
            f"found {len(poses)}"
        )
    if not np.isfinite(poses).all():
        raise ArgumentError(f"scene: {place}.poses: expected finite numbers, found NaN or infinity")
    for i, plot in enumerate(motion.get("plots", [])):
        _check_plot(f"{place}.plots[{i}]", plot, len(times))
    marks = motion.get("marks")
    if marks is not None and len(marks) != len(times):
        raise _wrong(f"{place}.marks", f"a list for each of {len(times)} times", len(marks))
    for i, at_once in enumerate(marks or []):
        for j, mark in enumerate(at_once):
            _check_mark(f"{place}.marks[{i}][{j}]", mark)


def _check_plot(place: str, plot: Any, count: int) -> None:
    _text(f"{place}.title", plot.get("title"))
    _text(f"{place}.unit", plot.get("unit"))
    for i, line in enumerate(_list(f"{place}.lines", plot.get("lines"))):
        _text(f"{place}.lines[{i}].name", line.get("name"))
        _numbers(f"{place}.lines[{i}].values", line.get("values"), count)
        for side in ("lower", "upper"):
            if line.get(side) is not None:
                _numbers(f"{place}.lines[{i}].{side}", [line[side]], 1)


def _placed(place: str, thing: Document) -> None:
    _numbers(f"{place}.position", thing.get("position"), 3)
    _numbers(f"{place}.quaternion", thing.get("quaternion"), 4)
    _quaternion(f"{place}.quaternion", thing["quaternion"])


def _quaternion(place: str, numbers: Sequence[float]) -> None:
    length = math.hypot(*numbers)
    if abs(length - 1.0) > _UNIT:
        raise ArgumentError(f"scene: {place}: expected a quaternion of length one, found length {length:.6g}")


def _numbers(place: str, value: Any, count: int) -> None:
    if not isinstance(value, (list, tuple)) or len(value) != count:
        raise _wrong(place, f"{count} numbers" if count >= 0 else "numbers", value)
    for i, x in enumerate(value):
        if isinstance(x, bool) or not isinstance(x, (int, float)) or not math.isfinite(x):
            raise _wrong(f"{place}[{i}]", "a finite number", x)


def _index(place: str, value: Any, count: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < count:
        raise _wrong(place, f"an index below {count}", value)


def _one_of(place: str, value: Any, known: tuple[str, ...]) -> str:
    if value not in known:
        raise ArgumentError(f"scene: {place}: found {value!r}: {hint(str(value), known)}")
    return str(value)


def _list(place: str, value: Any) -> Sequence[Any]:
    if not isinstance(value, (list, tuple)):
        raise _wrong(place, "a list", value)
    return value


def _mapping(place: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise _wrong(place, "a mapping", value)


def _text(place: str, value: Any) -> None:
    if not isinstance(value, str):
        raise _wrong(place, "a text", value)


def _wrong(place: str, expected: str, found: Any) -> ArgumentError:
    return ArgumentError(f"scene: {place}: expected {expected}, found {repr(found)[:80]}")
