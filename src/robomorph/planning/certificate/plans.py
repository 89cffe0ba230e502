"""From a plan to what is to be proven of it, and to its document."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robomorph.planning.certificate.document import End, plan_data, problem_data, save_document
from robomorph.planning.certificate.obligations import Window
from robomorph.planning.certificate.proofs import Certificate
from robomorph.planning.certificate.prove import certify
from robomorph.planning.certificate.splines import Spline
from robomorph.planning.certificate.statements import (
    WHAT,
    Limits,
    Row,
    Statement,
    TaskStatement,
    numbers,
    rows_of,
)
from robomorph.planning.requirements import OfJoints, OfTask, OfTorques, Requirement
from robomorph.tasks import Posture

if TYPE_CHECKING:
    from robomorph.planning.plan import Plan

# Times this close (in durations) to a fraction with a small denominator are that: 0.1 + 0.2 is 3/10.
_ROUNDED = Fraction(1, 10**12)
_SMALL = 10**6


def spline_of(plan: Plan) -> Spline:
    return Spline.uniform(plan.control, Fraction(plan.seconds))


def statements_of(plan: Plan) -> list[Statement]:
    """What was asked of the plan, in the words that are written down."""
    return [_statement(plan, requirement) for requirement in plan.requirements]


def rows_of_plan(plan: Plan) -> list[Row]:
    spline = spline_of(plan)
    return rows_of(plan.robot, statements_of(plan), (spline.start, spline.stop))


def certify_plan(plan: Plan, **effort: Any) -> Certificate:
    return certify(spline_of(plan), [row.obligation for row in rows_of_plan(plan)], **effort)


def problem_of(plan: Plan) -> dict[str, Any]:
    """The problem that the plan is for, as data."""
    asked = plan.ends
    start, end = (_end(state) for state in (asked.start, asked.end))
    return problem_data(
        plan.robot, statements_of(plan), asked.seconds, start, end, asked.periodic, _unit(plan)
    )


def save_plan(plan: Plan, path: Path) -> None:
    """The document, with the certificate (made now if there is none)."""
    certificate = plan.certificate or plan.certify()
    rows = rows_of_plan(plan)
    save_document(plan_data(plan.robot, problem_of(plan), spline_of(plan), rows, certificate), path)


def _end(state: Any) -> End | None:
    return None if state is None else End(*(numbers(row) for row in state))


def _statement(plan: Plan, requirement: Requirement) -> Statement:
    if isinstance(requirement, OfTask):
        return TaskStatement(
            requirement.task,
            requirement.reference,
            *requirement.given,
            _window(plan, requirement),
            requirement.rate,
        )
    assert isinstance(requirement, (OfJoints, OfTorques))
    what = "torque" if isinstance(requirement, OfTorques) else WHAT[requirement.rate]
    if requirement.share is not None:
        return Limits(what, requirement.share)
    low, high = numbers(requirement.lower), numbers(requirement.upper)
    window, everything = _window(plan, requirement), (Fraction(0), Fraction(plan.seconds))
    if requirement.joints == tuple(range(plan.robot.nv)) and window == everything:
        return Limits(what, None, low, high)
    posture = Posture.of(plan.robot.model, requirement.names)
    return TaskStatement(posture, (0.0,) * len(low), low, high, window, requirement.rate)


def _window(plan: Plan, requirement: Requirement) -> Window:
    """In exact seconds of the plan."""
    begin, end = (_exact(plan, t) for t in requirement.window)
    return begin, end


def _unit(plan: Plan) -> Fraction:
    """What windows are written in (s)."""
    shortest, longest = plan.ends.seconds
    return Fraction(plan.seconds) if shortest < longest else Fraction(1)


def _exact(plan: Plan, t: float) -> Fraction:
    """With a free duration it is the share of it that is exact."""
    whole, unit = Fraction(plan.seconds), _unit(plan)
    written = Fraction(float(t)) / unit
    near = written.limit_denominator(_SMALL)
    chosen = near if abs(near - written) <= _ROUNDED * max(Fraction(1), whole / unit) else written
    return min(max(Fraction(0), chosen * unit), whole)
