"""IPOPT through its C interface, from the library in the casadi wheel: exact sparse derivatives."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from robomorph.errors import ArgumentError, TargetError
from robomorph.planning.hessian import Hessian
from robomorph.planning.jacobian import Jacobian, cost_gradient
from robomorph.planning.paper import PaperEvaluator, PaperJacobian
from robomorph.planning.problem import Array
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

_Int, _Real, _Bool = ctypes.c_int, ctypes.c_double, ctypes.c_bool
_Reals, _Ints, _Any = ctypes.POINTER(_Real), ctypes.POINTER(_Int), ctypes.c_void_p
_EVAL_F = ctypes.CFUNCTYPE(_Bool, _Int, _Reals, _Bool, _Reals, _Any)
_EVAL_G = ctypes.CFUNCTYPE(_Bool, _Int, _Reals, _Bool, _Int, _Reals, _Any)
_EVAL_JACOBIAN = ctypes.CFUNCTYPE(_Bool, _Int, _Reals, _Bool, _Int, _Int, _Ints, _Ints, _Reals, _Any)
_EVAL_HESSIAN = ctypes.CFUNCTYPE(
    _Bool, _Int, _Reals, _Bool, _Real, _Int, _Reals, _Bool, _Int, _Ints, _Ints, _Reals, _Any
)
_INTERMEDIATE = ctypes.CFUNCTYPE(_Bool, _Int, _Int, *[_Real] * 8, _Int, _Any)
_STATUS = {0: SOLVED, 1: SOLVED, 2: INFEASIBLE, 5: STOPPED, 6: SOLVED}
_MESSAGES = {
    -1: "too many iterations",
    -2: "restoration failed",
    -3: "no step could be computed",
    -4: "too much time",
    -5: "too much time",
    -13: "NaN or infinity",
}
_INFINITY = 2e19  # what IPOPT takes for no bound
_ROUNDS = 4  # of margins
_MISSED = 1e-6  # scaled


@cache
def library() -> ctypes.CDLL:
    """libipopt, with the types of the calls that are used."""
    try:
        import casadi
    except ImportError:
        raise TargetError(
            "solver 'ipopt': the casadi wheel, which has IPOPT, is not here: pip install 'robomorph[ipopt]'"
        ) from None
    folder = Path(casadi.__file__).parent
    found = sorted(folder.glob("libipopt.so*")) + sorted(folder.glob("libipopt*.dylib"))
    if not found:
        raise TargetError(f"solver 'ipopt': expected libipopt in {folder}, found none")
    lib = ctypes.CDLL(str(found[0]))
    lib.CreateIpoptProblem.restype = _Any
    lib.CreateIpoptProblem.argtypes = [
        _Int, _Reals, _Reals, _Int, _Reals, _Reals, _Int, _Int, _Int,
        _EVAL_F, _EVAL_G, _EVAL_F, _EVAL_JACOBIAN, _EVAL_HESSIAN,
    ]  # fmt: skip
    lib.FreeIpoptProblem.argtypes = [_Any]
    lib.FreeIpoptProblem.restype = None
    lib.AddIpoptStrOption.argtypes = [_Any, ctypes.c_char_p, ctypes.c_char_p]
    lib.AddIpoptNumOption.argtypes = [_Any, ctypes.c_char_p, _Real]
    lib.AddIpoptIntOption.argtypes = [_Any, ctypes.c_char_p, _Int]
    lib.SetIntermediateCallback.argtypes = [_Any, _INTERMEDIATE]
    lib.IpoptSolve.argtypes = [_Any, _Reals, _Reals, _Reals, _Reals, _Reals, _Reals, _Any]
    return lib


def solve(task: Task) -> Outcome:
    """Solve, measure the margins at the answer, and solve again from there while they were too small."""
    run = _Run(task)
    x, multipliers = task.x, task.multipliers
    margins = task.evaluator.margins(x) if task.margins is None else task.margins
    iterations = 0
    for _ in range(_ROUNDS):
        status, message, x, multipliers = run.solve(x, margins, multipliers)
        needed = task.evaluator.margins(x)
        iterations += run.iterations
        if status != SOLVED or (needed <= margins).all():
            break
        margins = np.maximum(margins, 1.5 * needed)
    assert multipliers is not None
    if status == SOLVED and _excess(task, x, needed) > _MISSED:
        status, message = UNFINISHED, "the polynomials miss more than is left: refine the intervals"
    return Outcome(status, x, multipliers, margins, iterations, run.seconds, message, dict(run.counts))


def _excess(task: Task, x: Array, margins: Array) -> float:
    """By how much the worst row is outside of its bounds drawn in by margins, scaled. What IPOPT calls solved
    or acceptable may miss more than we allow."""
    lower, upper = task.evaluator.bounds(margins)
    rows = task.evaluator.rows(x)
    return float(np.maximum(lower - rows, rows - upper).max(initial=0.0))


class _Run:
    """Callbacks of one problem. What they raise is kept and raised again outside of IPOPT."""

    def __init__(self, task: Task) -> None:
        self.task, self.evaluator = task, task.evaluator
        evaluator = task.evaluator
        paper = isinstance(evaluator, PaperEvaluator)
        self.jacobian = (
            PaperJacobian(evaluator) if isinstance(evaluator, PaperEvaluator) else Jacobian(evaluator)
        )
        self.hessian = None if paper else Hessian(evaluator)  # rows with kinks have none
        self.seconds = dict.fromkeys(("values", "derivatives", "hessian", "solver"), 0.0)
        self.counts = dict.fromkeys(("values", "derivatives", "hessian"), 0)
        self.iterations = 0
        self.error: BaseException | None = None
        self._keep = (
            _EVAL_F(self._guarded("values", self._cost)),
            _EVAL_G(self._guarded("values", self._rows)),
            _EVAL_F(self._guarded("derivatives", self._gradient)),
            _EVAL_JACOBIAN(self._guarded("derivatives", self._jacobian)),
            _EVAL_HESSIAN(self._guarded("hessian", self._hessian)),
        )
        self._intermediate = _INTERMEDIATE(self._guarded("", self._progress))

    def solve(self, x: Array, margins: Array, multipliers: Array | None) -> tuple[str, str, Array, Array]:
        lib, problem, m = library(), self.evaluator.problem, self.evaluator.count
        lower, upper = (np.clip(side, -_INFINITY, _INFINITY) for side in self.evaluator.bounds(margins))
        wide = np.full(problem.variables, _INFINITY)
        sizes = (len(self.jacobian.row), 0 if self.hessian is None else len(self.hessian.row), 0)
        handle = lib.CreateIpoptProblem(
            problem.variables, _pointer(-wide), _pointer(wide), m, _pointer(lower), _pointer(upper),
            *sizes, *self._keep,
        )  # fmt: skip
        if not handle:
            raise ArgumentError("solver 'ipopt': the problem was refused by IPOPT")
        try:
            self._options(handle, multipliers is not None)
            lib.SetIntermediateCallback(handle, self._intermediate)
            out, rows, cost = np.array(x), np.zeros(m), np.zeros(1)
            duals = np.zeros(m) if multipliers is None else np.array(multipliers)
            zeros = np.zeros(problem.variables), np.zeros(problem.variables)
            before, inside = time.perf_counter(), sum(self.seconds.values())
            code = lib.IpoptSolve(handle, *map(_pointer, (out, rows, cost, duals, *zeros)), None)
            spent = time.perf_counter() - before
            self.seconds["solver"] += spent - (sum(self.seconds.values()) - inside)
        finally:
            lib.FreeIpoptProblem(handle)
        if self.error is not None:
            raise self.error
        return _STATUS.get(code, UNFINISHED), _MESSAGES.get(code, ""), out, duals

    def _options(self, handle: Any, warm: bool) -> None:
        options: dict[str, Any] = {
            "print_level": 0,
            "sb": "yes",
            "tol": 1e-7,
            "constr_viol_tol": 1e-9,
            "bound_relax_factor": 0.0,
            "max_iter": 500,
            "mu_strategy": "adaptive" if not self.task.has_cost else "monotone",
            "linear_solver": "mumps",
            "honor_original_bounds": "no",
            "obj_scaling_factor": cost_scale(self.evaluator.problem),
        }
        if self.hessian is None:
            options["hessian_approximation"] = "limited-memory"
        if warm:
            options.update(
                warm_start_init_point="yes", mu_init=1e-6, warm_start_bound_push=1e-9,
                warm_start_slack_bound_push=1e-9, warm_start_mult_bound_push=1e-9,
                warm_start_slack_bound_frac=1e-9, warm_start_bound_frac=1e-9, mu_strategy="monotone",
            )  # fmt: skip
        for name, value in {**options, **self.task.options}.items():
            kinds = {str: library().AddIpoptStrOption, int: library().AddIpoptIntOption}
            add = kinds.get(type(value), library().AddIpoptNumOption)
            if not add(handle, name.encode(), value.encode() if isinstance(value, str) else value):
                raise ArgumentError(f"solver 'ipopt': option {name!r} = {value!r} was refused by IPOPT")

    # --- callbacks -----------------------------------------------------------------------------------

    def _guarded(self, part: str, function: Callable[..., bool]) -> Callable[..., bool]:
        def call(*args: Any) -> bool:
            begin = time.perf_counter()
            try:
                return function(*args)
            except BaseException as error:  # must not pass through C
                self.error = error
                return False
            finally:
                if part:
                    self.seconds[part] += time.perf_counter() - begin
                    self.counts[part] += 1

        return call

    def _cost(self, n: int, x: Any, new: bool, out: Any, data: Any) -> bool:
        out[0] = self.evaluator.cost(_view(x, n))
        return bool(np.isfinite(out[0]))

    def _gradient(self, n: int, x: Any, new: bool, out: Any, data: Any) -> bool:
        _view(out, n)[:] = cost_gradient(self.evaluator, _view(x, n))
        return bool(np.isfinite(_view(out, n)).all())

    def _rows(self, n: int, x: Any, new: bool, m: int, out: Any, data: Any) -> bool:
        _view(out, m)[:] = self.evaluator.rows(_view(x, n))
        return bool(np.isfinite(_view(out, m)).all())

    def _jacobian(
        self, n: int, x: Any, new: bool, m: int, count: int, row: Any, column: Any, out: Any, data: Any
    ) -> bool:
        if not out:
            np.ctypeslib.as_array(row, (count,))[:] = self.jacobian.row
            np.ctypeslib.as_array(column, (count,))[:] = self.jacobian.column
        else:
            _view(out, count)[:] = self.jacobian.values(_view(x, n))
        return True

    def _hessian(
        self, n: int, x: Any, new: bool, factor: float, m: int, multipliers: Any, new_multipliers: bool,
        count: int, row: Any, column: Any, out: Any, data: Any,
    ) -> bool:  # fmt: skip
        if self.hessian is None:
            return False
        if not out:
            np.ctypeslib.as_array(row, (count,))[:] = self.hessian.row
            np.ctypeslib.as_array(column, (count,))[:] = self.hessian.column
        else:
            _view(out, count)[:] = self.hessian.values(_view(x, n), _view(multipliers, m), factor)
        return True

    def _progress(
        self, mode: int, count: int, cost: float, primal: float, dual: float, mu: float, *more: Any
    ) -> bool:
        self.iterations = count
        if self.task.callback is None:
            return True
        return self.task.callback(Iteration(count, cost, primal, dual, mu)) is not False


def _pointer(array: Array) -> Any:
    return array.ctypes.data_as(_Reals)


def _view(pointer: Any, count: int) -> Array:
    return np.ctypeslib.as_array(pointer, (count,))
