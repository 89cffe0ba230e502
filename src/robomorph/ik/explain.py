"""Why a search failed, in words: out of reach, not found inside the limits, or not found at all."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.configuration import coordinates
from robomorph.ik.coordinates import coordinate_names
from robomorph.ik.devices import CPU
from robomorph.ik.result import AT_LIMIT, IKResult
from robomorph.ik.solver import Raw, Solver
from robomorph.model.joints import JOINT_TYPES
from robomorph.tasks.reach import joint_travel

Array = npt.NDArray[Any]
_INSIDE = (
    "no solution found by this search, though one exists inside the limits: allow more starts or iterations"
)


def explain(solver: Solver, result: IKResult, numbers: Array, notes: Array | None = None) -> Array:
    """One text a problem (n,). Failures without a note are solved once more without limits, to tell what
    keeps a solution away."""
    success = np.asarray(result.success).reshape(-1)
    texts = np.full(success.shape, "converged", object)
    failed = np.flatnonzero(~success)
    if not len(failed):
        return texts
    q = result.q.reshape(len(success), -1)
    unlimited = _found_without_limits(solver, numbers[failed], q[failed])
    for i, other in zip(failed, unlimited, strict=True):
        note = None if notes is None else notes[i]
        cause = note or _out_of_reach(solver, numbers[i]) or other or "no solution found"
        texts[i] = f"{cause}; {_best(solver, result, int(i))}"
    return texts


def _without_limits(solver: Solver, numbers: Array, q: Array) -> Raw | None:
    limited = np.isfinite(solver.lower).any() or np.isfinite(solver.upper).any()
    if not limited or not solver.options.rule.restarts:
        return None
    options = replace(
        solver.options,
        limits=False,
        choice=1,
        polish=True,
        starts=min(solver.options.starts, 16) + 8,
        candidates=8,
        on=CPU,
    )
    free = Solver(solver.robot, solver.layout, solver.rows, options)
    middle = np.ascontiguousarray(np.clip(q, solver.lower, solver.upper))
    return free.solve(np.ascontiguousarray(numbers), middle, middle)


def _found_without_limits(solver: Solver, numbers: Array, q: Array) -> list[str | None]:
    """What a search without limits tells of each problem (n,); None where it found nothing either."""
    free = _without_limits(solver, numbers, q)
    if free is None:
        return [None] * len(numbers)
    found = _turned_inside(solver, free.q)
    clipped = np.ascontiguousarray(np.clip(found, solver.lower, solver.upper))
    inside = solver.evaluate(np.ascontiguousarray(numbers), clipped).success
    return [
        (_INSIDE if inside[k] else _exceeded(solver, found[k])) if free.success[k] else None
        for k in range(len(numbers))
    ]


def _turned_inside(solver: Solver, q: Array) -> Array:
    """The same poses (n, nq): joints that are back after a turn go inside their limits if turns can do it."""
    q, turn = q.copy(), 2 * math.pi
    for joint in solver.joints:
        if joint.wraps:
            lower, upper, x = solver.lower[joint.q], solver.upper[joint.q], q[:, joint.q]
            up = turn * np.ceil((lower - x) / turn) if np.isfinite(lower) else np.zeros_like(x)
            down = turn * np.ceil((x - upper) / turn) if np.isfinite(upper) else np.zeros_like(x)
            moved = np.where(x < lower, x + up, np.where(x > upper, x - down, x))
            fits = (moved >= lower) & (moved <= upper)
            q[:, joint.q] = np.where(fits, moved, x)
    return q


def _out_of_reach(solver: Solver, numbers: Array) -> str | None:
    """A proof that a reference cannot be met, if a task has one; of tasks that are asked for in all rows."""
    tree, travel = solver.robot.specialiser.tree(regroup=False), _travel(solver)
    for task, start in zip(solver.layout.tasks, solver.layout.starts, strict=True):
        rows = slice(start.rows, start.rows + task.size.rows)
        if 0.0 in solver.rows.weights[rows]:
            continue
        own = numbers[start.reference : start.reference + task.size.reference]
        proof = task.out_of_reach(tree, own, travel, _slack(solver, rows))
        if proof is not None:
            return proof
    return None


def _slack(solver: Solver, rows: slice) -> float:
    """The longest error that the tolerances of these rows allow: rows of one group share a bound."""
    groups = zip(solver.rows.group[rows], solver.rows.inverse_tolerance[rows], strict=True)
    return math.hypot(*(1.0 / inverse for inverse in dict(groups).values()))


def _travel(solver: Solver) -> list[float]:
    """Per body, the farthest that its joint can slide."""
    out = []
    for body in solver.robot.model.bodies:
        free = not solver.options.limits or body.mimic is not None or body.joint_name in solver.options.fixed
        lower, upper = (-math.inf, math.inf) if free else (body.limits.lower, body.limits.upper)
        out.append(joint_travel(JOINT_TYPES[body.kind], lower, upper))
    return out


def _exceeded(solver: Solver, q: Array) -> str | None:
    """The joints that a solution `q` (nq,) without limits takes beyond theirs; None if none by more than
    rounding."""
    robot, worst = solver.robot, []
    beyond = np.maximum(solver.lower - q, q - solver.upper) > AT_LIMIT
    for body in robot.model.bodies:
        place = coordinates(robot.model, body.joint_name)[0].start
        if not beyond[place]:
            continue
        _, scale, offset = body.mimic or (0, 1.0, 0.0)
        value = scale * q[place] + offset
        worst.append((max(body.limits.lower - value, value - body.limits.upper), body.joint_name))
    worst = sorted((over, name) for over, name in worst if over > AT_LIMIT)[:-5:-1]
    if not worst:
        return None
    joints = ", ".join(f"{name} by {over:.3g}" for over, name in worst)
    return f"none found inside the limits; without them a solution would exceed {joints}"


def _best(solver: Solver, result: IKResult, i: int) -> str:
    """How close it got, which limits were active there, and how many starts were tried."""
    position = float(result.position_error.reshape(-1)[i])
    rotation = float(result.rotation_error.reshape(-1)[i])
    errors = []
    for turning, error in ((False, position), (True, rotation)):
        units = dict.fromkeys(task.unit for task in solver.layout.tasks if task.kind.turning == turning)
        errors += [f"{error:.3g} {' or '.join(units)}"] if units else []
    names = coordinate_names(solver.robot)
    active = result.active_limits.reshape(-1, len(names))[i]
    at = [f"{names[k]} ({'upper' if active[k] > 0 else 'lower'})" for k in np.flatnonzero(active)]
    starts = int(result.starts.reshape(-1)[i])
    plural = "start" if starts == 1 else "starts"
    return (
        f"best of {starts} {plural} misses by {' and '.join(errors)}; "
        f"active limits: {', '.join(at) if at else 'none'}"
    )
