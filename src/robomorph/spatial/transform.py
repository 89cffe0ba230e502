"""Coordinate transforms as sequences of elementary moves.

A transform leads from a parent frame to a child frame. Keeping it as a product of
elementary moves (translate, turn about one axis) instead of a full 3x3 rotation is never dearer to
apply and keeps the structural zeros of every factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from robomorph.spatial.inertia import BodyInertia, Symmetric, shift_tensor
from robomorph.spatial.scalar import Scalar
from robomorph.spatial.vectors import Force, Motion, Vec3, add3, cross3, scale3

Rows = tuple[Vec3, Vec3, Vec3]


class Rotation(Protocol):
    """A change of axes."""

    def into(self, v: Vec3) -> Vec3:
        """Coordinates in the child's axes of a vector given in the parent's."""

    def back(self, v: Vec3) -> Vec3:
        """Coordinates in the parent's axes of a vector given in the child's."""

    def tensor_back(self, t: Symmetric) -> Symmetric:
        """A symmetric tensor given in the child's axes, in the parent's."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Rotation of the child by an angle (its cosine and sine) about coordinate axis 0, 1 or 2."""

    axis: int
    c: Scalar
    s: Scalar

    def into(self, v: Vec3) -> Vec3:
        i, j = (self.axis + 1) % 3, (self.axis + 2) % 3
        out = list(v)
        out[i] = self.c * v[i] + self.s * v[j]
        out[j] = self.c * v[j] - self.s * v[i]
        return (out[0], out[1], out[2])

    def back(self, v: Vec3) -> Vec3:
        i, j = (self.axis + 1) % 3, (self.axis + 2) % 3
        out = list(v)
        out[i] = self.c * v[i] - self.s * v[j]
        out[j] = self.s * v[i] + self.c * v[j]
        return (out[0], out[1], out[2])

    def tensor_back(self, t: Symmetric) -> Symmetric:
        k, i, j = self.axis, (self.axis + 1) % 3, (self.axis + 2) % 3
        rows = t.rows()
        ii, jj, ij = rows[i][i], rows[j][j], rows[i][j]
        # With w = s (ii - jj) + 2 c ij: ii' = ii - s w, jj' = jj + s w, ij' = c w - ij.
        w = self.s * (ii - jj) + self.c * (2.0 * ij)
        sw = self.s * w
        out = [list(row) for row in rows]
        out[i][i], out[j][j] = ii - sw, jj + sw
        out[i][j] = out[j][i] = self.c * w - ij
        out[i][k] = out[k][i] = self.c * rows[i][k] - self.s * rows[j][k]
        out[j][k] = out[k][j] = self.s * rows[i][k] + self.c * rows[j][k]
        return Symmetric.from_rows(out)


@dataclass(frozen=True, slots=True)
class Matrix3:
    """A full rotation; `rows` are the child's axes in the parent's coordinates."""

    rows: Rows

    def into(self, v: Vec3) -> Vec3:
        a, b, c = (row[0] * v[0] + row[1] * v[1] + row[2] * v[2] for row in self.rows)
        return (a, b, c)

    def back(self, v: Vec3) -> Vec3:
        x, y, z = self.rows
        return add3(add3(scale3(v[0], x), scale3(v[1], y)), scale3(v[2], z))

    def tensor_back(self, t: Symmetric) -> Symmetric:
        columns = [self.back(row) for row in t.rows()]  # columns of E^T T
        a, b, c = (self.back((columns[0][i], columns[1][i], columns[2][i])) for i in range(3))
        return Symmetric.from_rows((a, b, c))


@dataclass(frozen=True, slots=True)
class Translation:
    """The child's origin at `offset` in the parent's coordinates."""

    offset: Vec3


Move = Turn | Matrix3 | Translation


@dataclass(frozen=True, slots=True)
class Transform:
    """Moves from parent to child, applied in order."""

    moves: tuple[Move, ...] = ()

    def then(self, moves: Sequence[Move]) -> Transform:
        return Transform(self.moves + tuple(moves))

    def motion(self, m: Motion) -> Motion:
        """A motion vector of the parent's frame, in the child's."""
        ang, lin = m.ang, m.lin
        for move in self.moves:
            if isinstance(move, Translation):
                lin = add3(lin, cross3(ang, move.offset))
            else:
                ang, lin = move.into(ang), move.into(lin)
        return Motion(ang, lin)

    def force_back(self, f: Force) -> Force:
        """A force vector of the child's frame, in the parent's."""
        ang, lin = f.ang, f.lin
        for move in reversed(self.moves):
            if isinstance(move, Translation):
                ang = add3(ang, cross3(move.offset, lin))
            else:
                ang, lin = move.back(ang), move.back(lin)
        return Force(ang, lin)

    def moment_back(self, v: Vec3) -> Vec3:
        """A free vector (a pure moment) of the child's frame, in the parent's."""
        for move in reversed(self.moves):
            if not isinstance(move, Translation):
                v = move.back(v)
        return v

    def inertia_back(self, inertia: BodyInertia) -> BodyInertia:
        """The inertia of a body given in the child's frame, in the parent's."""
        for move in reversed(self.moves):
            if isinstance(move, Translation):
                inertia = inertia.moved(move.offset)
            else:
                inertia = BodyInertia(
                    inertia.mass, move.back(inertia.first), move.tensor_back(inertia.second)
                )
        return inertia

    def tensor_back(self, t: Symmetric, h: Vec3) -> tuple[Symmetric, Vec3]:
        """Second moments `t` with their first moment `h`, both of zero mass, in the parent's frame."""
        for move in reversed(self.moves):
            if isinstance(move, Translation):
                t = shift_tensor(t, h, move.offset)
            else:
                t, h = move.tensor_back(t), move.back(h)
        return t, h

    def point_back(self, p: Vec3) -> Vec3:
        """A point given in the child's frame, in the parent's."""
        for move in reversed(self.moves):
            p = add3(p, move.offset) if isinstance(move, Translation) else move.back(p)
        return p

    def vector_into(self, v: Vec3) -> Vec3:
        """A free vector of the parent's frame, in the child's."""
        for move in self.moves:
            if not isinstance(move, Translation):
                v = move.into(v)
        return v

    def matrix(self) -> list[list[Scalar]]:
        """The 6x6 motion transform, angular first; its zeros are the morphology's sparsity."""
        basis = [Motion.of([1.0 if i == k else 0.0 for i in range(6)]) for k in range(6)]
        columns = [self.motion(e).scalars() for e in basis]
        return [[columns[j][i] for j in range(6)] for i in range(6)]
