"""Why a search failed, in words: out of reach, blocked by limits, or not found."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.ik.coordinates import coordinate_names
from robomorph.ik.layout import AXIS, ORIENTATION, POSITION
from robomorph.ik.reach import frame_reach
from robomorph.ik.solver import Raw, Solver
from robomorph.model.joints import JOINT_TYPES

if TYPE_CHECKING:
    from robomorph.ik.result import IKResult

Array = npt.NDArray[Any]


def explain(solver: Solver, result: IKResult, numbers: Array, notes: Array | None = None) -> Array:
    """One text a problem (n,). Failures without a note are solved once more without limits, to tell what
    blocks them."""
    success = np.asarray(result.success).reshape(-1)
    texts = np.full(success.shape, "converged", object)
    failed = np.flatnonzero(~success)
    if not len(failed):
        return texts
    q = result.q.reshape(len(success), -1)
    free = _without_limits(solver, numbers[failed], q[failed])
    for k, i in enumerate(failed):
        beyond = _out_of_reach(solver, numbers[i])
        blocked = free is not None and bool(free.success[k])
        cause = beyond or (
            _blocked(solver, free.q[k]) if blocked and free is not None else "no solution found"
        )
        if notes is not None and notes[i] is not None:
            cause = notes[i]
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
    )
    free = Solver(solver.robot, solver.layout, solver.rows, options)
    middle = np.ascontiguousarray(np.clip(q, solver.lower, solver.upper))
    return free.solve(np.ascontiguousarray(numbers), middle, middle)


def _out_of_reach(solver: Solver, numbers: Array) -> str | None:
    """Positions outside the ball that the lengths of the links allow: a proof, not a failure to find."""
    tree = solver.robot.specialiser.tree(regroup=False)
    for block, start in zip(solver.layout.blocks, solver.layout.starts, strict=True):
        rows = slice(start.rows, start.rows + block.size.rows)
        if block.kind != POSITION or block.frame is None or 0.0 in solver.rows.weights[rows]:
            continue
        ball = frame_reach(tree, block.frame, _travel(solver))
        if ball is None:
            continue
        centre, radius = ball
        distance = math.dist(numbers[start.target : start.target + 3], centre)  # never overflows
        if distance > radius * (1.0 + 1e-9) + _slack(solver, rows):
            return (
                f"out of reach: the target of {block.frame!r} is {distance:.6g} m from the first joint, "
                f"{distance - radius:.6g} m beyond the {radius:.6g} m that the links can span"
            )
    return None


def _slack(solver: Solver, rows: slice) -> float:
    """The longest error (m) that the tolerances of these rows allow: rows of one group share a bound."""
    groups = zip(solver.rows.group[rows], solver.rows.inverse_tolerance[rows], strict=True)
    return math.hypot(*(1.0 / inverse for inverse in dict(groups).values()))


def _travel(solver: Solver) -> list[float]:
    """Per body, the farthest that its joint can slide."""
    robot = solver.robot
    out = []
    for body in robot.model.bodies:
        kind = JOINT_TYPES[body.kind]
        if kind.nq > 1:
            out.append(float("inf"))
        elif any(kind.subspace[0].ang):
            out.append(0.0)
        elif not solver.options.limits or body.mimic is not None or body.joint_name in solver.options.fixed:
            out.append(float("inf"))
        else:
            out.append(max(abs(body.limits.lower), abs(body.limits.upper)))
    return out


def _blocked(solver: Solver, q: Array) -> str:
    """The joints that a solution without limits takes beyond theirs."""
    over = np.maximum(solver.lower - q, q - solver.upper)
    names = coordinate_names(solver.robot)
    worst = [i for i in np.argsort(-over) if over[i] > 0.0][:4]
    joints = ", ".join(f"{names[i]} by {over[i]:.3g}" for i in worst)
    if not joints:  # a search without limits takes other ways: this one happened to stay inside
        return "no solution found by this search, though one exists inside the limits: allow more starts"
    return f"blocked by joint limits: a solution without them exceeds {joints}"


def _best(solver: Solver, result: IKResult, i: int) -> str:
    """How close it got, which limits were active there, and how many starts were tried."""
    kinds = {block.kind for block in solver.layout.blocks}
    position = float(result.position_error.reshape(-1)[i])
    rotation = float(result.rotation_error.reshape(-1)[i])
    errors = [f"{position:.3g} m"] if kinds - {ORIENTATION, AXIS} else []
    errors += [f"{rotation:.3g} rad"] if kinds & {ORIENTATION, AXIS} else []
    names = coordinate_names(solver.robot)
    active = result.active_limits.reshape(-1, len(names))[i]
    at = [f"{names[k]} ({'upper' if active[k] > 0 else 'lower'})" for k in np.flatnonzero(active)]
    starts = int(result.starts.reshape(-1)[i])
    plural = "start" if starts == 1 else "starts"
    return (
        f"best of {starts} {plural} misses by {' and '.join(errors)}; "
        f"active limits: {', '.join(at) if at else 'none'}"
    )
