"""What is to be proven: a value that follows from a motion stays between two numbers during a window."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from robomorph.compiler.specialise import make_request
from robomorph.errors import ArgumentError
from robomorph.ir.chebyshev import Order, ordered
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.passes.pipeline import SIMPLIFY, run_passes
from robomorph.planning.certificate.rates import MOTION, rate_of
from robomorph.tasks import AnyTask, Scene

if TYPE_CHECKING:
    from robomorph.robot import Robot

Window = tuple[Fraction, Fraction]
# By robot: functions made before, "torque" and lists of tasks.
_MADE: WeakKeyDictionary[Robot, dict[Any, Function]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Function:
    """A program over q, qd, qdd (those it has as inputs) and plain numbers, by port."""

    program: Program
    numbers: tuple[tuple[str, tuple[float, ...]], ...] = ()
    _made: dict[int, tuple[Program, Order]] = field(default_factory=dict, repr=False)

    def rate(self, order: int) -> tuple[Program, Order]:
        """The program of its time derivative, ready to run on models; made once."""
        if order not in self._made:
            program = rate_of(self.program, order)
            plain = {port.name for port in program.inputs} - set(MOTION)
            self._made[order] = program, ordered(program, plain)
        return self._made[order]


@dataclass(frozen=True)
class Obligation:
    """lower <= d^order/dt^order value <= upper for all t of the window (s).

    The value is result `index` of the function, laid flat, or without one the joint `index` itself. Bounds
    are exactly these numbers; an infinite one is no bound.
    """

    name: str
    function: Function | None
    index: int
    order: int
    lower: float
    upper: float
    window: Window

    def __post_init__(self) -> None:
        if math.isnan(self.lower) or math.isnan(self.upper):
            raise ArgumentError(f"{self.name}: expected bounds that are numbers, found NaN")
        if not self.window[0] <= self.window[1]:
            raise ArgumentError(f"{self.name}: expected a window from first to last, found {self.window}")
        if self.order not in (range(4) if self.function is None else range(3)):
            raise ArgumentError(f"{self.name}: no derivative of order {self.order} can be proven")


def window_of(begin: float | Fraction, end: float | Fraction) -> Window:
    return Fraction(begin), Fraction(end)


def joint_obligations(
    names: Sequence[str], order: int, lower: npt.ArrayLike, upper: npt.ArrayLike, window: Window
) -> list[Obligation]:
    """Of joints themselves (order 0), their speeds, accelerations, jerks; bounds (nv,)."""
    what = ("position", "speed", "acceleration", "jerk")[order]
    return _each([f"{what} of {name}" for name in names], None, order, lower, upper, window)


def torque_obligations(
    robot: Robot, lower: npt.ArrayLike, upper: npt.ArrayLike, window: Window
) -> list[Obligation]:
    """Of joint torques (N m, N); bounds (nv,)."""
    made = _MADE.setdefault(robot, {})
    if "torque" not in made:
        program = robot.specialiser.specialise(make_request(robot.model, "inverse_dynamics")).program
        made["torque"] = Function(program)
    names = [f"torque of {name}" for name in robot.velocity_names]
    return _each(names, made["torque"], 0, lower, upper, window)


@dataclass(frozen=True)
class TaskBounds:
    """The rows of a task (see `AnyTask.bound_rows`) from a reference, or their rate, between bounds."""

    name: str
    task: AnyTask
    reference: tuple[float, ...]
    rate: int
    lower: npt.ArrayLike
    upper: npt.ArrayLike
    window: Window
    rows: tuple[str, ...]  # names


def task_obligations(robot: Robot, given: Sequence[TaskBounds]) -> list[Obligation]:
    """Of tasks; all of them are one program, since they share most of their work."""
    tasks = tuple(one.task for one in given)
    made = _MADE.setdefault(robot, {})
    if tasks not in made:
        made[tasks] = Function(_task_program(robot, tasks))
    references = tuple(x for one in given for x in one.reference)
    function = replace(made[tasks], numbers=(("references", references),))  # what was made is shared
    out: list[Obligation] = []
    start = 0
    for one in given:
        names = [f"{one.name}, {row}" for row in one.rows]
        out += _each(names, function, one.rate, one.lower, one.upper, one.window, start)
        start += one.task.bound_size.rows
    return out


def _task_program(robot: Robot, tasks: Sequence[AnyTask]) -> Program:
    """(q, references) -> the bound rows of all tasks."""
    tracer = Tracer()
    ports = [Port("q", (robot.nq,)), Port("references", (sum(task.size.reference for task in tasks),))]
    inputs = tracer.inputs(ports)
    scene, first = Scene(robot.specialiser.tree(regroup=False), inputs["q"]), 0
    values: list[object] = []
    for task in tasks:
        own, _ = task.bound_rows(scene, inputs["references"][first : first + task.size.reference])
        values += own
        first += task.size.reference
    return run_passes(tracer.program("tasks", ports, {"values": values}), SIMPLIFY)


def _each(
    names: Sequence[str],
    function: Function | None,
    order: int,
    lower: npt.ArrayLike,
    upper: npt.ArrayLike,
    window: Window,
    first: int = 0,
) -> list[Obligation]:
    low, high = (np.broadcast_to(np.asarray(b, np.float64), (len(names),)) for b in (lower, upper))
    return [
        Obligation(name, function, first + i, order, float(low[i]), float(high[i]), window)
        for i, name in enumerate(names)
        if np.isfinite(low[i]) or np.isfinite(high[i])
    ]
