"""What robomorph asks of a joint type. No algorithm tests for a type: it asks here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from robomorph.errors import ModelError
from robomorph.model.manifolds import Flat, Manifold
from robomorph.model.manifolds.advance import Step, StepSlopes
from robomorph.model.manifolds.base import Array
from robomorph.spatial import BodyInertia, Motion, Move, Scalar

# What a type that does not name its manifold must leave alone for its coordinates to be known to add.
_NOT_FLAT = frozenset({"integrate", "difference", "unit_part"})


class JointType(ABC):
    """A joint in its own frame: its axis, if it has one, is the frame's z axis.

    The motion subspace is constant in the child's frame, so the velocity bias of every type is
    zero; a configuration changes by steps in that subspace (`integrate`).
    """

    urdf_types: ClassVar[tuple[str, ...]]
    # Where its configurations live; `nq`, `nv` and `unit_part` follow from it. A type that names none and
    # gives `nq` and `nv` has coordinates that simply add, unless it says otherwise by an `integrate` of its
    # own: then nobody knows, and what steps configurations by itself (inverse kinematics) refuses it.
    manifold: ClassVar[Manifold | None] = None
    nq: ClassVar[int]  # coordinates
    nv: ClassVar[int]  # degrees of freedom
    # Is the joint symmetric about z: may the child's internal frame turn about it by a constant
    # angle (handed back to `transform` as `turn`)?
    turns: ClassVar[bool] = False
    # May the child's internal origin slide along z without changing `transform`?
    slides: ClassVar[bool] = False
    # May the child's internal origin be placed anywhere without changing `transform`?
    moves: ClassVar[bool] = False
    # Is the axis of a URDF joint used (and turned onto z)?
    has_axis: ClassVar[bool] = True
    # Is the axis z of the joint frame whatever the description says (as Pinocchio has it)?
    axis_is_z: ClassVar[bool] = False
    # Which of its URDF names mean that positions have no limits?
    unbounded_types: ClassVar[tuple[str, ...]] = ()
    # What a configuration is, for messages and the docs; what a velocity is and how it moves, for the docs.
    coordinates: ClassVar[str]
    rates: ClassVar[str] = ""
    about: ClassVar[str] = ""
    # Which of its coordinates form a unit vector.
    unit_part: ClassVar[slice] = slice(0, 0)

    @property
    @abstractmethod
    def subspace(self) -> tuple[Motion, ...]:
        """One unit motion per degree of freedom, in the child's frame, constant."""

    @abstractmethod
    def transform(self, q: Sequence[Scalar], turn: float) -> tuple[Move, ...]:
        """Moves from the joint frame to the child's frame; `q` has nq scalars, `turn` is a
        constant angle about z added by the choice of internal frames."""

    def standing(self, q: Sequence[float], snap: float) -> tuple[Move, ...]:
        """The moves of a joint held at `q`; angles within `snap` (rad) of a multiple of pi/2 are that."""
        del snap
        return self.transform(q, 0.0)

    def regroup(self, inertia: BodyInertia) -> tuple[BodyInertia, BodyInertia]:
        """Split a child's inertia into what this joint feels and what may as well be the parent's
        (given in the child's frame, the same for every configuration, without effect on any torque)."""
        return inertia, BodyInertia()

    def neutral(self) -> list[float]:
        return self._space().neutral()

    def integrate(self, q: Array, dq: Array) -> Array:
        """The configuration reached from `q` (..., nq) by the tangent step `dq` (..., nv)."""
        return self._space().integrate(q, dq)

    def difference(self, q0: Array, q1: Array) -> Array:
        """The tangent step (..., nv) that leads from `q0` to `q1` (..., nq)."""
        return self._space().difference(q0, q1)

    def tangent(self, q: Sequence[Scalar]) -> list[list[Scalar]]:
        """(nq, nv) the derivative of `integrate` by its step, at none, over scalars of any kind."""
        known = self.known_manifold
        if known is None:
            raise ModelError(
                f"joint type {type(self).__name__}: it steps configurations in a way of its own: "
                "derivative kernels need its `manifold`, or a method tangent(q) -> rows (nq, nv)"
            )
        return known.tangent(q)

    def advance(self, step: Step) -> tuple[list[Scalar], list[Scalar]]:
        """Coordinates (nq,) and rates (nv,) after a step in time, over scalars of any kind."""
        return self._stepped().advance(step)

    def advance_slopes(self, step: Step) -> StepSlopes:
        """Derivatives of `advance`."""
        return self._stepped().advance_slopes(step)

    def _stepped(self) -> Manifold:
        known = self.known_manifold
        if known is None:
            raise ModelError(
                f"joint type {type(self).__name__}: it steps configurations in a way of its own: "
                "steps in time need its `manifold`, or methods advance(step) and advance_slopes(step)"
            )
        return known

    def random(self, rng: np.random.Generator, lower: float, upper: float, shape: tuple[int, ...]) -> Array:
        """Random configurations (*shape, nq) inside the limits; unlimited ones in a sensible range."""
        return self._space().random(rng, lower, upper, shape)

    def _space(self) -> Manifold:
        if self._named is not None:
            return self._named
        if self.nq != self.nv:
            raise ModelError(
                f"joint type {type(self).__name__}: {self.nq} coordinates and {self.nv} degrees of freedom "
                "cannot simply add: name its `manifold`, or write neutral, integrate, difference and random"
            )
        return Flat(self.nq)

    @property
    def _named(self) -> Manifold | None:
        """The manifold that is named, unless a class below has changed its size."""
        named = self.manifold
        return named if named is not None and (named.nq, named.nv) == (self.nq, self.nv) else None

    @property
    def known_manifold(self) -> Manifold | None:
        """The manifold, if it is certain: named, or flat because nothing speaks against it."""
        for cls in type(self).__mro__:
            if cls is JointType:
                return Flat(self.nq) if self.nq == self.nv else None
            own = vars(cls)
            if own.get("manifold") is not None:
                return self._named
            if _NOT_FLAT & own.keys() or "manifold" in own:
                return None
        return None

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        named = vars(cls).get("manifold")
        if named is None:
            return
        if not isinstance(named, Manifold):
            raise ModelError(
                f"joint type {cls.__name__}: manifold: expected an instance such as Flat(1) or SO3(), "
                f"found {named!r}"
            )
        for name in ("nq", "nv", "unit_part"):
            written = vars(cls).get(name, getattr(named, name))
            if written != getattr(named, name):
                raise ModelError(
                    f"joint type {cls.__name__}: {name}: expected {getattr(named, name)} as its manifold "
                    f"{named!r} has it, found {written}: leave {name} out"
                )
            setattr(cls, name, getattr(named, name))
