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
    notes = np.full((count, steps), None, object)
    for t in range(steps):
        now = np.ascontiguousarray(numbers[:, t])
        raw = solver.solve(now, q, q if wish is None else wish, threads)
        if t > 0:
            raw, jumps = _refuse_jumps(solver, now, q, raw, largest)
            notes[:, t] = jumps
        q = raw.q
        fields = (raw.q, raw.success, raw.position_error, raw.rotation_error, raw.iterations, raw.starts)
        for array, field in zip(out, fields, strict=True):
            array[:, t] = field
    flat = Raw(*(field.reshape(count * steps, *field.shape[2:]) for field in out))
    return make_result(solver, flat, numbers.reshape(-1, size), (*lead, steps), notes.reshape(-1))


def _refuse_jumps(solver: Solver, numbers: Array, q: Array, raw: Raw, largest: float) -> tuple[Raw, Array]:
    """The same answers, but with `q` and its errors where the answer is too far from it, and a note there."""
    steps = np.abs(solver.robot.difference(q, raw.q)).max(axis=-1)
    notes = np.full(len(q), None, object)
    far = np.flatnonzero(steps > largest)
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
            f"would jump: a joint would move by {steps[i]:.3g} between poses, max_step is {largest:.3g}"
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
