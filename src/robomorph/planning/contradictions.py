"""Windows that contradict each other: found by their bounds alone, before anything is solved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robomorph.planning.explain import row_name

if TYPE_CHECKING:
    from robomorph.planning.assemble import Assembled


def contradiction(assembled: Assembled) -> str:
    """A pair of constraints on the same value at the same time that leave nothing between them, in words."""
    problem = assembled.problem
    for rows, keys in (
        (problem.rows, (problem.rows.function, problem.rows.rate, problem.rows.piece)),
        (
            problem.spline_rows,
            (problem.spline_rows.joint, problem.spline_rows.rate, problem.spline_rows.first),
        ),
    ):
        if not len(rows.lower):
            continue
        _, group = np.unique(np.stack(keys), axis=1, return_inverse=True)
        group = group.reshape(-1)
        lower, upper = np.full(group.max() + 1, -np.inf), np.full(group.max() + 1, np.inf)
        np.maximum.at(lower, group, rows.lower)
        np.minimum.at(upper, group, rows.upper)
        bad = np.flatnonzero(lower > upper)
        if len(bad):
            own = np.flatnonzero(group == bad[0])
            first, second = own[np.argmax(rows.lower[own])], own[np.argmin(rows.upper[own])]
            place = int(keys[2][first])
            begin, _ = _times(assembled, place if rows is problem.rows else None, place)
            low, high = (
                f"{r.name}, {row_name(assembled, int(rows.source[k]), int(keys[0][k]))}"
                for k in (first, second)
                for r in [assembled.requirements[int(rows.source[k])]]
            )
            gap = float(rows.lower[first] - rows.upper[second])
            unit = assembled.requirements[int(rows.source[first])].unit
            return (
                f"{low} and {high} contradict each other from t = {begin:.4g} s on: the one's lower bound is "
                f"{gap:.4g} {unit} above the other's upper bound. Change a bound or a window"
            )
    return ""


def _times(assembled: Assembled, piece: int | None, first: int) -> tuple[float, float]:
    found = (
        assembled.pieces[piece]
        if piece is not None
        else next(p for p in assembled.pieces if p.interval == first)
    )
    return found.times(assembled.problem.seconds / (len(assembled.problem.control) - 3))
