"""What a joint asks for by itself, whatever it carries: the inertia of its motor.

A force is added to the joint's own, per degree of freedom; `q`, `qd` and `qdd` are the joint's own, too. What
follows a coordinate of another joint (mimic) so counts there by its scale and its square.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from robomorph.model import Body
from robomorph.model.joints.base import JointType
from robomorph.spatial import Motion, Scalar, cross3, dot3

Rows = list[list[Scalar]]


class JointForce(ABC):
    """One kind of force. `slopes` are its derivatives, [i][k] of force i by entry k; None: all are zero."""

    @property
    def inertia(self) -> Scalar:
        """What it adds to the diagonal of the mass matrix."""
        return 0.0

    @abstractmethod
    def at_rest(self, joint: JointType, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
        """The forces at zero acceleration."""

    def potential(self, q: Sequence[Scalar]) -> Scalar:
        """Energy (J) that the joint's place stores."""
        del q
        return 0.0

    def position_slopes(self, joint: JointType) -> Rows | None:
        """By the joint's place, in the tangent space: constant."""
        del joint
        return None

    def rate_slopes(self, joint: JointType, qd: Sequence[Scalar]) -> Rows | None:
        """By the joint's rates."""
        del joint, qd
        return None

    def swaying(self, joint: JointType, qd: Sequence[Scalar]) -> Rows | None:
        """The part of the Coriolis matrix: skew-symmetric, as `inertia` is constant."""
        del joint, qd
        return None

    def rate_curvature(
        self, joint: JointType, qd: Sequence[Scalar], weights: Sequence[Scalar]
    ) -> Rows | None:
        """Second derivatives by the joint's rates of the forces times `weights`."""
        del joint, qd, weights
        return None


@dataclass(frozen=True, slots=True)
class Armature(JointForce):
    """Inertia (kg m^2 or kg) that a joint's rates have beside the links': kinetic energy armature/2 |qd|^2.

    Where a joint slides in axes that turn with it (floating, planar), that energy makes a bias w x v, as it
    would for a point mass; MuJoCo, whose free joints have their linear velocity in the world's axes, agrees.
    """

    armature: Scalar

    @property
    def inertia(self) -> Scalar:
        return self.armature

    def at_rest(self, joint: JointType, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
        del q
        if joint.nv == 1:
            return [0.0]
        v = across(joint, qd)
        bias = cross3(v.ang, v.lin)
        return [self.armature * dot3(bias, unit.lin) for unit in joint.subspace]

    def rate_slopes(self, joint: JointType, qd: Sequence[Scalar]) -> Rows | None:
        if joint.nv == 1:
            return None
        v, units = across(joint, qd), joint.subspace
        turned = [(cross3(unit.ang, v.lin), cross3(v.ang, unit.lin)) for unit in units]
        return [[self.armature * (dot3(a, u.lin) + dot3(b, u.lin)) for a, b in turned] for u in units]

    def swaying(self, joint: JointType, qd: Sequence[Scalar]) -> Rows | None:
        if joint.nv == 1:
            return None
        w, units = across(joint, qd).ang, joint.subspace
        return [[self.armature * dot3(cross3(w, b.lin), a.lin) for b in units] for a in units]

    def rate_curvature(
        self, joint: JointType, qd: Sequence[Scalar], weights: Sequence[Scalar]
    ) -> Rows | None:
        del qd
        if joint.nv == 1:
            return None
        push = across(joint, weights).lin
        pairs = [
            [dot3(push, cross3(a.ang, b.lin)) + dot3(push, cross3(b.ang, a.lin)) for b in joint.subspace]
            for a in joint.subspace
        ]
        return [[self.armature * value for value in row] for row in pairs]


def joint_forces(body: Body) -> tuple[JointForce, ...]:
    """All that the joint of a body asks for by itself."""
    return (Armature(float(body.armature)),) if body.armature else ()


def across(joint: JointType, rates: Sequence[Scalar]) -> Motion:
    """The motion across a joint: its subspace times `rates`."""
    total = Motion()
    for unit, rate in zip(joint.subspace, rates, strict=True):
        total = total + unit.scaled(rate)
    return total
