"""The native solver: two phases over compiled kernels, without Python between iterations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robomorph.errors import ArgumentError
from robomorph.planning.device import DeviceNodes
from robomorph.planning.device.precision import must_see, on_device, row_noise, single_options
from robomorph.planning.functions import Functions
from robomorph.planning.problem import Array, Problem
from robomorph.planning.solvers.native_problem import LANES, Kernel, NativeProblem
from robomorph.planning.solvers.outcome import (
    INFEASIBLE,
    SOLVED,
    STOPPED,
    UNFINISHED,
    Iteration,
    Outcome,
    Task,
)
from robomorph.planning.solvers.scaling import cost_scale
from robomorph.runtime import _native

_CHANNELS = {"channel_values": "channel_values", "channels": "channels", "channel_hessian": "channel_hessian"}
_TORQUES = {"torque_values": "torque_values", "torques": "torque", "torque_hessian": "torque_hessian"}
_MESSAGES = {
    "stalled": "no step leads further",
    "deadline": "time is over",
    "bad numbers": "NaN or infinity",
}
_STATUS = {"solved": SOLVED, "infeasible": INFEASIBLE, "stopped": STOPPED}


def solve(task: Task) -> Outcome:
    """Solve a task; its options are those of the native solver (native/planning/solve.h)."""
    work = Work(task)
    native = work.native
    usual = {"feasible_only": not task.has_cost, "cost_scale": cost_scale(task.evaluator.problem)}
    options = {"trace": False, **usual, **work.options, **task.options}
    if task.multipliers is not None:
        options = {"mu0": 1e-5, "elastic_first": False, **options}
    progress = _Progress(task.callback)
    try:
        found = _native.motion_solve(
            native.capsule,
            task.x,
            options,
            None if task.callback is None else progress,
            task.multipliers,
        )
    except (ValueError, TypeError) as error:
        if error is progress.raised:
            raise
        raise ArgumentError(f"options of solver 'native': {error}") from None
    work.check()
    status = _STATUS.get(found["status"], UNFINISHED)
    parts = {name: part for name, part in found["times"].items() if name != "total"}
    outcome = Outcome(
        status=status,
        x=found["x"],
        multipliers=found["multipliers"],
        margins=held_margins(native),
        iterations=found["iterations"],
        seconds={name: float(seconds) for name, (seconds, _) in parts.items()},
        message=_MESSAGES.get(found["status"], ""),
        counts={name: int(count) for name, (_, count) in parts.items()},
    )
    return outcome if work.nodes is None else on_device(outcome, work.nodes, task.evaluator, work.noise)


class Work:
    """A task in native code. nodes: what evaluates its functions on a device, noise (R,): by how much its
    precision may falsify entries of `Rows`, scaled, options: what follows for the solver."""

    def __init__(self, task: Task) -> None:
        problem, functions = task.evaluator.problem, task.evaluator.functions
        self.nodes: DeviceNodes | None = None
        self.noise: Array = np.zeros(len(problem.rows.piece))
        self.options: dict[str, Any] = {}
        if task.target == "cpu":
            self.native = native_problem(problem, functions, task.threads)
            return
        self.nodes = DeviceNodes(problem, _of_robot(functions).kernels, task.target, task.dtype)
        if task.dtype == "float32":
            self.noise = row_noise(self.nodes, task.evaluator, task.x)
            must_see(self.noise, problem)
            self.options = single_options(self.noise)
            self.nodes.forget()
        drawn = self.noise + self.noise.max(initial=0.0)
        device: dict[str, Any] = {"device": self.nodes.handed}
        self.native = NativeProblem(problem, device, self.nodes, task.threads, drawn)

    def check(self) -> None:
        """Raise what went wrong on the device."""
        if self.nodes is not None and self.nodes.error is not None:
            raise self.nodes.error


def prepare(task: Task) -> None:
    """Compile what solving takes, so that several threads may solve."""
    native_problem(task.evaluator.problem, task.evaluator.functions, 1)


def native_problem(problem: Problem, functions: Any, threads: int = 0) -> NativeProblem:
    """A problem of a robot's functions in native code."""
    made = _of_robot(functions).kernels
    names = {**(_CHANNELS if problem.channels else {}), **(_TORQUES if problem.torque else {})}
    handles = {name: made.handle(own, lanes=LANES) for name, own in names.items()}
    kernels = {name: Kernel(handle.address, handle.workspace) for name, handle in handles.items()}
    return NativeProblem(problem, kernels, tuple(handles.values()), threads)


def _of_robot(functions: Any) -> Functions:
    if not isinstance(functions, Functions):
        raise ArgumentError(f"solver 'native': expected functions of a robot, found {functions!r}")
    return functions


def held_margins(native: NativeProblem) -> Array:
    """(R,) by how much the rows of every entry are held from their bounds now, in the entry's own unit."""
    rows, sizes = native.problem.rows, [len(native.problem.matrices[k]) for k in native.problem.rows.matrix]
    first = np.cumsum([0, *sizes[:-1]], dtype=np.int64)[: len(sizes)]
    margins = native.bounds()[2]
    full = np.array([margins[k] if size else 0.0 for k, size in zip(first, sizes, strict=True)])
    return np.asarray(full * rows.scale)


class _Progress:
    """Calls a callback after each iteration. raised: what the callback itself raised, if it did."""

    def __init__(self, callback: Callable[[Iteration], bool | None] | None) -> None:
        self._callback = callback
        self.raised: Exception | None = None

    def __call__(self, state: dict[str, Any]) -> bool:
        assert self._callback is not None
        iteration = Iteration(
            state["iteration"], state["cost"], state["infeasibility"], state["dual"], state["mu"]
        )
        try:
            return self._callback(iteration) is not False
        except Exception as error:
            self.raised = error
            raise
