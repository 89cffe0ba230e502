"""How far the paper's polynomials are from the functions that they stand for, along a motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.planning.motion import Motion
from robomorph.planning.paper import PaperEvaluator
from robomorph.planning.plan import Plan
from robomorph.planning.spline import Spline

Array = npt.NDArray[np.float64]
_POINTS = 33  # of every piece


def polynomial_error(motion: Motion, plan: Plan) -> float:
    """The largest difference over all rows of tasks and torques, scaled as violations are."""
    assembled = motion.problem(None, "paper")
    evaluator = PaperEvaluator(assembled.problem, assembled.functions, assembled.pieces)
    sigma = plan.seconds / motion.duration.nominal
    at = evaluator.at(evaluator.variables(plan.control, sigma))
    rows, pieces = evaluator.problem.rows, evaluator.problem.pieces
    if not len(rows.piece):
        return 0.0
    polynomials = evaluator.polynomials(at)[: len(rows.piece)]
    places = np.linspace(-1.0, 1.0, _POINTS)
    found = polynomials @ (places[:, None] ** np.arange(polynomials.shape[1])).T
    times = pieces.start[:, None] + pieces.seconds[:, None] * (1.0 + places) / 2.0
    tables = _values(evaluator, Spline(plan.control, plan.seconds), times * sigma)
    error = np.zeros(len(rows.piece))
    for rate in np.unique(rows.rate):
        own = np.flatnonzero((rows.rate == rate) & (rate < len(tables)))
        true = tables[min(int(rate), len(tables) - 1)][rows.piece[own], :, rows.function[own]]
        error[own] = np.abs(found[own] / sigma**rate - true).max(axis=1) / rows.scale[own]
    return float(error.max())


def _values(evaluator: PaperEvaluator, spline: Spline, t: Array) -> tuple[Array, Array]:
    """(E, points, functions): values, then their speeds (of torques none are asked for)."""
    functions: Any = evaluator.functions
    q, qd = spline(t), spline(t, 1)
    values, gradients = functions.channels(q, evaluator.problem.references)
    speeds = np.einsum("epcj,epj->epc", gradients, qd)
    if evaluator.problem.torque:
        tau = functions.torque(q, qd, spline(t, 2)).tau
        values, speeds = (np.concatenate([x, y], axis=-1) for x, y in ((values, tau), (speeds, 0.0 * tau)))
    return values, speeds
