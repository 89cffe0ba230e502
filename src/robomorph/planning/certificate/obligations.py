"""What is to be proven: a value that follows from a motion stays between two numbers during a window."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from robomorph.compiler.specialise import make_request
from robomorph.errors import ArgumentError
from robomorph.ir.chebyshev import Order, ordered
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.passes.pipeline import SIMPLIFY, run_passes
from robomorph.planning.certificate.rates import rate_of
from robomorph.tasks import AnyTask, Scene

if TYPE_CHECKING:
    from robomorph.robot import Robot

Window = tuple[Fraction, Fraction]


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
            self._made[order] = program, ordered(program, {name for name, _ in self.numbers})
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
    program = robot.specialiser.specialise(make_request(robot.model, "inverse_dynamics")).program
    names = [f"torque of {name}" for name in robot.velocity_names]
    return _each(names, Function(program), 0, lower, upper, window)


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
    tracer, tree = Tracer(), robot.specialiser.tree(regroup=False)
    references = [x for one in given for x in one.reference]
    ports = [Port("q", (robot.nq,)), Port("references", (len(references),))]
    inputs = tracer.inputs(ports)
    scene, first = Scene(tree, inputs["q"]), 0
    values: list[object] = []
    starts = []
    for one in given:
        own, _ = one.task.bound_rows(scene, inputs["references"][first : first + len(one.reference)])
        starts.append(len(values))
        values += own
        first += len(one.reference)
    program = run_passes(tracer.program("tasks", ports, {"values": values}), SIMPLIFY)
    function = Function(program, (("references", tuple(references)),))
    out: list[Obligation] = []
    for one, start in zip(given, starts, strict=True):
        names = [f"{one.name}, {row}" for row in one.rows]
        out += _each(names, function, one.rate, one.lower, one.upper, one.window, start)
    return out


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
