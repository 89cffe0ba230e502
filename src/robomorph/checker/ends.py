"""Where a motion begins and ends."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from robomorph.checker import document as read
from robomorph.checker.document import Refused
from robomorph.checker.motion import Motion, derivative

_CLOSE = Fraction(1, 10**9)
_NAMES = ("q", "qd", "qdd")


def check_ends(motion: Motion, problem: Mapping[str, Any]) -> None:
    """The states that the problem names, within 1e-9 (rad, m, s); a periodic motion goes on as it began."""
    spans = list(motion.spans)
    places = {"start": (spans[0], motion.start), "end": (spans[-1], motion.stop)}
    for which, (span, t) in places.items():
        if problem[which] is None:
            continue
        wanted = read.record(problem[which], which, _NAMES)
        for order, name in enumerate(_NAMES):
            if wanted[name] is not None:
                found = _at(motion, span, t, order)
                _compare(which, name, found, read.numbers(wanted[name], f"{which}.{name}", len(found)))
    if read.flag(problem["periodic"], "periodic"):
        for order, name in enumerate(_NAMES):
            first, last = (_at(motion, *places[which], order) for which in ("start", "end"))
            _compare("end of a periodic motion", name, last, first)


def _at(motion: Motion, span: int, t: Fraction, order: int) -> list[Fraction]:
    place = t - motion.knots[span]
    return [
        sum((a * place**k for k, a in enumerate(derivative(polynomial, order))), Fraction(0))
        for polynomial in motion.spans[span]
    ]


def _compare(which: str, name: str, found: Any, wanted: Any) -> None:
    for j, (x, y) in enumerate(zip(found, wanted, strict=True)):
        if abs(x - Fraction(y)) > _CLOSE * max(Fraction(1), abs(Fraction(y))):
            raise Refused(f"motion: {which}: {name}[{j}]: expected {float(y)}, found {float(x)}")
