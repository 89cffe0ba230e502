"""What the clamped ends alone decide: rows that no variable can change, judged before anything is solved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from robomorph.planning.pieces import Piece, same_time, within
from robomorph.planning.plan import Margin, worst_margin
from robomorph.planning.problem import Array, Bools
from robomorph.planning.requirements import OfJoints, Requirement
from robomorph.planning.rows import spline_rows_over
from robomorph.planning.sampling import Sampler
from robomorph.planning.spline import WIDTH, Spline

if TYPE_CHECKING:
    from robomorph.planning.assemble import Assembled
    from robomorph.planning.motion import Motion

_SLACK = 1e-9  # scaled: rounding


def broken_ends(motion: Motion, assembled: Assembled) -> list[Margin]:
    """Every constraint that an end state breaks, however the motion goes on between them; the worst first."""
    problem = assembled.problem
    fixed = problem.block_of < 0
    spline = Spline(problem.control, motion.duration.nominal)
    sampler = Sampler(motion.robot, motion.requirements)
    found: list[Margin] = []
    for i, requirement in enumerate(motion.requirements):
        for t in _settled_times(motion, requirement):
            values = sampler.values(i, spline, np.array([t]))
            found.append(worst_margin(requirement, np.array([t]), values))
        if isinstance(requirement, OfJoints):
            found += _settled_rows(motion, requirement, assembled.pieces, fixed, problem.control)
    bad = [margin for margin in found if margin.scaled < -_SLACK]
    return list({(m.name, m.row): m for m in sorted(bad, key=lambda m: -m.scaled)}.values())[::-1]


def _settled_times(motion: Motion, requirement: Requirement) -> Iterator[float]:
    """Ends with a given state that lie in the window."""
    begin, end = (t / motion.knot for t in requirement.window)
    if motion.start is not None and same_time(begin, 0.0):
        yield 0.0
    if motion.end is not None and same_time(end, motion.intervals):
        yield motion.duration.nominal


def _settled_rows(
    motion: Motion, requirement: OfJoints, pieces: list[Piece], fixed: Bools, control: Array
) -> Iterator[Margin]:
    """Bernstein coefficients of the first and last pieces that only fixed control points decide: what they
    break is not certain to be broken, but cannot be shown to hold."""
    begin, end = (t / motion.knot for t in requirement.window)
    for piece in pieces:
        if not within(piece, begin, end) or requirement.instant:
            continue
        own = slice(piece.interval, piece.interval + WIDTH)
        rows = spline_rows_over(piece, requirement.rate, motion.knot, None)
        settled = (rows[:, ~fixed[own]] == 0.0).all(axis=1)
        if settled.any():
            values = rows[settled] @ control[own][:, list(requirement.joints)]
            first, last = piece.times(motion.knot)
            times = np.linspace(first, last, len(rows))[settled]
            yield worst_margin(requirement, times, values)
