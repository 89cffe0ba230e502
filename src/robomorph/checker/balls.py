"""Numbers: balls that hold exact values, and power series of them. 0, 1 and -1 that are exact stay integers,
so that products with them cost nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from robomorph.errors import TargetError

Ball = Any  # flint.arb, flint.arb_series, or one of the integers 0, 1, -1
Vector = list[Ball]
Matrix = list[list[Ball]]
BITS = 128
# Coefficients of Taylor polynomials, and two more for the derivatives that mechanics takes.
ORDER = 12


def flint() -> Any:
    try:
        import flint as module
    except ImportError:
        raise TargetError(
            "robomorph check needs ball arithmetic: pip install 'robomorph[plan]' (python-flint)"
        ) from None
    return module


@contextmanager
def arithmetic() -> Iterator[None]:
    """The precision and length of series that everything here is computed with."""
    ctx = flint().ctx
    before = ctx.prec, ctx.cap
    ctx.prec, ctx.cap = BITS, ORDER + 3
    try:
        yield
    finally:
        ctx.prec, ctx.cap = before


def ball(x: Fraction | float | int) -> Ball:
    """The smallest ball about a number; exact 0, 1 and -1 stay as they are."""
    value = Fraction(x)
    if value in (0, 1, -1):
        return int(value)
    fmpq = flint().fmpq(value.numerator, value.denominator)
    return flint().arb(fmpq)


def around(middle: Ball, radius: Fraction) -> Ball:
    """The ball of all numbers within `radius` of those of a ball."""
    one = flint().arb
    if radius == 0:
        return one(middle)
    return one(middle) + one(0, one(flint().fmpq(radius.numerator, radius.denominator)).upper())


def add(a: Ball, b: Ball) -> Ball:
    if isinstance(a, int) and a == 0:
        return b
    if isinstance(b, int) and b == 0:
        return a
    return a + b


def sub(a: Ball, b: Ball) -> Ball:
    return add(a, neg(b))


def neg(a: Ball) -> Ball:
    return -a


def mul(a: Ball, b: Ball) -> Ball:
    for x, y in ((a, b), (b, a)):
        if isinstance(x, int):
            return 0 if x == 0 else y if x == 1 else -y if x == -1 else x * y
    return a * b


def total(values: Sequence[Ball]) -> Ball:
    out: Ball = 0
    for value in values:
        out = add(out, value)
    return out


def dot(a: Sequence[Ball], b: Sequence[Ball]) -> Ball:
    return total([mul(x, y) for x, y in zip(a, b, strict=True)])


def cross(a: Sequence[Ball], b: Sequence[Ball]) -> Vector:
    return [sub(mul(a[i], b[j]), mul(a[j], b[i])) for i, j in ((1, 2), (2, 0), (0, 1))]


def plus(a: Sequence[Ball], b: Sequence[Ball]) -> Vector:
    return [add(x, y) for x, y in zip(a, b, strict=True)]


def minus(a: Sequence[Ball], b: Sequence[Ball]) -> Vector:
    return [sub(x, y) for x, y in zip(a, b, strict=True)]


def scaled(k: Ball, a: Sequence[Ball]) -> Vector:
    return [mul(k, x) for x in a]


def times(m: Matrix, v: Sequence[Ball]) -> Vector:
    return [dot(row, v) for row in m]


def product(a: Matrix, b: Matrix) -> Matrix:
    columns = transposed(b)
    return [[dot(row, column) for column in columns] for row in a]


def transposed(m: Matrix) -> Matrix:
    return [list(row) for row in zip(*m, strict=True)]


def identity() -> Matrix:
    return [[int(i == j) for j in range(3)] for i in range(3)]


def rate(x: Ball) -> Ball:
    """The time derivative of a series; constants have none."""
    return x.derivative() if hasattr(x, "derivative") else 0


def cosine_sine(angle: Ball) -> tuple[Ball, Ball]:
    if isinstance(angle, int) and angle == 0:
        return 1, 0
    if isinstance(angle, int):
        angle = flint().arb(angle)
    sine, cosine = angle.sin_cos()
    return cosine, sine


def turned(axis: Vector, cosine: Ball, sine: Ball) -> Matrix:
    """Rodrigues' formula: the rotation about a unit axis."""
    rest = sub(1, cosine)
    out: Matrix = [[0] * 3 for _ in range(3)]
    for i in range(3):
        a = axis[i]
        if isinstance(a, int):
            out[i][i] = 1 if a else cosine
        else:
            out[i][i] = add(cosine, mul(rest, mul(a, a)))
        for j, k, sign in (((i + 1) % 3, (i + 2) % 3, -1), ((i + 2) % 3, (i + 1) % 3, 1)):
            out[i][j] = add(mul(rest, mul(a, axis[j])), mul(sign, mul(sine, axis[k])))
    return out
