"""What the numbers of arguments must be: finite, and of unit length where they are a direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.ir.program import Port

Array = npt.NDArray[Any]

# How far the length of a quaternion or (cos, sin) pair may be from one, by dtype.
UNIT_TOLERANCE = {"float32": 1e-4, "float64": 1e-6}


@dataclass(frozen=True, slots=True)
class UnitPart:
    """Entries [start, stop) of a configuration that must have length one, and the joint they belong to."""

    joint: str
    start: int
    stop: int


def check_values(
    ports: Sequence[Port], arrays: Sequence[Any], units: Sequence[UnitPart], slack: float = 1.0
) -> None:
    """Refuse NaN and infinity in any argument, and configurations `q` whose units have another length."""
    for port, array in zip(ports, arrays, strict=True):
        check_finite(port.name, array)
        if port.name == "q":
            check_units(port.name, array, units, slack)


def check_finite(name: str, array: Array) -> None:
    """The error for NaN or infinity names the argument and the first place."""
    finite = np.isfinite(array)
    if finite.all():
        return
    bad = np.argwhere(~finite)
    index = tuple(int(i) for i in bad[0])
    raise ArgumentError(
        f"{name}: expected finite numbers, found {array[index]} at index {list(index)}"
        f" ({len(bad)} in all); check_finite=False switches this check off"
    )


def check_units(name: str, array: Array, units: Sequence[UnitPart], slack: float = 1.0) -> None:
    """The error for a length other than one names the argument, the joint and the first place. `slack`
    scales the tolerance."""
    tolerance = UNIT_TOLERANCE[array.dtype.name]
    for part in units:
        with np.errstate(over="ignore"):
            length = np.linalg.norm(array[..., part.start : part.stop].astype(np.float64), axis=-1)
        bad = np.argwhere(~(np.abs(length - 1.0) <= slack * tolerance))
        if len(bad):
            index = tuple(int(i) for i in bad[0])
            place = ", ".join([*map(str, index), f"{part.start}:{part.stop}"])
            raise ArgumentError(
                f"{name}: joint {part.joint!r} needs a unit {_unit_name(part)} in {name}[{place}], found"
                f" length {length[index]:.9g} (tolerance {tolerance:g}; {len(bad)} in all): divide it by its"
                " length, start from robot.neutral, and step with robot.integrate, which keeps it;"
                " check_finite=False switches this check off"
            )


def _unit_name(part: UnitPart) -> str:
    return {2: "(cos, sin) pair", 4: "quaternion"}.get(part.stop - part.start, "vector")
