"""What tasks about directions share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robomorph.errors import ArgumentError
from robomorph.spatial import Scalar, Vec3, dot3, scale3
from robomorph.tasks.numbers import Array, inward
from robomorph.tasks.scene import Matrix


def turn_rows(numbers: Sequence[Scalar]) -> tuple[Vec3, Vec3, Vec3]:
    """Nine numbers as the rows of a matrix."""
    a, b, c, d, e, f, g, h, i = numbers
    return (a, b, c), (d, e, f), (g, h, i)


def combine(weights: Vec3, rows: Matrix) -> list[Any]:
    """A row vector (3,) times rows (3, n)."""
    columns = [scale3(1.0, (rows[0][j], rows[1][j], rows[2][j])) for j in range(len(rows[0]))]
    return [dot3(weights, column) for column in columns]


def sine_bounds(title: str, low: Array, high: Array) -> tuple[Array, Array]:
    """Bounds of rows sin(a) / a times the components of a rotation vector of angle a, and of cos(a) behind
    them, that hold its components between `low` and `high` (..., n)."""
    most = np.linalg.norm(np.maximum(np.abs(low), np.abs(high)), axis=-1, keepdims=True)
    if not (most < np.pi).all():
        raise ArgumentError(
            f"bounds of {title}: expected angles that together stay below half a turn (pi rad), "
            f"found up to {most.max():.6g}: to leave turns about an axis free, bound an axis task instead"
        )
    shrink = np.sinc(most / np.pi)
    # Beyond zero the sine is below the angle already.
    rows = inward(np.where(low <= 0.0, shrink * low, low), np.where(high >= 0.0, shrink * high, high))
    if not (rows[0] <= rows[1]).all():
        raise ArgumentError(
            f"bounds of {title}: too narrow so far from zero to be held through sines: turn the "
            "reference so that the bounds are around zero"
        )
    cosine, _ = inward(np.minimum(0.0, np.cos(most)), np.full_like(most, np.inf))
    return np.concatenate([rows[0], cosine], axis=-1), np.concatenate(
        [rows[1], np.full_like(most, np.inf)], axis=-1
    )
