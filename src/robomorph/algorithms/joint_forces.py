"""What a joint asks for by itself, whatever it carries: the inertia of its motor, springs, damping, friction.

A force is added to what the joint must exert, per degree of freedom; `q`, `qd` and `qdd` are the joint's own,
too. So what follows a coordinate of another joint (mimic) counts there by its scale and its square.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from robomorph.model import Body, Passive
from robomorph.model.joints.base import JointType
from robomorph.spatial import Motion, Scalar, Vec3, cross3, dot3, sqrt
from robomorph.spatial.scalar import reciprocal

Rows = list[list[Scalar]]
Values = Sequence[Scalar]


class JointForce(ABC):
    """One kind of force. `slopes` are its derivatives, [i][k] of force i by entry k; None: all are zero."""

    def inertia(self, joint: JointType, qd: Values) -> list[Scalar]:
        """What it adds to the diagonal of the mass matrix."""
        del qd
        return [0.0] * joint.nv

    @abstractmethod
    def at_rest(self, joint: JointType, q: Values, qd: Values) -> list[Scalar]:
        """The forces at zero acceleration."""

    def potential(self, q: Values) -> Scalar:
        """Energy (J) that the joint's place stores."""
        del q
        return 0.0

    def drag(self, joint: JointType, qd: Values) -> list[Scalar] | None:
        """The part that slows the joint down, over its rates: force = drag * qd; None: there is none."""
        del joint, qd
        return None

    def drag_slopes(self, joint: JointType, qd: Values) -> list[Scalar] | None:
        """Derivatives of each entry of `drag` by its own rate."""
        del joint, qd
        return None

    def position_slopes(self, joint: JointType) -> Rows | None:
        """By the joint's place, in the tangent space: constant."""
        del joint
        return None

    def rate_slopes(self, joint: JointType, qd: Values, qdd: Values | None) -> Rows | None:
        """By the joint's rates; without accelerations they are zero."""
        del joint, qd, qdd
        return None

    def swaying(self, joint: JointType, qd: Values) -> Rows | None:
        """The part of the Coriolis matrix: skew-symmetric, as the inertia is constant."""
        del joint, qd
        return None

    def rate_curvature(self, joint: JointType, qd: Values, weights: Values) -> Rows | None:
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

    def inertia(self, joint: JointType, qd: Values) -> list[Scalar]:
        del qd
        return [self.armature] * joint.nv

    def at_rest(self, joint: JointType, q: Values, qd: Values) -> list[Scalar]:
        del q
        return [self.armature * x for x in sway(joint, qd)]

    def rate_slopes(self, joint: JointType, qd: Values, qdd: Values | None) -> Rows | None:
        del qdd
        rows = sway_slopes(joint, qd)
        return rows and [[self.armature * x for x in row] for row in rows]

    def swaying(self, joint: JointType, qd: Values) -> Rows | None:
        if joint.nv == 1:
            return None
        w, units = across(joint, qd).ang, joint.subspace
        return [[self.armature * dot3(cross3(w, b.lin), a.lin) for b in units] for a in units]

    def rate_curvature(self, joint: JointType, qd: Values, weights: Values) -> Rows | None:
        del qd
        if joint.nv == 1:
            return None
        push, units = across(joint, weights).lin, joint.subspace
        pairs = [[_bent(push, a, b) + _bent(push, b, a) for b in units] for a in units]
        return [[self.armature * value for value in row] for row in pairs]


@dataclass(frozen=True, slots=True)
class Damper(JointForce):
    """damping * qd (N m s/rad or N s/m) on every degree of freedom."""

    damping: Scalar

    def at_rest(self, joint: JointType, q: Values, qd: Values) -> list[Scalar]:
        del q
        return [self.damping * x for x in qd]

    def drag(self, joint: JointType, qd: Values) -> list[Scalar] | None:
        del qd
        return [self.damping] * joint.nv

    def rate_slopes(self, joint: JointType, qd: Values, qdd: Values | None) -> Rows | None:
        del qd, qdd
        return diagonal([self.damping] * joint.nv)


@dataclass(frozen=True, slots=True)
class Spring(JointForce):
    """stiffness * (q - rest) (N m/rad or N/m), of a joint with one coordinate."""

    stiffness: Scalar
    rest: Scalar

    def at_rest(self, joint: JointType, q: Values, qd: Values) -> list[Scalar]:
        return [self.stiffness * (q[0] - self.rest)]

    def potential(self, q: Values) -> Scalar:
        stretch = q[0] - self.rest
        return 0.5 * self.stiffness * (stretch * stretch)

    def position_slopes(self, joint: JointType) -> Rows | None:
        return [[self.stiffness]]


