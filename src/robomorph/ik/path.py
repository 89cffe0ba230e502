"""Following a path: each pose starts from the solution of the one before, and may not jump."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.configuration import difference
from robomorph.errors import ArgumentError
from robomorph.ik.solver import Raw, Solver
from robomorph.runtime.arguments import as_array

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
    stays as near as it can to the one before. A pose whose solution would jump fails; after any failure the
    path goes on from the last pose that was reached."""
    from robomorph.ik.solve import make_result

    if problem.numbers.ndim < 2:
        raise ArgumentError("target: a path needs poses along a batch dimension, found a single target")
    largest = _read_step(max_step)
    *lead, steps, size = problem.numbers.shape
    count = math.prod(lead)
    numbers = np.ascontiguousarray(problem.numbers.reshape(count, steps, size))
    q = _each_path("q0", start, lead)
    wish = None if posture is None else _each_path("posture", posture, lead)
    out = _empty(count, steps, q.shape[-1])
    notes = np.full((count, steps), None, object)
    under_way = np.zeros(count, bool)
    for t in range(steps):
        now = np.ascontiguousarray(numbers[:, t])
        raw = solver.solve(now, q, q if wish is None else wish, threads)
        raw, notes[:, t] = _refuse_jumps(solver, now, q, raw, np.where(under_way, largest, np.inf))
        under_way |= raw.success
        q = np.ascontiguousarray(np.where(raw.success[:, None], raw.q, q))
        for array, field in zip(out, raw, strict=True):
            array[:, t] = field
    flat = Raw(*(field.reshape(count * steps, *field.shape[2:]) for field in out))
    return make_result(
        solver, flat, numbers.reshape(count * steps, size), (*lead, steps), notes.reshape(count * steps)
    )


def _read_step(max_step: Any) -> float:
    try:
        step = DEFAULT_STEP if max_step is None else float(as_array("max_step", max_step))
    except (ArgumentError, TypeError):
        step = math.nan
    if not step > 0.0:
        raise ArgumentError(f"max_step: expected a positive number (rad, m), found {max_step!r}")
    return step


def _each_path(name: str, value: Array, lead: list[int]) -> Array:
    """(paths, nq) from one configuration for all paths, or one for each."""
    nq = value.shape[-1]
    try:
        each = np.broadcast_to(value, (*lead, nq))
    except ValueError:
        raise ArgumentError(
            f"{name}: expected one configuration ({nq},) or one for each path {(*lead, nq)}, "
            f"found {value.shape}"
        ) from None
    return np.ascontiguousarray(each.reshape(math.prod(lead), nq))


def _refuse_jumps(solver: Solver, numbers: Array, q: Array, raw: Raw, largest: Array) -> tuple[Raw, Array]:
    """The same answers, but with `q` and its errors where a solution is farther from it than `largest` (n,),
    and a note there."""
    steps = np.abs(difference(solver.robot.model, q, raw.q)).max(axis=-1, initial=0.0)
    notes = np.full(len(q), None, object)
    far = np.flatnonzero(raw.success & (steps > largest))
    if not len(far):
        return raw, notes
    kept = np.ascontiguousarray(q[far])
    stay = solver.evaluate(np.ascontiguousarray(numbers[far]), kept)
    position, rotation = raw.position_error.copy(), raw.rotation_error.copy()
    answer, success = raw.q.copy(), raw.success.copy()
    position[far], rotation[far] = stay.position_error, stay.rotation_error
    answer[far], success[far] = kept, False
    for i in far:
        notes[i] = (
            f"would jump: in the solution found a joint moves by {steps[i]:.3g} between poses, "
            f"max_step is {largest[i]:.3g}"
        )
    return Raw(answer, success, position, rotation, raw.iterations, raw.starts), notes


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
