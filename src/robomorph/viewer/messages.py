"""What a page may say, read and checked; whatever else arrives is refused in words."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.naming import hint

Array = npt.NDArray[np.float64]
LONGEST = 2**20  # characters of a message that is read
_MOST_LAYERS = 64


@dataclass(frozen=True)
class Message:
    """kind: one of KINDS. id: the page's number for it, None if it gave none."""

    kind: str
    id: int | None = None
    robot: int = 0
    q: tuple[float, ...] = ()
    frame: str = ""
    position: tuple[float, ...] = ()
    quaternion: tuple[float, ...] | None = None
    layers: frozenset[str] = frozenset()

    @property
    def key(self) -> tuple[str, int] | None:
        """Messages of equal keys make each other stale: only the latest is answered. None: every one is."""
        return (self.kind, self.robot) if self.kind in ("q", "drag") else None


@dataclass(frozen=True)
class Refused:
    """Why something is no message."""

    text: str
    id: int | None = None

    key = None


def read_message(text: str | bytes) -> Message | Refused:
    """Never raises."""
    number: int | None = None
    try:
        data = _object(text)
        number = data.get("id") if type(data.get("id")) is int else None
        kind = data.get("type")
        if not isinstance(kind, str) or kind not in _READERS:
            raise ArgumentError(f"type: unknown message {_shown(kind)}: {hint(str(kind), list(_READERS))}")
        return Message(kind, number, **_READERS[kind](data))
    except ArgumentError as error:
        return Refused(str(error), number)


def _object(text: str | bytes) -> dict[str, Any]:
    if isinstance(text, bytes):
        raise ArgumentError("message: expected text, found bytes")
    if len(text) > LONGEST:
        raise ArgumentError(f"message: expected at most {LONGEST} characters, found {len(text)}")
    try:
        data = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ArgumentError(
            f"message: expected JSON, found what cannot be read ({str(error)[:80]})"
        ) from None
    if not isinstance(data, dict):
        raise ArgumentError(f"message: expected an object with a type, found {_shown(data)}")
    return data


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _robot(data: dict[str, Any]) -> int:
    robot = data.get("robot", 0)
    if type(robot) is not int:
        raise ArgumentError(f"robot: expected the number of a robot, found {_shown(robot)}")
    return robot


def _numbers(name: str, value: Any, count: int | None = None) -> tuple[float, ...]:
    expected = "numbers" if count is None else f"{count} numbers"
    if not isinstance(value, list) or not all(type(x) in (int, float) for x in value):
        raise ArgumentError(f"{name}: expected a list of {expected}, found {_shown(value)}")
    if count is not None and len(value) != count:
        raise ArgumentError(f"{name}: expected {expected}, found {len(value)}")
    try:
        numbers = tuple(float(x) for x in value)
    except OverflowError:
        numbers = (math.inf,)
    if not all(map(math.isfinite, numbers)):
        raise ArgumentError(f"{name}: expected finite numbers, found one that is not")
    return numbers


def _of_q(data: dict[str, Any]) -> dict[str, Any]:
    return {"robot": _robot(data), "q": _numbers("q", data.get("q"))}


def _of_drag(data: dict[str, Any]) -> dict[str, Any]:
    frame = data.get("frame")
    if not isinstance(frame, str):
        raise ArgumentError(f"frame: expected a name, found {_shown(frame)}")
    turn = data.get("quaternion")
    return {
        "robot": _robot(data),
        "frame": frame,
        "position": _numbers("position", data.get("position"), 3),
        "quaternion": None if turn is None else _unit(_numbers("quaternion", turn, 4)),
    }


def _unit(quaternion: tuple[float, ...]) -> tuple[float, ...]:
    length = math.hypot(*quaternion)
    if not 0.99 < length < 1.01:  # a page computes in float32
        raise ArgumentError(f"quaternion: expected unit length, found {length:.6g}")
    return tuple(x / length for x in quaternion)


def _of_layers(data: dict[str, Any]) -> dict[str, Any]:
    on = data.get("on")
    if not isinstance(on, list) or len(on) > _MOST_LAYERS or not all(isinstance(x, str) for x in on):
        raise ArgumentError(f"on: expected names of layers, found {_shown(on)}")
    return {"layers": frozenset(on)}


def _of_nothing(data: dict[str, Any]) -> dict[str, Any]:
    return {}


_READERS = {"hello": _of_nothing, "q": _of_q, "drag": _of_drag, "layers": _of_layers, "reset": _of_nothing}
KINDS = tuple(_READERS)
