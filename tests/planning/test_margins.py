"""Margins cover what an interpolant misses; rows within them hold the motion at every instant."""

from __future__ import annotations

import numpy as np

from robomorph.planning.sampling import Sampler
from robomorph.planning.spline import Spline
from tests.planning.motions import everything


def test_margins_cover_the_error_of_rows() -> None:
    """Random motions: what a kernel finds anywhere in a piece lies between the least and the largest row of
    the piece, plus and minus its margin."""
    motion = everything()
    assembled = motion.problem(None)
    evaluator, problem = assembled.evaluator, assembled.problem
    sampler = Sampler(motion.robot, motion.requirements)
    rng, checked = np.random.default_rng(2), 0
    for _ in range(3):
        noise = 0.3 * rng.normal(size=problem.control.shape)
        x = evaluator.variables(problem.control + noise)
        spline = Spline(evaluator.control(x), problem.seconds)
        rows, margins = evaluator.rows(x), evaluator.margins(x)
        for entry in range(0, len(problem.rows.piece), 3):
            matrix = problem.matrices[problem.rows.matrix[entry]]
            if len(matrix) < 5:
                continue
            e, source = problem.rows.piece[entry], int(problem.rows.source[entry])
            first, last = 0.02, 0.98  # rows of neighbours stand in for the ends
            t = problem.pieces.start[e] + problem.pieces.seconds[e] * np.linspace(first, last, 30)
            values = _column(assembled, sampler, source, int(problem.rows.function[entry]), spline, t)
            own = rows[evaluator.first_row[entry] :][: len(matrix)] * problem.rows.scale[entry]
            ends = values[[0, -1]]  # what the dropped first and last rows would hold
            low, high = min(own.min(), *ends), max(own.max(), *ends)
            assert (values >= low - margins[entry] - 1e-12).all()
            assert (values <= high + margins[entry] + 1e-12).all()
            checked += 1
    assert checked > 100


def _column(assembled, sampler, source, function, spline, t):  # type: ignore[no-untyped-def]
    """What one function does at times t, as its rows have it (references are in the bounds)."""
    problem, requirement = assembled.problem, assembled.requirements[source]
    values = sampler.values(source, spline, t)
    if function >= problem.channels:
        return values[:, requirement.joints.index(function - problem.channels)]
    places = [assembled.channels.place(source, k) for k in range(len(requirement.lower))]
    k = [channel for channel, _ in places].index(function)
    return values[:, k] + (places[k][1] if requirement.rate == 0 else 0.0)
