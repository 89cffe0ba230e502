"""The motion: B-splines by the recurrence of Cox and de Boor, in fractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import comb
from typing import Any

from robomorph.checker import document as read
from robomorph.checker.balls import ORDER, Ball, around, ball, flint
from robomorph.checker.document import Refused

Polynomial = list[Fraction]


@dataclass(frozen=True)
class Motion:
    """degree, knots (s), control[c][j]: point c of joint j."""

    degree: int
    knots: tuple[Fraction, ...]
    control: tuple[tuple[Fraction, ...], ...]

    @property
    def start(self) -> Fraction:
        return self.knots[self.degree]

    @property
    def stop(self) -> Fraction:
        return self.knots[len(self.control)]

    @cached_property
    def spans(self) -> dict[int, list[Polynomial]]:
        """For every span that has a length, each joint's polynomial in t - (the span's first knot)."""
        out = {}
        for span in range(self.degree, len(self.control)):
            if self.knots[span] < self.knots[span + 1]:
                out[span] = self._polynomials(span)
        return out

    def _polynomials(self, span: int) -> list[Polynomial]:
        shares = [self._basis(i, self.degree, span) for i in range(span - self.degree, span + 1)]
        points = self.control[span - self.degree : span + 1]
        return [
            [
                sum((share[k] * point[j] for share, point in zip(shares, points, strict=True)), Fraction(0))
                for k in range(self.degree + 1)
            ]
            for j in range(len(self.control[0]))
        ]

    def _basis(self, i: int, degree: int, span: int) -> Polynomial:
        """The basis function i in powers of t - knots[span], (self.degree + 1) coefficients."""
        zero = [Fraction(0)] * (self.degree + 1)
        if degree == 0:
            return [Fraction(int(i == span)), *zero[1:]]
        out, origin = zero, self.knots[span]
        for j, near, far in ((i, i, i + degree), (i + 1, i + degree + 1, i + 1)):
            length = self.knots[far] - self.knots[near]
            if length == 0:
                continue
            lower = self._basis(j, degree - 1, span)
            shift = origin - self.knots[near]
            raised = [Fraction(0), *lower[:-1]]
            out = [o + (shift * a + b) / length for o, a, b in zip(out, lower, raised, strict=True)]
        return out

    def pieces(self, edges: Sequence[Fraction]) -> list[tuple[Fraction, Fraction]]:
        """The whole motion cut at knots and edges."""
        cuts = {self.start, self.stop, *self.knots, *edges}
        return list(pairwise(sorted(t for t in cuts if self.start <= t <= self.stop)))

    def at(self, begin: Fraction, end: Fraction) -> tuple[int, Fraction]:
        """The span that holds [begin, end], and its first knot."""
        for span in self.spans:
            if self.knots[span] <= begin and end <= self.knots[span + 1]:
                return span, self.knots[span]
        raise Refused(f"motion: no span holds {float(begin)} to {float(end)} s")

    def series(self, begin: Fraction, end: Fraction, spread: bool) -> list[Ball]:
        """Every joint as a series about the middle of a piece, or about all of its instants at once."""
        span, first = self.at(begin, end)
        middle, radius = (begin + end) / 2 - first, (end - begin) / 2 if spread else Fraction(0)
        offset = around(ball(middle), radius)
        powers = [flint().arb(1)]
        for _ in range(self.degree):
            powers.append(powers[-1] * offset)
        return [_taylor(polynomial, powers) for polynomial in self.spans[span]]


def _taylor(polynomial: Polynomial, powers: list[Any]) -> Ball:
    """Coefficients about a place whose powers are given."""
    arb = flint().arb
    out = []
    for k in range(len(polynomial)):
        terms = [
            arb(flint().fmpq((comb(n, k) * a).numerator, (comb(n, k) * a).denominator)) * powers[n - k]
            for n, a in enumerate(polynomial)
            if n >= k
        ]
        out.append(sum(terms[1:], terms[0]))
    return flint().arb_series(out, ORDER + 3)


def derivative(polynomial: Polynomial, order: int) -> Polynomial:
    for _ in range(order):
        polynomial = [k * a for k, a in enumerate(polynomial)][1:] or [Fraction(0)]
    return polynomial


def read_motion(data: Any, joints: Sequence[str]) -> Motion:
    fields = read.record(data, "motion", ("joints", "degree", "knots", "control"))
    if fields["joints"] != list(joints):
        raise Refused(f"motion: expected the robot's joints {list(joints)}, found {fields['joints']}")
    degree = read.whole(fields["degree"], "degree", 1, 9)
    control = [
        tuple(Fraction(x) for x in read.numbers(point, f"control[{c}]", len(joints)))
        for c, point in enumerate(read.items(fields["control"], "control"))
    ]
    knots = [read.fraction(t, f"knots[{k}]") for k, t in enumerate(read.items(fields["knots"], "knots"))]
    if len(control) <= degree or len(knots) != len(control) + degree + 1:
        raise Refused(f"motion: {len(control)} control points and {len(knots)} knots do not make a spline")
    if any(a > b for a, b in pairwise(knots)) or knots[degree] >= knots[len(control)]:
        raise Refused("motion: expected knots that rise")
    inner = [k for k in knots if knots[degree] < k < knots[len(control)]]
    if len(set(inner)) != len(inner) or degree < 3:
        raise Refused("motion: expected no jumps: degree 3 or more, and each inner knot once")
    return Motion(degree, tuple(knots), tuple(control))
