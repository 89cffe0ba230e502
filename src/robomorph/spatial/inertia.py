"""Symmetric 3x3 tensors and rigid-body inertias by their free parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robomorph.spatial.scalar import Scalar
from robomorph.spatial.vectors import ZERO3, Force, Motion, Vec3, add3, cross3, dot3, scale3, sub3


@dataclass(frozen=True, slots=True)
class Symmetric:
    """A symmetric 3x3 tensor: xx, yy, zz, xy, xz, yz."""

    xx: Scalar = 0.0
    yy: Scalar = 0.0
    zz: Scalar = 0.0
    xy: Scalar = 0.0
    xz: Scalar = 0.0
    yz: Scalar = 0.0

    def __add__(self, o: Symmetric) -> Symmetric:
        return Symmetric(*(a + b for a, b in zip(self.scalars(), o.scalars(), strict=True)))

    def apply(self, v: Vec3) -> Vec3:
        x, y, z = v
        return (
            self.xx * x + self.xy * y + self.xz * z,
            self.xy * x + self.yy * y + self.yz * z,
            self.xz * x + self.yz * y + self.zz * z,
        )

    def rows(self) -> tuple[Vec3, Vec3, Vec3]:
        return (
            (self.xx, self.xy, self.xz),
            (self.xy, self.yy, self.yz),
            (self.xz, self.yz, self.zz),
        )

    def scalars(self) -> tuple[Scalar, ...]:
        return (self.xx, self.yy, self.zz, self.xy, self.xz, self.yz)

    @classmethod
    def of(cls, six: Sequence[Scalar]) -> Symmetric:
        return cls(*six)

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[Scalar]]) -> Symmetric:
        """From a full 3x3; the upper triangle is read."""
        return cls(rows[0][0], rows[1][1], rows[2][2], rows[0][1], rows[0][2], rows[1][2])


def shift_tensor(t: Symmetric, h: Vec3, r: Vec3) -> Symmetric:
    """t + 2 (r.h) 1 - h r^T - r h^T: how second moments change when the origin moves by -r."""
    hx, hy, hz = h[0] * r[0], h[1] * r[1], h[2] * r[2]
    return Symmetric(
        t.xx + 2.0 * (hy + hz),
        t.yy + 2.0 * (hx + hz),
        t.zz + 2.0 * (hx + hy),
        t.xy - (h[0] * r[1] + h[1] * r[0]),
        t.xz - (h[0] * r[2] + h[2] * r[0]),
        t.yz - (h[1] * r[2] + h[2] * r[1]),
    )


@dataclass(frozen=True, slots=True)
class BodyInertia:
    """Mass, first moment (mass times centre of mass) and rotational inertia about the frame's origin."""

    mass: Scalar = 0.0
    first: Vec3 = ZERO3
    second: Symmetric = Symmetric()

    def __add__(self, o: BodyInertia) -> BodyInertia:
        return BodyInertia(self.mass + o.mass, add3(self.first, o.first), self.second + o.second)

    def apply(self, m: Motion) -> Force:
        """The momentum of a body moving with velocity `m`."""
        return Force(
            add3(self.second.apply(m.ang), cross3(self.first, m.lin)),
            sub3(scale3(self.mass, m.lin), cross3(self.first, m.ang)),
        )

    def moved(self, r: Vec3) -> BodyInertia:
        """The same body seen from an origin at -r (axes unchanged)."""
        middle = add3(self.first, scale3(0.5 * self.mass, r))
        return BodyInertia(
            self.mass,
            add3(self.first, scale3(self.mass, r)),
            shift_tensor(self.second, middle, r),
        )

    def kinetic_energy(self, m: Motion) -> Scalar:
        momentum = self.apply(m)
        return 0.5 * (dot3(momentum.ang, m.ang) + dot3(momentum.lin, m.lin))

    def scalars(self) -> tuple[Scalar, ...]:
        return (self.mass, *self.first, *self.second.scalars())

    @classmethod
    def of(cls, ten: Sequence[Scalar]) -> BodyInertia:
        return cls(ten[0], (ten[1], ten[2], ten[3]), Symmetric.of(ten[4:10]))
