"""3-vectors as tuples, and spatial motion and force vectors (angular part first)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robomorph.spatial.scalar import Scalar

Vec3 = tuple[Scalar, Scalar, Scalar]
ZERO3: Vec3 = (0.0, 0.0, 0.0)


def add3(a: Vec3, b: Vec3) -> Vec3:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def sub3(a: Vec3, b: Vec3) -> Vec3:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def neg3(a: Vec3) -> Vec3:
    return (-a[0], -a[1], -a[2])


def scale3(s: Scalar, a: Vec3) -> Vec3:
    return (s * a[0], s * a[1], s * a[2])


def cross3(a: Vec3, b: Vec3) -> Vec3:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dot3(a: Vec3, b: Vec3) -> Scalar:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@dataclass(frozen=True, slots=True)
class Motion:
    """Spatial motion vector: angular velocity, then linear velocity of the frame's origin."""

    ang: Vec3 = ZERO3
    lin: Vec3 = ZERO3

    def __add__(self, other: Motion) -> Motion:
        return Motion(add3(self.ang, other.ang), add3(self.lin, other.lin))

    def __sub__(self, other: Motion) -> Motion:
        return Motion(sub3(self.ang, other.ang), sub3(self.lin, other.lin))

    def scaled(self, s: Scalar) -> Motion:
        return Motion(scale3(s, self.ang), scale3(s, self.lin))

    def cross(self, m: Motion) -> Motion:
        """self x m: the rate of change of `m` when it moves with velocity `self`."""
        return Motion(cross3(self.ang, m.ang), add3(cross3(self.ang, m.lin), cross3(self.lin, m.ang)))

    def cross_force(self, f: Force) -> Force:
        """self x* f: the rate of change of `f` when it moves with velocity `self`."""
        return Force(add3(cross3(self.ang, f.ang), cross3(self.lin, f.lin)), cross3(self.ang, f.lin))

    def scalars(self) -> tuple[Scalar, ...]:
        return self.ang + self.lin

    @classmethod
    def of(cls, six: Sequence[Scalar]) -> Motion:
        """From six scalars, angular first."""
        return cls((six[0], six[1], six[2]), (six[3], six[4], six[5]))


@dataclass(frozen=True, slots=True)
class Force:
    """Spatial force vector: moment about the frame's origin, then force."""

    ang: Vec3 = ZERO3
    lin: Vec3 = ZERO3

    def __add__(self, other: Force) -> Force:
        return Force(add3(self.ang, other.ang), add3(self.lin, other.lin))

    def __sub__(self, other: Force) -> Force:
        return Force(sub3(self.ang, other.ang), sub3(self.lin, other.lin))

    def scaled(self, s: Scalar) -> Force:
        return Force(scale3(s, self.ang), scale3(s, self.lin))

    def dot(self, m: Motion) -> Scalar:
        """The power of this force along the motion `m`."""
        return dot3(self.ang, m.ang) + dot3(self.lin, m.lin)

    def scalars(self) -> tuple[Scalar, ...]:
        return self.ang + self.lin

    @classmethod
    def of(cls, six: Sequence[Scalar]) -> Force:
        """From six scalars, angular first."""
        return cls((six[0], six[1], six[2]), (six[3], six[4], six[5]))
