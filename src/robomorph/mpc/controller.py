"""A controller: from the state of the moment to torques, step by step, each plan starting from the last."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.given.numbers import number, whole_number
from robomorph.mpc.arrays import output_arrays
from robomorph.mpc.call import CallReader, read_state, read_torque
from robomorph.mpc.explain import Judge
from robomorph.mpc.kernels import ControlKernels
from robomorph.mpc.layout import lay_out
from robomorph.mpc.methods import METHODS, Settings, Work
from robomorph.mpc.problem import Problem
from robomorph.mpc.result import Result, fill_result, make_result
from robomorph.mpc.tables import Tables
from robomorph.naming import hint

Array = npt.NDArray[Any]
_MOST_ITERATIONS = 10_000
_MOST_THREADS = 1024


class Controller:
    """Solves a problem again and again as the state changes.

    problem: as it is now; what is added to it later is not seen. iterations: None: every step goes on until
    the plan is optimal; a number: so many for a step that starts from the last plan (one is usual at a
    kilohertz); the first step always goes on. tolerance: how far a hard limit may be broken, in shares of its
    range. optimal: by how much less, relatively, an optimal plan's cost could still become. period: s between
    steps, `problem.dt` by default. threads: at most so many, for batches; answers do not depend on it.
    method: "id" (accelerations as controls, torques by inverse dynamics) or "ddp" (torques as controls,
    motions by forward dynamics). integrator: "euler" as the problem has it; of "ddp" also "midpoint" and
    "rk4". kernels: what evaluates the robot, for studies that replace a part of it.

    For one caller at a time. It holds memory and a plan of this process, so that it cannot be copied or
    pickled: make another one of its problem."""

    def __init__(
        self,
        problem: Problem,
        iterations: int | None = None,
        tolerance: float = 1e-6,
        optimal: float = 1e-7,
        period: float | None = None,
        threads: int = 1,
        method: str = "id",
        cap: int = 100,
        integrator: str = "euler",
        kernels: ControlKernels | None = None,
    ) -> None:
        if not isinstance(problem, Problem):
            raise ArgumentError(
                f"problem: expected an mpc.Problem, found {type(problem).__name__} {problem!r}"
            )
        if not isinstance(method, str) or method not in METHODS:
            raise ArgumentError(f"method: unknown name {method!r}: {hint(str(method), list(METHODS))}")
        known = METHODS[method].integrators
        if integrator not in known:
            raise ArgumentError(f"integrator: method {method!r} has {', '.join(known)}, found {integrator!r}")
        self.problem, self.method, self.integrator = problem, method, integrator
        self.iterations = (
            None if iterations is None else whole_number("iterations", iterations, 1, _MOST_ITERATIONS)
        )
        self.tolerance = _positive("tolerance", tolerance)
        self.optimal = _positive("optimal", optimal)
        self.period = _positive("period", problem.dt if period is None else period)
        self._layout = lay_out(problem)
        METHODS[method].check(self._layout)
        cap = whole_number("cap", cap, 1, _MOST_ITERATIONS)
        threads = whole_number("threads", threads, 1, _MOST_THREADS)
        self._settings = Settings(self.tolerance, self.optimal, cap, threads, integrator)
        self._kernels = kernels or ControlKernels(problem.robot, self._layout.pieces)
        self._judge = Judge(self._layout, self._kernels, self.tolerance)
        self._bound: _Bound | None = None
        self._warm = False
        self._lock = threading.Lock()

    def step(
        self,
        q: npt.ArrayLike,
        qd: npt.ArrayLike,
        reference: Any = None,
        weights: Mapping[str, Any] | None = None,
        deadline: float | None = None,
        elapsed: float | None = None,
        offset: npt.ArrayLike | None = None,
        out: Result | None = None,
    ) -> Result:
        """The plan from a state, and torques for now.

        q, qd: (..., nv) the state; leading dimensions are a batch of problems, each with a plan of its own.
        reference: a mapping from names of costs and bounds (or their tasks) to references, or one alone if
        there is one cost of a task: (..., n) for all nodes, or (..., N+1, n) for each; a batch as long as the
        horizon has nodes is taken for a batch. weights: a mapping from names of costs ("terminal NAME" at the
        last node) to weights. Both hold for this step; what is not given is as the problem has it. deadline:
        s that the step may take; then the best plan so far that keeps the limits is given, or the last one
        moved on in time; `origin` says which. elapsed: s since the last step, `period` by default. offset:
        (..., nv) torques that the drives must give beyond the model's, such as an observer has them: limits,
        costs of efforts and the result are about the sum. out: a result of this controller, of the same
        batch, to be filled again: nothing is allocated."""
        begun = time.perf_counter()
        if not self._lock.acquire(blocking=False):
            raise ArgumentError(
                "controller: in use by another thread: expected one caller, make one for each"
            )
        try:
            seconds = math.inf if deadline is None else _not_negative("deadline", deadline)
            past = self.period if elapsed is None else _not_negative("elapsed", elapsed)
            position, velocity, lead = read_state(self._layout, q, qd)
            bound = self._bind(lead)
            bound.write(position, velocity, reference, weights, offset)
            result = self._result(out, lead)
            self._solve(bound, seconds, past, begun)
            fill_result(result, bound.outputs, bound.tables, self._judge, time.perf_counter() - begun)
            return result
        finally:
            self._lock.release()

    @property
    def trace(self) -> Array:
        """Costs (..., iterations + 1) at the start and after every iteration of the last step; of a batch, a
        problem that needed fewer repeats its last. Empty before the first."""
        if self._bound is None:
            return np.empty(0)
        costs, counts = self._bound.outputs["trace"], self._bound.outputs["counts"][:, :1]
        most = min(int(counts.max()), costs.shape[1] - 1)
        index = np.minimum(np.arange(most + 1), counts)
        return np.take_along_axis(costs, index, axis=1).reshape(*self._bound.lead, most + 1)

    def reset(self) -> None:
        """Forget the plan: the next step is a first one."""
        self._warm = False

    def _bind(self, lead: tuple[int, ...]) -> _Bound:
        """Arrays and a solver for this batch, made anew when it changes."""
        if self._bound is None or self._bound.lead != lead:
            self._bound = _Bound(self, lead)
            self._warm = False
        return self._bound

    def _solve(self, bound: _Bound, seconds: float, past: float, begun: float) -> None:
        warm, self._warm = self._warm, False  # whatever is raised leaves no plan to start from
        past = min(past, 2.0 * self._layout.horizon * self._layout.dt)  # nothing is left of the plan by then
        bound.remember_acceleration(past, warm)
        left = seconds - (time.perf_counter() - begun)
        bound.method.step(max(0.0, left), past if warm else 0.0, (self.iterations or 0) if warm else 0, warm)
        self._warm = True

    def _result(self, out: Result | None, lead: tuple[int, ...]) -> Result:
        if out is None:
            return make_result(self._layout, lead)
        nv, n = self._layout.nv, self._layout.horizon
        if not isinstance(out, Result) or out.qdd.shape != (*lead, n, nv):
            found = out.qdd.shape if isinstance(out, Result) else type(out).__name__
            raise ArgumentError(
                f"out: expected a result of this controller for the same batch, with qdd {(*lead, n, nv)}, "
                f"found {found}"
            )
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        raise ArgumentError(
            "controller: holds memory and a plan of this process, and cannot be copied or pickled: copy its "
            "problem and make a controller of that"
        )

    def __repr__(self) -> str:
        count = "to convergence" if self.iterations is None else f"{self.iterations} iterations a step"
        return f"<mpc.Controller {self.method!r} of {self.problem!r}, {count}>"


class _Bound:
    """Arrays and a solver for one batch."""

    def __init__(self, controller: Controller, lead: tuple[int, ...]) -> None:
        layout, self.lead = controller._layout, lead
        problems = math.prod(lead)
        self.layout = layout
        self.tables = Tables(layout, problems)
        self.reader = CallReader(layout, self.tables, lead)
        self.outputs: dict[str, Array] = dict(output_arrays(layout, problems))
        self.outputs["trace"] = np.zeros((problems, controller._settings.cap + 1))
        arrays = {**self.tables.arrays, **self.outputs}
        work = Work(layout, problems, controller._kernels, arrays, controller._settings)
        self.method = METHODS[controller.method](work)

    def write(self, q: Array, qd: Array, reference: Any, weights: Any, offset: Any) -> None:
        """A call's arguments into the tables."""
        self.reader.read(reference, weights)
        self.tables.set_beyond(None if offset is None else read_torque(self.layout, offset, self.lead))
        for name, value in (("state_q", q), ("state_v", qd)):
            target = self.tables.arrays[name]
            np.copyto(target.reshape(*self.lead, self.layout.nv), value)
        self.tables.settle()

    def remember_acceleration(self, elapsed: float, warm: bool) -> None:
        """What the last plan does just before the new node 0, for the cost of jerk there."""
        if self.layout.jerk:
            last = self.tables.arrays["last_a"]
            if not warm:
                last[...] = 0.0
                return
            if elapsed <= 0.0:
                return
            node = math.ceil(elapsed / self.layout.dt * (1.0 - 1e-9)) - 1
            np.copyto(last, self.outputs["plan_a"][:, min(max(node, 0), self.layout.horizon - 1)])


def _positive(name: str, value: Any) -> float:
    found = number(name, value)
    if not found > 0.0:
        raise ArgumentError(f"{name}: expected a number above 0, found {value!r}")
    return found


def _not_negative(name: str, value: Any) -> float:
    found = math.inf if isinstance(value, float) and value == math.inf else number(name, value)
    if not found >= 0.0:
        raise ArgumentError(f"{name}: expected seconds from 0 on, found {value!r}")
    return found
