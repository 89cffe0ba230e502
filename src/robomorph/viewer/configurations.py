"""Configurations of a robot as callers, files and pages give them, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.compiler.unit_parts import unit_parts
from robomorph.errors import ArgumentError
from robomorph.runtime.arguments import as_array
from robomorph.runtime.values import UNIT_TOLERANCE

if TYPE_CHECKING:
    from robomorph.robot import Robot

Array = npt.NDArray[np.float64]


def finite_array(name: str, value: Any) -> Array:
    """Real numbers as float64, all finite."""
    array = np.array(as_array(name, value), np.float64, order="C")  # a copy: what is shown stays as it was
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        place = [int(i) for i in bad[0]]
        raise ArgumentError(f"{name}: expected finite numbers, found {array[tuple(place)]} at index {place}")
    return array


def read_q(robot: Robot, name: str, value: Any) -> Array:
    """One configuration (nq,): finite, quaternions of unit length. It may lie outside the limits."""
    q = finite_array(name, value)
    if q.shape != (robot.nq,):
        raise ArgumentError(f"{name}: expected ({robot.nq},) numbers for {robot.name}, found {q.shape}")
    check_units(robot, name, q)
    return q


def check_units(robot: Robot, name: str, q: Array) -> None:
    """Refuse quaternions and (cos, sin) pairs in q (..., nq) that are not of unit length, as a robot does."""
    tolerance = UNIT_TOLERANCE["float64"]
    for part in unit_parts(robot.model):
        length = np.linalg.norm(q[..., part.start : part.stop], axis=-1)
        bad = np.argwhere(~(np.abs(length - 1.0) <= tolerance))
        if len(bad):
            index = tuple(int(i) for i in bad[0])
            place = ", ".join([*map(str, index), f"{part.start}:{part.stop}"])
            raise ArgumentError(
                f"{name}: joint {part.joint!r} needs a vector of unit length in {name}[{place}], found "
                f"length {length[index]:.9g} ({len(bad)} in all): divide it by its length"
            )


def rest(robot: Robot) -> Array:
    """(nq,) all joints at zero, or as near as their limits allow."""
    return np.clip(robot.neutral, robot.limits.lower, robot.limits.upper)


def beyond_limits(robot: Robot, q: Array, before: Array) -> str | None:
    """Which joint of q (nq,) is outside its limits, and was not there before, in words; None if none is."""
    lower, upper = robot.limits.lower, robot.limits.upper
    outside = np.flatnonzero(((q < lower) | (q > upper)) & (q != before))
    if not len(outside):
        return None
    k = int(outside[0])
    span = f"{lower[k]:.6g} to {upper[k]:.6g}"
    return f"{robot.coordinate_names[k]}: expected {span} (its limits), found {q[k]:.6g}"
