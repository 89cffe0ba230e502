"""What can be asked of inverse kinematics: tasks with references, weights and tolerances.

Positions are in metres, in the world's axes; rotations in radians. A weight says how much a row counts
while the search is under way, and 0 frees it: it is then neither sought nor judged. A tolerance is a bound
on the length of the error, or, given per axis, on each component: x, y, z of the world for positions, turns
about the axes of the target frame for orientations. Arrays may have leading batch dimensions, which
broadcast.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.tasks import AnyTask, Axis, CenterOfMass, Orientation, Pose, Position, Task
from robomorph.tasks.base import split
from robomorph.tasks.numbers import Array, PerAxis, per_row


@dataclass(frozen=True, eq=False)
class Part:
    """One task with the numbers (..., n) of its reference, and its rows' weights and tolerances.
    `together`: the rows are judged by their length, not one by one."""

    task: Task
    numbers: Array
    weights: tuple[float, ...]
    tolerance: tuple[float, ...]
    together: bool


class _Compared:
    """Equality of dataclasses whose fields may be arrays: lists and arrays of the same numbers are equal."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(np.array_equal(value, getattr(other, name)) for name, value in vars(self).items())

    def __hash__(self) -> int:
        return hash((type(self), getattr(self, "frame", None)))


@dataclass(frozen=True, eq=False)
class TaskTarget(_Compared):
    """Any task of `robomorph.tasks`, or of your own, at its `reference` (..., as the task reads it)."""

    task: AnyTask
    reference: npt.ArrayLike
    weight: PerAxis = 1.0
    tolerance: PerAxis | None = None

    def parts(self, tolerance: tuple[float, float]) -> list[Part]:
        weights = _per_part("weight", self.task, self.weight)
        bounds = _per_part("tolerance", self.task, self.tolerance)
        return _parts(self.task, self.reference, list(zip(weights, bounds, strict=True)), tolerance)


@dataclass(frozen=True, eq=False)
class PositionTarget(_Compared):
    """The origin of `frame` at `position` (..., 3)."""

    frame: str
    position: npt.ArrayLike
    weight: PerAxis = 1.0
    tolerance: PerAxis | None = None

    @property
    def task(self) -> Position:
        return Position(self.frame)

    def parts(self, tolerance: tuple[float, float]) -> list[Part]:
        return _parts(self.task, self.position, [(self.weight, self.tolerance)], tolerance)


@dataclass(frozen=True, eq=False)
class OrientationTarget(_Compared):
    """The axes of `frame` along the columns of `rotation` (..., 3, 3)."""

    frame: str
    rotation: npt.ArrayLike
    weight: PerAxis = 1.0
    tolerance: PerAxis | None = None

    @property
    def task(self) -> Orientation:
        return Orientation(self.frame)

    def parts(self, tolerance: tuple[float, float]) -> list[Part]:
        return _parts(self.task, self.rotation, [(self.weight, self.tolerance)], tolerance)


@dataclass(frozen=True, eq=False)
class PoseTarget(_Compared):
    """`frame` at `pose` (..., 4, 4)."""

    frame: str
    pose: npt.ArrayLike
    position_weight: PerAxis = 1.0
    rotation_weight: PerAxis = 1.0
    position_tolerance: PerAxis | None = None
    rotation_tolerance: PerAxis | None = None

    @property
    def task(self) -> Pose:
        return Pose(self.frame)

    def parts(self, tolerance: tuple[float, float]) -> list[Part]:
        place = (self.position_weight, self.position_tolerance)
        turn = (self.rotation_weight, self.rotation_tolerance)
        return _parts(self.task, self.pose, [place, turn], tolerance)


@dataclass(frozen=True, eq=False)
class AxisTarget(_Compared):
    """The direction `axis` (3,) of `frame`'s own axes pointed along `direction` (..., 3) of the world's;
    turns about it are free."""

    frame: str
    axis: npt.ArrayLike
    direction: npt.ArrayLike
    weight: float = 1.0
    tolerance: float | None = None

    @property
    def task(self) -> Axis:
        return Axis(self.frame, self.axis)  # type: ignore[arg-type]

    def parts(self, tolerance: tuple[float, float]) -> list[Part]:
        return _parts(self.task, self.direction, [(self.weight, self.tolerance)], tolerance)


@dataclass(frozen=True, eq=False)
class CenterOfMassTarget(_Compared):
    """The centre of mass of all moving bodies at `position` (..., 3)."""

    position: npt.ArrayLike
    weight: PerAxis = 1.0
    tolerance: PerAxis | None = None

    @property
    def task(self) -> CenterOfMass:
        return CenterOfMass()

    def parts(self, tolerance: tuple[float, float]) -> list[Part]:
        return _parts(self.task, self.position, [(self.weight, self.tolerance)], tolerance)


Target = PositionTarget | OrientationTarget | PoseTarget | AxisTarget | CenterOfMassTarget | TaskTarget
TARGETS: tuple[Any, ...] = get_args(Target)


def _parts(
    task: AnyTask,
    reference: npt.ArrayLike,
    settings: Sequence[tuple[PerAxis, PerAxis | None]],
    default: tuple[float, float],
) -> list[Part]:
    """What a task is made of, with its numbers; `settings` are weight and tolerance of each."""
    numbers, first, out = task.read(reference), 0, []
    if numbers.shape[-1:] != (task.size.reference,):
        raise ArgumentError(
            f"{task.title}: expected `read` to give (..., {task.size.reference}) numbers, "
            f"found {numbers.shape}"
        )
    for part, (weight, tolerance) in zip(task.parts, settings, strict=True):
        own = slice(first, first + part.size.reference)
        out.append(_part(part, numbers[..., own], weight, tolerance, default[part.kind.turning]))
        first = own.stop
    return out


def _part(task: Task, numbers: Array, weight: PerAxis, tolerance: PerAxis | None, default: float) -> Part:
    rows = task.size.rows
    weights = per_row(f"weight of {task.title}", weight, rows)
    if any(w < 0.0 for w in weights) or not any(weights):
        raise ArgumentError(f"weight of {task.title}: expected numbers >= 0, not all 0, found {weights}")
    bounds = per_row(f"tolerance of {task.title}", default if tolerance is None else tolerance, rows)
    if any(t <= 0.0 for t in bounds):
        raise ArgumentError(f"tolerance of {task.title}: expected numbers > 0, found {bounds}")
    together = tolerance is None or np.ndim(tolerance) == 0
    # Only where rows are told apart: about the world's axes a rotation is cheaper.
    task = task if together and len(set(weights)) == 1 else task.apart()
    return Part(task, numbers, weights, bounds, together)


def _per_part(what: str, task: AnyTask, value: PerAxis | None) -> list[Any]:
    """None, one number for all rows of a task, or one for each, as its parts take them."""
    if value is None:
        return [None] * len(task.parts)
    rows = per_row(f"{what} of {task.title}", value, task.size.rows)
    if np.ndim(value) == 0:
        return [value] * len(task.parts)
    return split(rows, [part.size.rows for part in task.parts])
