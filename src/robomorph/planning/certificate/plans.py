"""From a plan to what is to be proven of it, and to its document."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

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
from robomorph.planning.requirements import Ends, OfJoints, OfTask, OfTorques, Requirement
from robomorph.tasks import Posture

if TYPE_CHECKING:
    from robomorph.planning.plan import Plan
    from robomorph.robot import Robot

# Times this close (in durations) to a fraction with a small denominator are that: 0.1 + 0.2 is 3/10.
_ROUNDED = Fraction(1, 10**12)
_SMALL = 10**6


class _Asked(Protocol):
    """What plans and motions have in common: windows of requirements are in the time of `seconds`."""

    @property
    def robot(self) -> Robot: ...
    @property
    def requirements(self) -> Sequence[Requirement]: ...
    @property
    def seconds(self) -> float: ...
    @property
    def ends(self) -> Ends: ...


def spline_of(plan: Plan) -> Spline:
    return Spline.uniform(plan.control, Fraction(plan.seconds))


def statements_of(asked: _Asked) -> list[Statement]:
    """What was asked of a motion, in the words that are written down."""
    return [_statement(asked, requirement) for requirement in asked.requirements]


def rows_of_plan(plan: Plan) -> list[Row]:
    spline = spline_of(plan)
    return rows_of(plan.robot, statements_of(plan), (spline.start, spline.stop))


def certify_plan(plan: Plan, **effort: Any) -> Certificate:
    return certify(spline_of(plan), [row.obligation for row in rows_of_plan(plan)], **effort)


def problem_of(asked: _Asked) -> dict[str, Any]:
    """The problem that a plan is for, or that a motion is, as data: the same for both."""
    ends = asked.ends
    start, end = (_end(state) for state in (ends.start, ends.end))
    statements = statements_of(asked)
    return problem_data(asked.robot, statements, ends.seconds, start, end, ends.periodic, _unit(asked))


def save_plan(plan: Plan, path: Path) -> None:
    """The document, with the certificate (made now if there is none)."""
    certificate = plan.certificate or plan.certify()
    rows = rows_of_plan(plan)
    save_document(plan_data(plan.robot, problem_of(plan), spline_of(plan), rows, certificate), path)


def _end(state: Any) -> End | None:
    return None if state is None else End(*(numbers(row) for row in state))


def _statement(asked: _Asked, requirement: Requirement) -> Statement:
    window = _exact_window(asked, requirement)
    if isinstance(requirement, OfTask):
        given = requirement.given
        return TaskStatement(requirement.task, requirement.reference, *given, window, requirement.rate)
    assert isinstance(requirement, (OfJoints, OfTorques))
    what = "torque" if isinstance(requirement, OfTorques) else WHAT[requirement.rate]
    if requirement.share is not None:
        return Limits(what, requirement.share)
    low, high = numbers(requirement.lower), numbers(requirement.upper)
    everywhere = window == (Fraction(0), Fraction(asked.seconds))
    if requirement.joints == tuple(range(asked.robot.nv)) and everywhere:
        return Limits(what, None, low, high)
    if what not in WHAT[:3]:  # a posture has no torque and no jerk
        raise AssertionError(f"{requirement.name}: expected limits of all joints at all times")
    posture = Posture.of(asked.robot.model, requirement.names)
    return TaskStatement(posture, (0.0,) * len(low), low, high, window, requirement.rate)


def _unit(asked: _Asked) -> Fraction:
    """What windows are written in (s): with a free duration it is the share of it that is exact."""
    shortest, longest = asked.ends.seconds
    return Fraction(asked.seconds) if shortest < longest else Fraction(1)


def _exact_window(asked: _Asked, requirement: Requirement) -> Window:
    """In exact seconds. Shares of a free duration are the same numbers for a motion and for its plan."""
    whole, unit = Fraction(asked.seconds), _unit(asked)
    written = requirement.window
    if unit == whole:
        written = requirement.shares or (written[0] / asked.seconds, written[1] / asked.seconds)
    first, last = (unit * _rounded(Fraction(float(t)), whole / unit) for t in written)
    return first, last


def _rounded(t: Fraction, whole: Fraction) -> Fraction:
    """A time as it was meant: first of all the end, whose fraction may be anything."""
    slack = _ROUNDED * whole
    if abs(t - whole) <= slack:
        return whole
    near = t.limit_denominator(_SMALL)
    return min(max(Fraction(0), near if abs(near - t) <= slack else t), whole)
