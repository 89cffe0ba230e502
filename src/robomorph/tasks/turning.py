"""What tasks about directions share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robomorph.spatial import Scalar, Vec3, dot3, scale3
from robomorph.tasks.scene import Matrix


def turn_rows(numbers: Sequence[Scalar]) -> tuple[Vec3, Vec3, Vec3]:
    """Nine numbers as the rows of a matrix."""
    a, b, c, d, e, f, g, h, i = numbers
    return (a, b, c), (d, e, f), (g, h, i)


def combine(weights: Vec3, rows: Matrix) -> list[Any]:
    """A row vector (3,) times rows (3, n)."""
    columns = [scale3(1.0, (rows[0][j], rows[1][j], rows[2][j])) for j in range(len(rows[0]))]
    return [dot3(weights, column) for column in columns]
