"""Exact Jacobians of rows that turn, at any distance from the reference.

`residual` gives the velocity of a frame (its angular one, or along two normals), which is the Jacobian of the
rows where they vanish, and right along them everywhere. Methods that square single rows, or weigh them
apart, need the derivative of the rows themselves: that of the logarithm of a rotation, and its like for a
direction. Both are made of what rows are made of, without a branch that divides by zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robomorph.spatial import Scalar, atan2, dot3, maximum, minimum, reciprocal, select, sqrt

_TINY = 1e-30
_SMALL = 1e-6  # squared angle (rad^2) below which a series takes over from what is 0 / 0 at zero
_FLATTEST = 1e-3  # sine of an angle near half a turn below which the slope across it grows no further

Matrix = list[list[Any]]


def rotation_slopes(raw: Sequence[Scalar], rows: Sequence[Scalar], angular: Matrix) -> Matrix:
    """The Jacobian (3, n) of the rotation vector r of a rotation E (9,), row-major, that turns with the
    angular velocities (3, n): dE = [w]x E.

    It is w - r x w / 2 + b r x (r x w) with b = (1 - (a / 2) cot(a / 2)) / a^2, a the angle: smooth up to
    half a turn, where r itself jumps.
    """
    sine = (0.5 * (raw[7] - raw[5]), 0.5 * (raw[2] - raw[6]), 0.5 * (raw[3] - raw[1]))
    cosine = 0.5 * (raw[0] + raw[4] + raw[8] - 1.0)
    size = sqrt(dot3(sine, sine))
    r = (rows[0], rows[1], rows[2])
    square = dot3(r, r)
    # (a / 2) cot(a / 2) = a (1 + cos a) / (2 sin a) = a sin a / (2 (1 - cos a)): each where it is exact.
    angle = atan2(size, cosine)
    wide = 0.5 * angle * size * reciprocal(maximum(1.0 - cosine, _TINY))
    narrow = 0.5 * angle * (1.0 + cosine) * reciprocal(maximum(size, _TINY))
    bend = (1.0 - select(cosine, narrow, wide)) * reciprocal(maximum(square, _TINY))
    b = select(square - _SMALL, bend, 1.0 / 12.0 + square * (1.0 / 720.0))
    # I - [r]x / 2 + b (r r^T - a^2 I)
    along = 1.0 - b * square
    half = [0.5 * x for x in r]
    turn = (
        (0.0, half[2], -half[1]),
        (-half[2], 0.0, half[0]),
        (half[1], -half[0], 0.0),
    )
    gain = [[b * (r[i] * r[k]) + (along if i == k else turn[i][k]) for k in range(3)] for i in range(3)]
    return _product(gain, angular)


def direction_slopes(raw: Sequence[Scalar], turning: Matrix) -> Matrix:
    """The Jacobian (2, n) of the angles along u and v from raw errors (cos a, sin u, sin v) of an axis that
    turns with angular velocities (3, n) about u, v and the direction d itself.

    Along the error the angle grows as the axis turns; across it the error swings round with the factor
    a cot a, and turns about d take it along. Half a turn away it would swing infinitely fast: there
    the factor is held, which leaves J^T e as it is.
    """
    cosine, u, v = raw
    square = u * u + v * v
    size = sqrt(square)
    angle = atan2(size, cosine)
    scale = angle * reciprocal(maximum(size, _FLATTEST))  # a / sin a
    near = minimum(cosine, _SMALL - square)  # not negative near zero
    scale = select(near, 1.0 + square * (1.0 / 6.0), scale)
    cot = scale * cosine
    exact = (1.0 - cot) * reciprocal(maximum(square, _TINY))
    along = select(near, 1.0 / 3.0 + square * (2.0 / 15.0), exact)  # (1 - a cot a) / sin^2 a
    gain = [
        [along * (u * u) + cot, along * (u * v), -(scale * v)],
        [along * (u * v), along * (v * v) + cot, scale * u],
    ]
    return _product(gain, turning)


def _product(gain: Matrix, columns: Matrix) -> Matrix:
    turned = list(zip(*columns, strict=True))
    return [[sum((x * y for x, y in zip(row, of, strict=True)), 0.0) for of in turned] for row in gain]
