"""What the clamped ends alone decide: rows that no variable can change, judged before anything is solved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from robomorph.planning.pieces import Piece, cut, same_time, within
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
_FINER = (2, 4, 8, 16, 32, 64)  # pieces of an interval


def broken_ends(motion: Motion, assembled: Assembled) -> list[Margin]:
    """Every constraint that an end state breaks, however the motion goes on between them; the worst first."""
    spline = Spline(assembled.problem.control, motion.duration.nominal)
    sampler = Sampler(motion.robot, motion.requirements)
    found: list[Margin] = []
    for i, requirement in enumerate(motion.requirements):
        for t in _settled_times(motion, requirement):
            values = sampler.values(i, spline, np.array([t]))
            found.append(worst_margin(requirement, np.array([t]), values))
    return _worst_first(found)


def coarse_ends(motion: Motion, assembled: Assembled) -> tuple[list[Margin], int | None]:
    """Every limit of joints that pieces as long as they are cannot show to hold beside an end that moves, and
    how many pieces of an interval would do; None if not even many: the ends lead the spline beyond."""
    if assembled.method != "bernstein":
        return [], None
    found = _unshown(motion, assembled, assembled.pieces)
    if not found:
        return [], None
    edges = {t / motion.knot for r in motion.requirements for t in r.window}
    for refine in _FINER:
        if refine > motion.refine and not _unshown(motion, assembled, cut(motion.intervals, refine, edges)):
            return found, refine
    return found, None


def _unshown(motion: Motion, assembled: Assembled, pieces: list[Piece]) -> list[Margin]:
    fixed, control = assembled.problem.block_of < 0, assembled.problem.control
    asked = [r for r in motion.requirements if isinstance(r, OfJoints)]
    return _worst_first([m for r in asked for m in _settled_rows(motion, r, pieces, fixed, control)])


def _worst_first(found: list[Margin]) -> list[Margin]:
    """Those that are broken, one of each constraint and row."""
    bad = [margin for margin in found if margin.scaled < -_SLACK]
    return list({(m.name, m.row): m for m in sorted(bad, key=lambda m: -m.scaled)}.values())[::-1]


def _settled_times(motion: Motion, requirement: Requirement) -> Iterator[float]:
    """Ends with a given state that lie in the window. A state has no jerk: that is free."""
    if requirement.rate > 2:
        return
    begin, end = (t / motion.knot for t in requirement.window)
    if motion.start is not None and same_time(begin, 0.0):
        yield 0.0
    if motion.end is not None and same_time(end, motion.intervals):
        yield motion.duration.nominal


def _settled_rows(
    motion: Motion, requirement: OfJoints, pieces: list[Piece], fixed: Bools, control: Array
) -> Iterator[Margin]:
    """Bernstein coefficients of the first and last pieces that only fixed control points decide: what they
    break need not be broken, but no control point can show that it holds."""
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
