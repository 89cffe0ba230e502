"""A step in time on a manifold over generic scalars: what it is made of, and small matrices.

Semi-implicit Euler: rates change by accelerations, then places by the new rates. Where a joint slides in axes
that turn with it, its linear velocity is carried on in axes that stand still for the step, as MuJoCo has it
for free joints: what flies freely then flies straight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robomorph.spatial import Scalar, Vec3

Rows = list[list[Scalar]]


@dataclass(frozen=True)
class Step:
    """Before a step: coordinates, rates, accelerations; and how long it takes (s)."""

    q: Sequence[Scalar]
    qd: Sequence[Scalar]
    qdd: Sequence[Scalar]
    seconds: Scalar


@dataclass(frozen=True)
class StepSlopes:
    """Derivatives (nv, nv) of the place and the rates after a step by the place, rates and accelerations
    before it; places in the tangent space. The rates after it do not depend on the place."""

    place_by_place: Rows
    place_by_rate: Rows
    place_by_acceleration: Rows
    rate_by_rate: Rows
    rate_by_acceleration: Rows


def identity(size: int, value: Scalar = 1.0) -> Rows:
    return [[value if i == k else 0.0 for k in range(size)] for i in range(size)]


def skew(v: Vec3) -> Rows:
    x, y, z = v
    return [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]


def times(a: Rows, b: Rows) -> Rows:
    out: Rows = []
    for row in a:
        sums: list[Scalar] = [0.0] * len(b[0])
        for x, other in zip(row, b, strict=True):
            sums = [s + x * y for s, y in zip(sums, other, strict=True)]
        out.append(sums)
    return out


def plus(a: Rows, b: Rows) -> Rows:
    return [[x + y for x, y in zip(p, q, strict=True)] for p, q in zip(a, b, strict=True)]


def scaled(share: Scalar, a: Rows) -> Rows:
    return [[share * x for x in row] for row in a]


def blocks(parts: Sequence[Sequence[Rows]]) -> Rows:
    """One matrix of several, laid out in rows."""
    return [[x for block in line for x in block[i]] for line in parts for i in range(len(line[0]))]


def zeros(rows: int, columns: int) -> Rows:
    return [[0.0] * columns for _ in range(rows)]
