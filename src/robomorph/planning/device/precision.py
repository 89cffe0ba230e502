"""Plans from functions in single precision: how far rows may be off, and what is true of the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from robomorph.errors import ArgumentError
from robomorph.planning.device.nodes import DeviceNodes
from robomorph.planning.evaluate import Evaluator
from robomorph.planning.problem import Array, Problem
from robomorph.planning.solvers.outcome import SOLVED, UNFINISHED, Outcome

_DEVIATIONS = 4.0
_SHAKE = 0.3  # rad or m
_BROKEN = 1e-6  # scaled: what counts as a violation of the answer
_MOST = 0.05  # noise of a row, scaled, with which a search still makes sense
_TOLERANCE = 1e-7, 1e-8  # of the solver in float64: optimality, violation


def row_noise(nodes: DeviceNodes, evaluator: Evaluator, x: Array) -> Array:
    """(R,) by how much the rows of every entry of `Rows` may differ from those in float64, scaled: so many
    standard deviations, from the functions' values in both precisions near x. Near, as a motion that rests
    has the same error at all nodes."""
    problem = evaluator.problem
    shake = np.random.default_rng(0).normal(0.0, _SHAKE, len(x) - (problem.duration is not None))
    at = evaluator.at(x + np.resize(np.append(shake, 0.0), len(x)))
    nodes.control[:], nodes.sigma[0] = at.control, at.sigma
    if not nodes.run("values") and nodes.error is not None:
        raise nodes.error
    errors = []
    if problem.channels:
        errors.append(_error(nodes.tables["values"], at.channels[0]))
    if problem.torque:
        errors.append(_error(nodes.tables["torques"], at.torque.tau))
    error, rows = np.concatenate([*errors, np.zeros(0)]), problem.rows
    gain = np.array([np.sqrt((m * m).sum(axis=-1)).max(initial=0.0) for m in problem.matrices])
    return np.asarray(gain[rows.matrix] * error[rows.function] / (rows.scale * at.sigma**rows.rate))


def _error(found: Any, exact: Array) -> Array:
    """(functions,) of values (..., functions)."""
    exact = exact.reshape(found.shape)
    usual = np.sqrt(((found.astype(np.float64) - exact) ** 2).mean(axis=0))
    return np.asarray(_DEVIATIONS * usual)


def must_see(noise: Array, problem: Problem) -> None:
    """Refuse a problem whose rows float32 cannot tell from their bounds."""
    if not len(noise) or noise.max() <= _MOST:
        return
    entry = int(noise.argmax())
    function, rate = int(problem.rows.function[entry]), int(problem.rows.rate[entry])
    task = function < problem.channels
    what = f"{('value', 'speed', 'acceleration')[rate]} of a task" if task else "torque"
    when = float(problem.pieces.start[problem.rows.piece[entry]])
    raise ArgumentError(
        f"dtype: float32 knows a row ({what}) at t = {when:.4g} s to {noise[entry]:.2g} of its scale only "
        f"(expected {_MOST:g}): use dtype='float64', or longer intervals"
    )


def single_options(noise: Array) -> dict[str, float]:
    """The solver cannot see below the noise: it is content there."""
    worst = float(noise.max(initial=0.0))
    return {"tolerance": max(_TOLERANCE[0], worst), "feasibility": max(_TOLERANCE[1], worst)}


def on_device(outcome: Outcome, nodes: DeviceNodes, evaluator: Evaluator, noise: Array) -> Outcome:
    """An outcome with what the device did. In float32 it counts only as far as float64 agrees."""
    use = replace(nodes.use(), noise=float(noise.max(initial=0.0)))
    if nodes.dtype == "float64":
        return replace(outcome, device=use)
    beyond = violation(evaluator, outcome.x)
    use = replace(use, violation=beyond)
    if outcome.status != SOLVED or beyond <= _BROKEN:
        return replace(outcome, device=use)
    message = "the motion found in float32 does not hold in float64: use dtype='float64'"
    return replace(outcome, device=use, status=UNFINISHED, message=message)


def violation(evaluator: Evaluator, x: Array) -> float:
    """The largest of a row in float64, scaled, of bounds drawn in by margins as far as they leave room."""
    rows = evaluator.rows(x)
    plain, drawn = evaluator.bounds(), evaluator.bounds(evaluator.margins(x))
    room = np.nan_to_num((plain[1] - plain[0]) / 8.0, posinf=1e300)
    lower, upper = np.minimum(drawn[0], plain[0] + room), np.maximum(drawn[1], plain[1] - room)
    return float(np.maximum(lower - rows, rows - upper).max(initial=0.0))
