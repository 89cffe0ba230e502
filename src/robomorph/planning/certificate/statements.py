"""What is asked of a motion, in the words in which it is written down and checked again.

A statement is about limits of the joints or about a task. It has rows, each a value between two numbers;
which rows, in which order and with which numbers follows from the statement and the robot alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.planning.certificate.obligations import (
    Obligation,
    TaskBounds,
    Window,
    joint_obligations,
    task_obligations,
    torque_obligations,
)
from robomorph.tasks import AnyTask, Posture
from robomorph.tasks.kinds import LINEAR

if TYPE_CHECKING:
    from robomorph.robot import Robot

Array = npt.NDArray[np.float64]
ORDERS = {"position": 0, "velocity": 1, "acceleration": 2, "jerk": 3}
WHAT = (*ORDERS, "torque")
_AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Limits:
    """Limits of all joints during the whole motion.

    what: "position", "velocity", "acceleration", "jerk" or "torque". share: of the robot's own limits (which
    has none of acceleration and jerk), or None with `lower` and `upper`, one number for every joint.
    """

    what: str
    share: float | None = None
    lower: tuple[float, ...] | None = None
    upper: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.what not in WHAT:
            raise ArgumentError(f"limits: expected one of {', '.join(WHAT)}, found {self.what!r}")
        given = self.lower is not None and self.upper is not None
        if (self.share is None) != given or (
            self.share is not None and self.what in ("acceleration", "jerk")
        ):
            raise ArgumentError(
                f"{self.what} limits: expected a share of the robot's own (position, velocity, torque), or "
                "lower and upper"
            )

    def bounds(self, robot: Robot) -> tuple[Array, Array]:
        """(nv,) each."""
        if self.lower is not None and self.upper is not None:
            return np.array(self.lower), np.array(self.upper)
        assert self.share is not None
        own = robot.limits
        if self.what == "position":
            return self.share * own.lower, self.share * own.upper
        most = self.share * (own.velocity if self.what == "velocity" else own.effort)
        return -most, most


@dataclass(frozen=True)
class TaskStatement:
    """A task (or its `rate`-th time derivative) between bounds during a window.

    reference: numbers as `task.read` gives them. lower, upper: the caller's, one for each of the task's given
    bounds (`bound_size.given`), infinite for none.
    """

    task: AnyTask
    reference: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    window: Window
    rate: int = 0

    @property
    def name(self) -> str:
        return f"{('', 'speed of ', 'acceleration of ')[self.rate]}{self.task.title}"

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the rows."""
        if isinstance(self.task, Posture):
            return self.task.joints
        names: list[str] = []
        for part in self.task.parts:
            count = part.bound_size.rows
            if part.kind is LINEAR:
                names += _AXES
            else:  # angles, and the one that they make together
                names += [*(_AXES if count == 4 else ("first", "second"))[: count - 1], "angle"]
        return tuple(names)

    def bounds(self) -> tuple[Array, Array]:
        """Of the rows."""
        low, high = self.task.row_bounds(np.array(self.lower), np.array(self.upper))
        return np.asarray(low, np.float64), np.asarray(high, np.float64)


Statement = Limits | TaskStatement


@dataclass(frozen=True)
class Row:
    """Row `row` of statement `statement`, and what is to be proven of it."""

    statement: int
    row: int
    obligation: Obligation


def rows_of(robot: Robot, statements: Sequence[Statement], whole: Window) -> list[Row]:
    """Every row that has a bound, in the order of the statements."""
    out: list[Row] = []
    tasks = [(i, s) for i, s in enumerate(statements) if isinstance(s, TaskStatement)]
    others = [(i, s) for i, s in tasks if not isinstance(s.task, Posture)]
    found = {i: _task_rows(i, s) for i, s in tasks if isinstance(s.task, Posture)}
    found |= _traced_rows(robot, others)
    for i, statement in enumerate(statements):
        out += _limit_rows(robot, i, statement, whole) if isinstance(statement, Limits) else found[i]
    return out


def _limit_rows(robot: Robot, index: int, limits: Limits, whole: Window) -> list[Row]:
    low, high = limits.bounds(robot)
    if limits.what == "torque":
        made = torque_obligations(robot, low, high, whole)
    else:
        made = joint_obligations(robot.velocity_names, ORDERS[limits.what], low, high, whole)
    return [Row(index, one.index, one) for one in made]


def _task_rows(index: int, statement: TaskStatement) -> list[Row]:
    """A posture's rows are joints: no program is needed."""
    assert isinstance(statement.task, Posture)
    low, high = statement.bounds()
    shift = np.array(statement.reference) if statement.rate == 0 else np.zeros(len(low))
    out = []
    for k, (_, v) in enumerate(statement.task.places):
        if not (np.isfinite(low[k]) or np.isfinite(high[k])):
            continue
        name = f"{statement.name}, {statement.rows[k]}"
        inside = _inward(low[k], shift[k], 1.0), _inward(high[k], shift[k], -1.0)
        out.append(Row(index, k, Obligation(name, None, v, statement.rate, *inside, statement.window)))
    return out


def _inward(bound: float, shift: float, side: float) -> float:
    """bound + shift, rounded to the strict side."""
    moved = float(bound + shift)
    return moved if shift == 0.0 or not np.isfinite(moved) else float(np.nextafter(moved, side * np.inf))


def _traced_rows(robot: Robot, tasks: Sequence[tuple[int, TaskStatement]]) -> dict[int, list[Row]]:
    given = [TaskBounds(s.name, s.task, s.reference, s.rate, *s.bounds(), s.window, s.rows) for _, s in tasks]
    out: dict[int, list[Row]] = {i: [] for i, _ in tasks}
    places: list[tuple[int, int]] = [(i, k) for i, s in tasks for k in range(len(s.rows))]
    for one in task_obligations(robot, given) if given else []:
        statement, row = places[one.index]
        out[statement].append(Row(statement, row, one))
    return out


def numbers(values: Any) -> tuple[float, ...]:
    """Any array as a flat tuple."""
    return tuple(float(x) for x in np.asarray(values, np.float64).ravel())
