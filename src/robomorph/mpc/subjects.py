"""What costs and bounds are about: a number of each joint, or rows of tasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.given.row_words import bound_row_names, row_names, unit_of
from robomorph.mpc.function import Function
from robomorph.mpc.kernels.pieces import Bounded, OfFunction, Piece, Residual, Speed
from robomorph.mpc.quantities import QUANTITIES, Quantity, Velocity
from robomorph.tasks import AnyTask, Orientation, Posture
from robomorph.tasks.kinds import LINEAR
from robomorph.tasks.numbers import finite, read_bounds

if TYPE_CHECKING:
    from robomorph.robot import Robot

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Subject:
    """Rows of a task, a quantity or a function.

    symbol: "q", "v", "a", "torque" or "jerk" for a number of each of `joints`; "rows" for `pieces` that the
    kernel evaluates. names: of its rows. numbers: how many a reference has; read: from a caller's reference
    to those (..., numbers). default: what they are where none is given; None: it must be."""

    title: str
    unit: str
    symbol: str
    names: tuple[str, ...]
    numbers: int
    read: Callable[[Any], Array]
    default: Array | None
    joints: tuple[int, ...] = ()
    pieces: tuple[Piece, ...] = ()

    @property
    def rows(self) -> int:
        return len(self.names)


def cost_subject(robot: Robot, what: Any, rate: int) -> Subject:
    """What a cost is about. rate: 1 for its speed."""
    check_subject(robot, what, rate)
    if isinstance(what, Quantity):
        return of_joints(robot, what.title, what.symbol, what.unit, what.places(robot))
    if isinstance(what, Function):
        return _of_function(robot, what)
    if isinstance(what, Posture):
        return _of_posture(robot, what, rate, given=True)
    if rate:
        return _of_speed(what)
    pieces = tuple(Residual(part.apart()) for part in what.parts)
    names = row_names(what)
    return Subject(
        what.title, unit_of(what), "rows", names, what.size.reference, what.read, None, pieces=pieces
    )


def bound_subject(robot: Robot, what: Any, rate: int, *, as_rows: bool = False) -> Subject:
    """What a bound is about. as_rows: rows of the kernel, even for what is a number of each joint."""
    check_subject(robot, what, rate)
    if as_rows and isinstance(what, Velocity):
        names = None if what.joints is None else tuple(what.joints)
        return _of_speed(Posture.of(robot.model, names), what.title)
    if as_rows and isinstance(what, Posture) and rate:
        return _of_speed(what)
    if isinstance(what, Posture) and not as_rows:
        return _of_posture(robot, what, rate, given=False)
    if isinstance(what, (Quantity, Function)) or rate:
        return cost_subject(robot, what, rate)
    if what.bound_size.rows == 0:
        raise ArgumentError(f"{what.title}: expected a task with rows that can be bounded, found none")
    pieces = tuple(Bounded(part) for part in what.parts)
    linear = all(part.kind is LINEAR for part in what.parts)
    default = np.zeros(what.size.reference) if linear else None
    names, unit = bound_row_names(what), unit_of(what)
    return Subject(what.title, unit, "rows", names, what.size.reference, what.read, default, pieces=pieces)


def read_row_bounds(subject: Subject, what: Any, rate: int, lower: Any, upper: Any) -> tuple[Array, Array]:
    """Bounds (rows,) of a subject's rows from a caller's."""
    if isinstance(what, AnyTask) and not rate:
        low, high = what.row_bounds(lower, upper)
    else:
        low, high = read_bounds(subject.title, subject.rows, lower, upper)
    if low.ndim != 1:
        raise ArgumentError(
            f"bounds of {subject.title}: expected one set of bounds, found a batch {low.shape}"
        )
    return np.array(low), np.array(high)


def of_joints(
    robot: Robot, title: str, symbol: str, unit: str, joints: tuple[int, ...], *, given: bool = False
) -> Subject:
    """A number of each joint. given: a reference must be."""
    names = tuple(robot.velocity_names[v] for v in joints)
    count = len(joints)
    default = None if given else np.zeros(count)
    read = _vector(f"reference of {title}", count)
    return Subject(title, unit, symbol, names, count, read, default, joints=joints)


def check_subject(robot: Robot, what: Any, rate: int) -> None:
    if not isinstance(what, (AnyTask, Quantity, Function)):
        known = ", ".join(kind.__name__ for kind in QUANTITIES.values())
        raise ArgumentError(
            "task: expected one of robomorph.tasks, mpc.Function or one of "
            f"mpc.{known.replace(', ', ', mpc.')}, found {type(what).__name__} {what!r}"
        )
    if isinstance(what, AnyTask):
        what.check(robot.model)
    if rate and not isinstance(what, AnyTask):
        raise ArgumentError(
            f"rate: {what.title} is not a task whose speed is known: expected 0, found {rate}"
        )


def _of_posture(robot: Robot, task: Posture, rate: int, *, given: bool) -> Subject:
    joints = tuple(v for _, v in task.places)
    if len(set(joints)) < len(joints):
        raise ArgumentError(f"posture: expected every joint once, found {task.joints!r}")
    if rate:
        return of_joints(robot, f"speed of {task.title}", "v", Velocity.unit, joints)
    return of_joints(robot, task.title, "q", task.unit, joints, given=given)


def _of_function(robot: Robot, function: Function) -> Subject:
    names = tuple(str(k) for k in range(function.rows))
    read = _vector(f"reference of {function.title}", function.rows)
    pieces = (OfFunction(function, robot.nv),)
    default = np.zeros(function.rows)
    return Subject(function.title, function.unit, "rows", names, function.rows, read, default, pieces=pieces)


def _of_speed(task: AnyTask, title: str = "") -> Subject:
    """How fast a task changes. An orientation changes by its angular velocity; angles of an axis lie along
    normals of a reference and have no speed of their own."""
    for part in task.parts:
        if not isinstance(part, Orientation) and (
            part.kind is not LINEAR or part.size.reference != part.size.rows
        ):
            raise ArgumentError(
                f"rate: the speed of {part.title} is not known: expected 0, or 1 for a position, a pose, an "
                "orientation, a centre of mass, a posture, or a task of your own with as many rows as "
                "numbers in its reference"
            )
    pieces = tuple(Speed(part) for part in task.parts)
    count = sum(piece.rows for piece in pieces)
    title = title or f"speed of {task.title}"
    unit, names = f"{unit_of(task)}/s".replace(" or ", "/s or "), row_names(task)
    read = _vector(f"reference of {title}", count)
    return Subject(title, unit, "rows", names, count, read, np.zeros(count), pieces=pieces)


def _vector(name: str, count: int) -> Callable[[Any], Array]:
    return lambda value: finite(name, value, (count,))
