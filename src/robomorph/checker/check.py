"""Check a plan: everything that the problem asks for, proven again for every instant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from robomorph.checker import document as read
from robomorph.checker.balls import ORDER, Ball, arithmetic, ball, flint
from robomorph.checker.claims import Claims, read_claims
from robomorph.checker.document import FORMAT, VERSION, Refused, alike
from robomorph.checker.ends import check_ends
from robomorph.checker.mechanics import State, gravity_of
from robomorph.checker.motion import Motion, derivative, read_motion
from robomorph.checker.ranges import holds, holds_exactly
from robomorph.checker.robot import Robot, read_robot
from robomorph.checker.rows import Row, read_rows

PROBLEM = ("robot", "seconds", "start", "end", "periodic", "constraints")
_DEEPEST = 9  # bisections in time


@dataclass
class Report:
    """What was proven."""

    robot: str
    joints: int
    seconds: float
    rows: list[Row]
    pieces: int = 0
    notes: list[str] = field(default_factory=list)


def check_plan(data: Any, problem: Any = None, robot_text: str | None = None) -> Report:
    """Prove that the motion of a plan keeps every constraint of the problem, or raise Refused.

    problem: as stated elsewhere; without it, as the plan states it. robot_text: what the robot's description
    must be. Limits come from the robot's text, constraints from the problem, nothing from the plan's proof.
    """
    try:
        return _checked(data, problem, robot_text)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # Whatever this program does not understand is not proven.
        raise Refused(f"plan: not understood: {type(error).__name__}: {error}") from error


def _checked(data: Any, problem: Any, robot_text: str | None) -> Report:
    fields = read.record(data, "plan", ("format", "version", "problem", "motion", "proof"))
    if (fields["format"], fields["version"]) != (FORMAT, VERSION):
        raise Refused(f"plan: expected {FORMAT} {VERSION}, found {fields['format']} {fields['version']}")
    stated = read.record(fields["problem"], "problem", PROBLEM)
    if problem is not None:
        wanted = read.record(problem.get("problem", problem), "problem", PROBLEM)
        for key in PROBLEM:
            if not alike(stated[key], wanted[key]):
                raise Refused(f"problem: {key!r} of the plan is not what the problem given says")
        stated = wanted
    if robot_text is not None and stated["robot"].get("text") != robot_text:
        raise Refused("problem: the plan is for another robot: its text is not the one given")
    with arithmetic():
        return _check(stated, fields)


def _check(problem: dict[str, Any], fields: dict[str, Any]) -> Report:
    robot = read_robot(problem["robot"])
    names = [joint.name for joint in robot.joints]
    motion = read_motion(fields["motion"], names)
    shortest, longest = read.numbers(problem["seconds"], "seconds", 2)
    length = motion.stop - motion.start
    if motion.start != 0 or not Fraction(shortest) <= length + Fraction(1, 10**9):
        raise Refused(f"motion: expected at least {shortest} s from 0, found {float(length)}")
    if length > Fraction(longest) + Fraction(1, 10**9):
        raise Refused(f"motion: expected at most {longest} s, found {float(length)}")
    check_ends(motion, problem)
    unit = length if shortest < longest else Fraction(1)
    rows = read_rows(robot, problem["constraints"], motion.stop, unit)
    claims = read_claims(fields["proof"], rows)
    report = Report(robot.root, len(names), float(length), rows)
    _prove_joints(motion, [row for row in rows if row.joint is not None], claims)
    others = [row for row in rows if row.joint is None]
    report.pieces = _prove_others(robot, motion, others, claims)
    return report


def _prove_joints(motion: Motion, rows: Sequence[Row], claims: Claims) -> None:
    """In fractions, so that a value may also touch its bound."""
    for row in rows:
        assert row.joint is not None
        for begin, end in _windows(motion, row):
            span, first = motion.at(begin, end)
            middle = (begin + end) / 2
            polynomial = derivative(motion.spans[span][row.joint], row.order)
            about = _about(polynomial, middle - first)
            claims[row.constraint, row.row].must_allow(ball(about[0]), middle)
            if not holds_exactly(about, (end - begin) / 2, row.lower, row.upper):
                raise _not_proven(row, begin, end)


def _windows(motion: Motion, row: Row) -> list[tuple[Fraction, Fraction]]:
    begin, end = row.window
    if begin == end:
        return [(begin, end)]
    return [(a, b) for a, b in motion.pieces(row.window) if begin <= a and b <= end]


def _about(polynomial: list[Fraction], place: Fraction) -> list[Fraction]:
    """The same polynomial in powers of the distance from a place."""
    out: list[Fraction] = []
    for a in reversed(polynomial):
        out = [x * place + y for x, y in zip([*out, Fraction(0)], [Fraction(0), *out], strict=True)]
        out[0] += a
    return out


def _prove_others(robot: Robot, motion: Motion, rows: Sequence[Row], claims: Claims) -> int:
    gravity = gravity_of(robot)
    edges = [t for row in rows for t in row.window]
    todo = [
        (begin, end, [row for row in rows if row.window[0] <= begin and end <= row.window[1]], 0)
        for begin, end in motion.pieces(edges)
    ]
    instants = {row.window[0] for row in rows if row.window[0] == row.window[1]}
    todo += [(t, t, [row for row in rows if row.window == (t, t)], 0) for t in instants]
    pieces = 0
    while todo:
        begin, end, own, depth = todo.pop()
        if not own:
            continue
        pieces += 1
        point, spread = (State(robot, motion.series(begin, end, wide), gravity) for wide in (False, True))
        left = [row for row in own if not _holds(row, point, spread, begin, end, claims)]
        if left and (depth == _DEEPEST or begin == end):
            raise _not_proven(left[0], begin, end)
        middle = (begin + end) / 2
        todo += [(a, b, left, depth + 1) for a, b in ((begin, middle), (middle, end)) if left]
    return pieces


def _holds(row: Row, point: State, spread: State, begin: Fraction, end: Fraction, claims: Claims) -> bool:
    """Taylor's formula: coefficients at the middle, the remainder's from the whole piece."""
    assert row.value is not None
    coefficients = _coefficients(row.value(point))
    remainder = _coefficients(row.value(spread))[ORDER]
    claims[row.constraint, row.row].must_allow(coefficients[0], (begin + end) / 2)
    found = holds(coefficients[:ORDER], remainder, (end - begin) / 2, _bound(row.lower), _bound(row.upper))
    if found is False:
        raise _not_proven(row, begin, end)
    return bool(found)


def _coefficients(value: Ball) -> list[Ball]:
    """Taylor coefficients 0 .. ORDER."""
    arb = flint().arb
    if not hasattr(value, "coeffs"):
        return [arb(value), *[arb(0)] * ORDER]
    if value.prec <= ORDER:
        raise Refused("this program lost the end of a series: please report it")
    known = [arb(c) for c in value.coeffs()]
    return (known + [arb(0)] * (ORDER + 1))[: ORDER + 1]


def _bound(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return flint().arb.pos_inf() if value > 0 else flint().arb.neg_inf()
    return flint().arb(ball(value)) if isinstance(value, (float, int, Fraction)) else value


def _not_proven(row: Row, begin: Fraction, end: Fraction) -> Refused:
    when = (
        f"at {float(begin):.9g} s" if begin == end else f"between {float(begin):.9g} and {float(end):.9g} s"
    )
    return Refused(f"constraint {row.constraint}, {row.name}: not kept, or not provably, {when}")
