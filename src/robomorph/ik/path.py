"""Following a path: each pose starts from the solution of the one before, and may not jump."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.ik.solver import Raw, Solver

if TYPE_CHECKING:
    from robomorph.ik.problem import Problem
    from robomorph.ik.result import IKResult

Array = npt.NDArray[Any]
# A joint that moves more than this between two poses (rad, m) has jumped, unless the caller says otherwise.
DEFAULT_STEP = 0.5


def follow(
    solver: Solver,
    problem: Problem,
    start: Array,
    posture: Array | None,
    max_step: float | None,
    threads: int,
) -> IKResult:
    """Solve poses (..., t, n) in their order along the last batch dimension. Without a posture each solution
    stays as near as it can to the one before. A pose whose solution would jump fails, and the path goes on
    from what was reached before."""
    from robomorph.ik.solve import make_result

    if problem.numbers.ndim < 2:
        raise ArgumentError("target: a path needs poses along a batch dimension, found a single target")
    largest = DEFAULT_STEP if max_step is None else float(max_step)
    if not largest > 0.0:
        raise ArgumentError(f"max_step: expected a positive number, found {max_step!r}")
    *lead, steps, size = problem.numbers.shape
    numbers = np.ascontiguousarray(problem.numbers.reshape(-1, steps, size))
    count, nq = len(numbers), start.shape[-1]
    q = np.ascontiguousarray(np.broadcast_to(start, (*lead, nq)).reshape(count, nq))
    wish = (
        None
        if posture is None
        else np.ascontiguousarray(np.broadcast_to(posture, (*lead, nq)).reshape(count, nq))
    )
    out = _empty(count, steps, nq)
    for t in range(steps):
        raw = solver.solve(np.ascontiguousarray(numbers[:, t]), q, q if wish is None else wish, threads)
        success = raw.success
        if t > 0:
            jumped = np.abs(solver.robot.difference(q, raw.q)).max(axis=-1) > largest
            success = success & ~jumped
        q = np.ascontiguousarray(np.where(success[:, None], raw.q, q)) if t > 0 else raw.q
        _store(out, t, raw, q, success)
    flat = Raw(*(field.reshape(count * steps, *field.shape[2:]) for field in out))
    return make_result(solver, flat, numbers.reshape(-1, size), (*lead, steps))


def _empty(count: int, steps: int, nq: int) -> tuple[Array, ...]:
    shape = (count, steps)
    return (
        np.empty((*shape, nq)),
        np.empty(shape, bool),
        np.empty(shape),
        np.empty(shape),
        np.empty(shape, np.int32),
        np.empty(shape, np.int32),
    )


def _store(out: tuple[Array, ...], t: int, raw: Raw, q: Array, success: Array) -> None:
    fields = (q, success, raw.position_error, raw.rotation_error, raw.iterations, raw.starts)
    for array, field in zip(out, fields, strict=True):
        array[:, t] = field
