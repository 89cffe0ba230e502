"""Motions, forces, inertias and transforms against plain 6x6 matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robomorph.ir.trace import Tracer
from robomorph.spatial import (
    BodyInertia,
    Force,
    Matrix3,
    Motion,
    Move,
    Symmetric,
    Transform,
    Translation,
    Turn,
)

from .matrices import axis_rotation, force_cross, inertia_matrix, motion_cross, motion_transform

Array = npt.NDArray[Any]


@pytest.fixture(params=range(4))
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng(request.param)


def same(ours: Any, theirs: Array) -> None:
    values = np.array(ours.scalars() if hasattr(ours, "scalars") else ours, dtype=float)
    np.testing.assert_allclose(values, theirs, rtol=0, atol=1e-13)


def some_moves(rng: np.random.Generator) -> tuple[tuple[Move, ...], Array, Array]:
    """Random elementary moves, and the rotation and offset they amount to."""
    moves: list[Move] = []
    rotation, offset = np.eye(3), np.zeros(3)
    for _ in range(5):
        kind = rng.integers(3)
        if kind == 0:
            step = rng.normal(size=3)
            moves.append(Translation((step[0], step[1], step[2])))
            offset = offset + rotation @ step
            continue
        axis, angle = int(rng.integers(3)), rng.uniform(-3, 3)
        turn = axis_rotation(axis, angle)
        if kind == 1:
            moves.append(Turn(axis, np.cos(angle), np.sin(angle)))
        else:
            turn = turn @ axis_rotation((axis + 1) % 3, rng.uniform(-3, 3))
            rows = turn.T.tolist()
            moves.append(Matrix3((tuple(rows[0]), tuple(rows[1]), tuple(rows[2]))))
        rotation = rotation @ turn
    return tuple(moves), rotation, offset


def some_inertia(rng: np.random.Generator) -> tuple[BodyInertia, Array]:
    second = rng.normal(size=(3, 3))
    second = second @ second.T
    mass, first = float(rng.uniform(1, 2)), rng.normal(size=3)
    ours = BodyInertia(mass, (first[0], first[1], first[2]), Symmetric.from_rows(second.tolist()))
    return ours, inertia_matrix(mass, first, second)


def test_cross_products(rng: np.random.Generator) -> None:
    v, m, f = rng.normal(size=(3, 6))
    same(Motion.of(list(v)).cross(Motion.of(list(m))), motion_cross(v) @ m)
    same(Motion.of(list(v)).cross_force(Force.of(list(f))), force_cross(v) @ f)


def test_sums_scales_and_power(rng: np.random.Generator) -> None:
    a, b = rng.normal(size=(2, 6))
    kinds: tuple[Any, ...] = (Motion, Force)
    for kind in kinds:
        same(kind.of(list(a)) + kind.of(list(b)), a + b)
        same(kind.of(list(a)) - kind.of(list(b)), a - b)
        same(kind.of(list(a)).scaled(3.0), 3.0 * a)
    assert Force.of(list(a)).dot(Motion.of(list(b))) == pytest.approx(a @ b, abs=1e-13)


def test_inertia(rng: np.random.Generator) -> None:
    inertia, matrix = some_inertia(rng)
    other, other_matrix = some_inertia(rng)
    v = rng.normal(size=6)
    same(inertia.apply(Motion.of(list(v))), matrix @ v)
    same((inertia + other).apply(Motion.of(list(v))), (matrix + other_matrix) @ v)
    assert inertia.kinetic_energy(Motion.of(list(v))) == pytest.approx(0.5 * v @ matrix @ v, abs=1e-12)
    assert BodyInertia.of(inertia.scalars()) == inertia


def test_transform(rng: np.random.Generator) -> None:
    moves, rotation, offset = some_moves(rng)
    transform, matrix = Transform(moves), motion_transform(rotation, offset)
    m, f = rng.normal(size=(2, 6))
    same(transform.motion(Motion.of(list(m))), matrix @ m)
    same(transform.force_back(Force.of(list(f))), matrix.T @ f)
    same(transform.matrix(), matrix)
    v = tuple(m[:3])
    same(transform.point_back(v), rotation @ m[:3] + offset)
    same(transform.moment_back(v), rotation @ m[:3])
    same(transform.vector_into(v), rotation.T @ m[:3])


def test_inertia_through_a_transform(rng: np.random.Generator) -> None:
    moves, rotation, offset = some_moves(rng)
    inertia, matrix = some_inertia(rng)
    x = motion_transform(rotation, offset)
    moved = Transform(moves).inertia_back(inertia)
    columns = [moved.apply(Motion.of(list(e))).scalars() for e in np.eye(6)]
    np.testing.assert_allclose(np.array(columns, dtype=float).T, x.T @ matrix @ x, rtol=0, atol=1e-11)


def test_tensor_with_its_first_moment_through_a_transform(rng: np.random.Generator) -> None:
    """A massless inertia moves like one with mass zero."""
    moves, _, _ = some_moves(rng)
    inertia, _ = some_inertia(rng)
    massless = BodyInertia(0.0, inertia.first, inertia.second)
    tensor, first = Transform(moves).tensor_back(massless.second, massless.first)
    expected = Transform(moves).inertia_back(massless)
    same(tensor, np.array(expected.second.scalars(), dtype=float))
    same(first, np.array(expected.first, dtype=float))


def test_structural_zeros_survive_tracing() -> None:
    """A turn and a shift along its axis: 13 of 36 entries or fewer, the others exactly zero."""
    tracer = Tracer()
    c, s = tracer.input(0), tracer.input(1)
    matrix = Transform((Translation((0.0, 0.0, 0.5)), Turn(2, c, s))).matrix()
    zeros = sum(isinstance(x, float) and x == 0.0 for row in matrix for x in row)
    assert zeros == 36 - 14
