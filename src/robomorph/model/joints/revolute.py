"""One turn about an axis: URDF's revolute and continuous (one coordinate, in radians)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from robomorph.model.joints.base import JointType
from robomorph.model.manifolds import Flat
from robomorph.model.pose import snapped_angle
from robomorph.spatial import BodyInertia, Motion, Move, Scalar, Symmetric, Turn, cos, sin


class Revolute(JointType):
    urdf_types = ("revolute", "continuous")
    manifold = Flat(1)
    turns = True
    slides = True
    unbounded_types = ("continuous",)
    coordinates = "one angle (rad)"
    rates = "its rate (rad/s)"
    about = "about any axis; `continuous` has no position limits"

    @property
    def subspace(self) -> tuple[Motion, ...]:
        return (Motion((0.0, 0.0, 1.0)),)

    def transform(self, q: Sequence[Scalar], turn: float) -> tuple[Move, ...]:
        c, s = _cos_sin(q[0], turn)
        return (Turn(2, c, s),)

    def standing(self, q: Sequence[float], snap: float) -> tuple[Move, ...]:
        return self.transform([0.0], snapped_angle(q[0], snap))  # exact for quarter turns

    def regroup(self, inertia: BodyInertia) -> tuple[BodyInertia, BodyInertia]:
        # Mass, first moment along z and one transverse inertia are symmetric about z, and a spin
        # about z gives them no momentum: they may be the parent's.
        j, h = inertia.second, inertia.first
        kept = BodyInertia(0.0, (h[0], h[1], 0.0), Symmetric(j.xx - j.yy, 0.0, j.zz, j.xy, j.xz, j.yz))
        moved = BodyInertia(inertia.mass, (0.0, 0.0, h[2]), Symmetric(j.yy, j.yy))
        return kept, moved


def _cos_sin(q: Scalar, turn: float) -> tuple[Scalar, Scalar]:
    """Cosine and sine of q + turn; quarter turns cost nothing."""
    quarters = round(turn / (math.pi / 2))
    if turn != quarters * math.pi / 2:
        return cos(q + turn), sin(q + turn)
    c, s = cos(q), sin(q)
    return ((c, s), (-s, c), (-c, -s), (s, -c))[quarters % 4]
