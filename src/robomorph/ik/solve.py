"""`robot.inverse_kinematics`: from targets to configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.ik.distinct import choose_distinct
from robomorph.ik.explain import explain
from robomorph.ik.options import ALL, IKOptions, read_options
from robomorph.ik.path import follow
from robomorph.ik.plain_call import plain_solve
from robomorph.ik.problem import (
    Problem,
    default_start,
    make_problem,
    read_configuration,
    read_targets,
    read_tolerance,
    solver_for,
)
from robomorph.ik.result import IKResult
from robomorph.ik.solver import Raw, Solver

if TYPE_CHECKING:
    from robomorph.robot import Robot

Array = npt.NDArray[Any]
_MOST_NUMBERS = 2**28  # 2 GB


def inverse_kinematics(
    robot: Robot, target: Any, frame: str | None = None, q0: npt.ArrayLike | None = None, **options: Any
) -> IKResult:
    """Configurations that bring frames of `robot` to targets. The options are those of `IKOptions`."""

    if robot.nv == 0:
        raise ArgumentError(f"robot {robot.name!r}: expected joints that move, found none")

    def make() -> Solver:
        return _prepare(robot, target, frame, read_options(options))[0]

    plain = plain_solve(robot, target, frame, q0, options, make)
    if plain is not None:
        return make_result(*plain)
    asked = read_options(options)
    solver, problem = _prepare(robot, target, frame, asked)
    start = default_start(robot) if q0 is None else read_configuration(robot, "q0", q0)
    wish = None if asked.posture is None else read_configuration(robot, "posture", asked.posture)
    threads = asked.thread_count()
    if asked.path:
        return follow(solver, problem, start, wish, asked.max_step, threads)
    return _solve_batch(solver, problem, start, wish, asked.solutions or 1, threads)


def _prepare(robot: Robot, target: Any, frame: str | None, asked: IKOptions) -> tuple[Solver, Problem]:
    problem = make_problem(read_targets(robot, target, frame), read_tolerance(asked.tolerance))
    return solver_for(robot, problem.layout, problem.rows, asked.resolve()), problem


def _solve_batch(
    solver: Solver, problem: Problem, start: Array, posture: Array | None, solutions: int, threads: int
) -> IKResult:
    arrays = {"target": problem.numbers, "q0": start}
    if posture is not None:
        arrays["posture"] = posture
    try:
        lead = np.broadcast_shapes(*(a.shape[:-1] for a in arrays.values()))
    except ValueError:
        found = ", ".join(f"{name} {a.shape[:-1]}" for name, a in arrays.items())
        raise ArgumentError(f"batch dimensions do not broadcast together: {found}") from None
    numbers, start = _flat(problem.numbers, lead), _flat(start, lead)
    posture = start if posture is None else _flat(posture, lead)
    _check_size(solver, len(numbers))
    raw = solver.solve(numbers, start, posture, threads)
    if solver.options.choice == ALL:
        raw = choose_distinct(solver.robot, raw, posture, solutions)
        lead = (*lead, solutions)
        numbers = np.repeat(numbers, solutions, axis=0)
    return make_result(solver, raw, numbers, lead)


def _check_size(solver: Solver, problems: int) -> None:
    """Several solutions need the answers of all starts at once: refuse what memory will not hold."""
    starts = solver.options.starts
    if solver.options.choice == ALL and problems * starts * solver.robot.nq > _MOST_NUMBERS:
        raise ArgumentError(
            f"solutions: {problems} problems with {starts} starts each have too many answers to choose from: "
            "lower `starts`, or split the batch"
        )


def _flat(array: Array, lead: tuple[int, ...]) -> Array:
    whole = array if array.shape[:-1] == lead else np.broadcast_to(array, (*lead, array.shape[-1]))
    return np.ascontiguousarray(whole.reshape(-1, whole.shape[-1]))


def make_result(
    solver: Solver, raw: Raw, numbers: Array, lead: tuple[int, ...], notes: Array | None = None
) -> IKResult:
    """The result in the caller's shape; `notes` (n,) are reasons that are known already, else None."""
    fields = (raw.success, raw.position_error, raw.rotation_error, raw.iterations, raw.starts)
    q = raw.q.reshape(*lead, raw.q.shape[-1])
    shaped = tuple(field.reshape(lead) for field in fields)

    def reasons(result: IKResult) -> Array:
        return explain(solver, result, numbers, notes).reshape(lead)

    return IKResult((q, *shaped), (solver.lower, solver.upper), reasons)  # type: ignore[arg-type]