@dataclass(frozen=True, slots=True)
class Friction(JointForce):
    """friction * qd / sqrt(qd^2 + width^2) on every degree of freedom: the loss (N m or N) where the speed is
    well above the width (rad/s or m/s), and smooth through rest."""

    friction: Scalar
    width: Scalar

    def at_rest(self, joint: JointType, q: Values, qd: Values) -> list[Scalar]:
        del joint, q
        return [self.friction * (x * self._over(x)) for x in qd]

    def drag(self, joint: JointType, qd: Values) -> list[Scalar] | None:
        del joint
        return [self.friction * self._over(x) for x in qd]

    def drag_slopes(self, joint: JointType, qd: Values) -> list[Scalar] | None:
        del joint
        overs = [self._over(x) for x in qd]
        return [-(self.friction * (x * over)) * (over * over) for x, over in zip(qd, overs, strict=True)]

    def rate_slopes(self, joint: JointType, qd: Values, qdd: Values | None) -> Rows | None:
        # The width over the size, before it is squared: neither may leave the range of numbers.
        overs = [self._over(x) for x in qd]
        shares = [self.width * over for over in overs]
        return diagonal(
            [self.friction * over * (share * share) for over, share in zip(overs, shares, strict=True)]
        )

    def rate_curvature(self, joint: JointType, qd: Values, weights: Values) -> Rows | None:
        overs = [self._over(x) for x in qd]
        out = []
        for x, over, weight in zip(qd, overs, weights, strict=True):
            share = self.width * over
            out.append(-3.0 * self.friction * weight * (x * over) * (over * over) * (share * share))
        return diagonal(out)

    def _over(self, speed: Scalar) -> Scalar:
        return reciprocal(sqrt(speed * speed + self.width * self.width))


@dataclass(frozen=True, slots=True)
class ImplicitDrag(JointForce):
    """What drag adds over a step of `seconds` when it is taken at the speed after it, force = drag * (qd +
    seconds * acceleration): an inertia seconds * drag. Axes that turn with the joint count as standing still
    for the step, so the acceleration has what they add (`sway`)."""

    of: JointForce
    seconds: Scalar

    def inertia(self, joint: JointType, qd: Values) -> list[Scalar]:
        return [self.seconds * x for x in self.of.drag(joint, qd) or [0.0] * joint.nv]

    def at_rest(self, joint: JointType, q: Values, qd: Values) -> list[Scalar]:
        return [a * b for a, b in zip(self.inertia(joint, qd), sway(joint, qd), strict=True)]

    def rate_slopes(self, joint: JointType, qd: Values, qdd: Values | None) -> Rows | None:
        turning, slopes = sway_slopes(joint, qd), self.of.drag_slopes(joint, qd)
        rows = None
        if turning is not None:
            drags = self.inertia(joint, qd)
            rows = [[drag * x for x in row] for drag, row in zip(drags, turning, strict=True)]
        if slopes is None:
            return rows
        moved = [a + b for a, b in zip(sway(joint, qd), qdd or [0.0] * joint.nv, strict=True)]
        own = diagonal([self.seconds * (slope * a) for slope, a in zip(slopes, moved, strict=True)])
        return own if rows is None else add_rows(rows, own)


def joint_forces(body: Body, passive: Passive | None) -> tuple[JointForce, ...]:
    """All that the joint of a body asks for by itself: armature always, the others if the model says so."""
    forces: list[JointForce] = [Armature(float(body.armature))] if body.armature else []
    if passive is not None:
        forces += [Damper(float(body.damping))] if body.damping else []
        forces += [Spring(float(body.stiffness), float(body.rest))] if body.stiffness else []
        forces += [Friction(float(body.friction), float(passive.width))] if body.friction else []
    return tuple(forces)


def armature_of(forces: Sequence[JointForce]) -> tuple[JointForce, ...]:
    """Those that are part of the mass matrix."""
    return tuple(force for force in forces if isinstance(force, Armature))


def across(joint: JointType, rates: Values) -> Motion:
    """The motion across a joint: its subspace times `rates`."""
    total = Motion()
    for unit, rate in zip(joint.subspace, rates, strict=True):
        total = total + unit.scaled(rate)
    return total


def sway(joint: JointType, qd: Values) -> list[Scalar]:
    """What must be added to the changes of the rates for those seen in axes that do not turn: w x v."""
    if joint.nv == 1:
        return [0.0]
    v = across(joint, qd)
    bias = cross3(v.ang, v.lin)
    return [dot3(bias, unit.lin) for unit in joint.subspace]


def sway_slopes(joint: JointType, qd: Values) -> Rows | None:
    """Derivatives of `sway` by the rates; None: all zero."""
    if joint.nv == 1:
        return None
    v, units = across(joint, qd), joint.subspace
    turned = [(cross3(unit.ang, v.lin), cross3(v.ang, unit.lin)) for unit in units]
    return [[dot3(a, unit.lin) + dot3(b, unit.lin) for a, b in turned] for unit in units]


def diagonal(values: Values) -> Rows:
    """A matrix that has only these."""
    return [[x if i == k else 0.0 for k in range(len(values))] for i, x in enumerate(values)]


def add_rows(a: Rows, b: Rows) -> Rows:
    return [[x + y for x, y in zip(p, q, strict=True)] for p, q in zip(a, b, strict=True)]


def _bent(push: Vec3, a: Motion, b: Motion) -> Scalar:
    return dot3(push, cross3(a.ang, b.lin))
