"""What solvers take and give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from robomorph.planning.device.use import DeviceUse
from robomorph.planning.evaluate import Evaluator
from robomorph.planning.problem import Array

SOLVED = "solved"
INFEASIBLE = "infeasible"  # x has the least violation nearby
STOPPED = "stopped"  # by the callback
UNFINISHED = "not converged"


@dataclass(frozen=True)
class Iteration:
    """The state of a search, as callbacks see it."""

    iteration: int
    cost: float
    violation: float  # the largest of a row, scaled
    dual: float
    mu: float


@dataclass(frozen=True)
class Task:
    """A problem to be solved from a guess x."""

    evaluator: Evaluator
    x: Array
    margins: Array | None  # (R,) of the entries of Rows, to begin with; None: those at x
    has_cost: bool
    threads: int = 0
    callback: Callable[[Iteration], bool | None] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    multipliers: Array | None = None  # of a problem like this one: with x a warm start
    target: str = "cpu"  # where functions are evaluated
    dtype: str = "float64"


@dataclass(frozen=True)
class Outcome:
    """Where a solver ended. multipliers (rows,): positive at upper bounds that hold the motion back."""

    status: str
    x: Array
    multipliers: Array
    margins: Array  # (R,) that the rows were held by
    iterations: int
    seconds: dict[str, float]  # by part: values, derivatives, hessian, solver
    message: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    device: DeviceUse | None = None
