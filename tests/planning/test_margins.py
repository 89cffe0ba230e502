"""Margins cover what an interpolant misses; rows within them hold the motion at every instant."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.planning import nodes
from robomorph.planning.sampling import Sampler
from robomorph.planning.spline import Spline
from tests.planning.motions import everything

Array = npt.NDArray[Any]
POINTS = np.linspace(-0.99, 0.99, 41)


def test_margins_cover_what_the_polynomial_misses() -> None:
    """Random motions: the polynomial through the nodes against the kernel in between."""
    motion = everything()
    assembled = motion.problem(None)
    evaluator, problem = assembled.evaluator, assembled.problem
    sampler = Sampler(motion.robot, motion.requirements)
    rng, ratios = np.random.default_rng(2), []
    for size in (0.1, 0.3, 1.0):
        x = evaluator.variables(problem.control + size * rng.normal(size=problem.control.shape))
        spline, at = Spline(evaluator.control(x), problem.seconds), evaluator.at(x)
        values = np.concatenate([at.channels[0], at.torque.tau], axis=-1)
        margins = evaluator.margins(x)
        for entry in range(0, len(problem.rows.piece), 2):
            if not len(problem.coarse[problem.rows.matrix[entry]]):
                assert margins[entry] == 0.0  # an instant is a node
                continue
            e, rate = int(problem.rows.piece[entry]), int(problem.rows.rate[entry])
            seconds, function = problem.pieces.seconds[e], int(problem.rows.function[entry])
            matrix = nodes.at_points(7, tuple(POINTS), rate) * (2.0 / seconds) ** rate
            t = problem.pieces.start[e] + seconds * (1.0 + POINTS) / 2.0
            source = int(problem.rows.source[entry])
            wanted = _column(assembled, sampler, source, function, spline, t)
            error = np.abs(matrix @ values[e, :, function] - wanted).max()
            rounding = (
                1e-14 * np.abs(matrix).sum(axis=1).max() * max(1.0, np.abs(values[e, :, function]).max())
            )
            assert error <= margins[entry] + rounding
            if error > 100 * rounding:
                ratios.append(margins[entry] / error)
    assert len(ratios) > 50 and np.median(ratios) < 10.0  # not much is given away


def test_rows_hold_the_values_between_them() -> None:
    """What a kernel finds anywhere in a piece lies between its least and largest row, give or take the
    margin."""
    motion = everything()
    assembled = motion.problem(None)
    evaluator, problem = assembled.evaluator, assembled.problem
    sampler = Sampler(motion.robot, motion.requirements)
    rng, checked = np.random.default_rng(2), 0
    x = evaluator.variables(problem.control + 0.3 * rng.normal(size=problem.control.shape))
    spline = Spline(evaluator.control(x), problem.seconds)
    rows, margins = evaluator.rows(x), evaluator.margins(x)
    for entry in range(len(problem.rows.piece)):
        matrix = problem.matrices[problem.rows.matrix[entry]]
        if len(matrix) < 5:
            continue
        e, source = int(problem.rows.piece[entry]), int(problem.rows.source[entry])
        t = problem.pieces.start[e] + problem.pieces.seconds[e] * (1.0 + POINTS) / 2.0
        values = _column(assembled, sampler, source, int(problem.rows.function[entry]), spline, t)
        own = rows[evaluator.first_row[entry] :][: len(matrix)] * problem.rows.scale[entry]
        ends = values[[0, -1]]  # rows that are held by a neighbour, or by the ends
        low, high = min(own.min(), *ends), max(own.max(), *ends)
        assert (values >= low - margins[entry] - 1e-9).all()
        assert (values <= high + margins[entry] + 1e-9).all()
        checked += 1
    assert checked > 100


def _column(assembled: Any, sampler: Sampler, source: int, function: int, spline: Spline, t: Array) -> Array:
    """What one function does at times t, as its rows have it (references are in the bounds)."""
    problem, requirement = assembled.problem, assembled.requirements[source]
    values = sampler.values(source, spline, t)
    if function >= problem.channels:
        return np.asarray(values[:, requirement.joints.index(function - problem.channels)])
    places = [assembled.channels.place(source, k) for k in range(len(requirement.lower))]
    k = [channel for channel, _ in places].index(function)
    return np.asarray(values[:, k] + (places[k][1] if requirement.rate == 0 else 0.0))
