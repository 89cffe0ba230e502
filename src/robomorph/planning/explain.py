"""Why there is no plan, in words: which constraint, when, by how much, and what would help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from robomorph.planning.evaluate import Evaluator
from robomorph.planning.pieces import Piece, within
from robomorph.planning.plan import Margin
from robomorph.planning.problem import Array
from robomorph.planning.requirements import OfJoints, OfTask, OfTorques
from robomorph.planning.solvers.outcome import INFEASIBLE, SOLVED, STOPPED, Outcome

if TYPE_CHECKING:
    from robomorph.planning.assemble import Assembled

_NAMED = 3  # constraints in a reason
_BROKEN = 1e-6  # scaled


def explain_ends(broken: Sequence[Margin]) -> str:
    """The end states break constraints on their own; nothing if none is broken."""
    if not broken:
        return ""
    return (
        f"the start or end state alone breaks {_named(broken)}. No motion between them can mend that: change "
        "the state or the bound"
    )


def _named(broken: Sequence[Margin]) -> str:
    parts = [
        f"{m.name}, {m.row}: {-m.slack:.4g} {m.unit} beyond its {m.bound} bound at t = {m.time:.4g} s"
        for m in broken[:_NAMED]
    ]
    more = f" (and {len(broken) - _NAMED} more)" if len(broken) > _NAMED else ""
    return "; ".join(parts) + more


def explain_coarse(unshown: Sequence[Margin], refine: int | None) -> str:
    """What ends decide beyond themselves: what cannot be shown to hold there; nothing if all can."""
    if not unshown:
        return ""
    if refine is None:
        return (
            f"with so few intervals the start and end states alone break {_named(unshown)}: give more "
            "intervals or more time, or change the state or the bound"
        )
    parts = [f"{m.name}, {m.row}, near t = {m.time:.4g} s" for m in unshown[:_NAMED]]
    return (
        f"the pieces beside the moving start or end state are too long to show that {'; '.join(parts)}, "
        f"hold, which they may: give refine={refine}, or more intervals"
    )


def explain(assembled: Assembled, evaluator: Evaluator, outcome: Outcome) -> str:
    return _outcome(assembled, evaluator, outcome) + _precision(outcome)


def _precision(outcome: Outcome) -> str:
    """What single precision means for the answer."""
    device = outcome.device
    if device is None or device.violation is None:
        return ""
    found = (
        "every row holds"
        if device.violation <= _BROKEN
        else f"a row is {device.violation:.2g} (scaled) beyond its bound"
    )
    return f"; functions were in float32, rows known to {device.noise:.1g} (scaled); in float64 {found}"


def _outcome(assembled: Assembled, evaluator: Evaluator, outcome: Outcome) -> str:
    if outcome.status == SOLVED:
        return "solved"
    lower, upper = evaluator.bounds(outcome.margins)
    rows = evaluator.rows(outcome.x)
    beyond = np.maximum(lower - rows, rows - upper)
    if not (beyond > _BROKEN).any():
        kept = "every constraint holds, but the cost is not at its least"
        return (
            f"{_state(outcome)}; {kept}" if outcome.status != STOPPED else f"stopped by the callback; {kept}"
        )
    return f"{_state(outcome)}; nearest to a motion it misses {_worst(assembled, evaluator, outcome, beyond)}"


def _state(outcome: Outcome) -> str:
    if outcome.status == INFEASIBLE:
        return "no motion found that holds every constraint (none nearby)"
    if outcome.status == STOPPED:
        return "stopped by the callback"
    return f"not converged after {outcome.iterations} iterations" + (
        f": {outcome.message}" if outcome.message else ""
    )


def _worst(assembled: Assembled, evaluator: Evaluator, outcome: Outcome, beyond: Array) -> str:
    """The worst rows, one a constraint and value."""
    seen: dict[tuple[str, str], str] = {}
    for row in np.argsort(-beyond):
        if beyond[row] <= _BROKEN or len(seen) == _NAMED:
            break
        key, text = _describe(assembled, evaluator, outcome, int(row), float(beyond[row]))
        seen.setdefault(key, text)
    return "; ".join(seen.values())


def _describe(
    assembled: Assembled, evaluator: Evaluator, outcome: Outcome, row: int, beyond: float
) -> tuple[tuple[str, str], str]:
    problem = assembled.problem
    if row >= len(evaluator.entry_of_row):
        return ("duration", ""), f"the duration's bounds by {beyond * problem.seconds:.4g} s"
    entry, behind = int(evaluator.entry_of_row[row]), len(problem.rows.piece)
    place = row - int(evaluator.first_row[entry])
    if entry < behind:
        source, scale = int(problem.rows.source[entry]), float(problem.rows.scale[entry])
        piece = assembled.pieces[int(problem.rows.piece[entry])]
        count = len(problem.matrices[int(problem.rows.matrix[entry])])
        what = int(problem.rows.function[entry])
    else:
        entry -= behind
        source, scale = int(problem.spline_rows.source[entry]), float(problem.spline_rows.scale[entry])
        piece = _piece_of_joints(assembled, entry)
        count = len(problem.spline_matrices[int(problem.spline_rows.matrix[entry])])
        what = int(problem.spline_rows.joint[entry])
    requirement = assembled.requirements[source]
    begin, end = piece.times(problem.seconds / (len(problem.control) - 3))
    when = begin + (end - begin) * (place / max(1, count - 1))
    when = min(max(when, requirement.window[0]), requirement.window[1])
    name = row_name(assembled, source, what)
    amount = f"{beyond * scale:.4g} {requirement.unit}"
    pull = float(outcome.multipliers[row]) / scale
    text = (
        f"{requirement.name}, {name}, by {amount} near t = {when:.4g} s (multiplier {pull:.3g}; "
        f"it would hold with that bound wider by {amount})"
    )
    return (requirement.name, name), text


def _piece_of_joints(assembled: Assembled, entry: int) -> Piece:
    """Where an entry of spline rows is: among those of one joint in one interval, by their order in time."""
    problem, rows = assembled.problem, assembled.problem.spline_rows
    knot = problem.seconds / (len(problem.control) - 3)
    same = np.ones(len(rows.first), bool)
    for column in (rows.source, rows.joint, rows.first):
        same &= column == column[entry]
    behind = int(np.count_nonzero(same[entry + 1 :]))
    begin, end = (t / knot for t in assembled.requirements[int(rows.source[entry])].window)
    own = [p for p in assembled.pieces if p.interval == int(rows.first[entry])]
    inside = [p for p in own if within(p, begin, end)] or own
    return inside[max(0, len(inside) - 1 - behind)]


def row_name(assembled: Assembled, source: int, what: int) -> str:
    """Of a function (channels, then torques) or of a joint, in a requirement."""
    requirement = assembled.requirements[source]
    if isinstance(requirement, OfJoints):
        return requirement.names[requirement.joints.index(what)]
    if isinstance(requirement, OfTorques):
        return requirement.names[requirement.joints.index(what - assembled.problem.channels)]
    assert isinstance(requirement, OfTask)
    rows = range(len(requirement.lower))
    return next(requirement.names[k] for k in rows if assembled.channels.place(source, k)[0] == what)
