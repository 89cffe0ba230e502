"""What robomorph asks of a joint type. No algorithm tests for a type: it asks here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from robomorph.spatial import BodyInertia, Motion, Move, Scalar

Array = npt.NDArray[Any]


class JointType(ABC):
    """A joint in its own frame: its axis, if it has one, is the frame's z axis.

    The motion subspace is constant in the child's frame, so the velocity bias of every type is
    zero; a configuration changes by steps in that subspace (`integrate`).
    """

    urdf_types: ClassVar[tuple[str, ...]]
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
    # What a configuration is, for messages, and which of its coordinates form a unit vector.
    coordinates: ClassVar[str]
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
        return [0.0] * self.nq

    def integrate(self, q: Array, dq: Array) -> Array:
        """The configuration reached from `q` (..., nq) by the tangent step `dq` (..., nv)."""
        return np.asarray(q + dq)

    def difference(self, q0: Array, q1: Array) -> Array:
        """The tangent step (..., nv) that leads from `q0` to `q1` (..., nq)."""
        return np.asarray(q1 - q0)

    def random(self, rng: np.random.Generator, lower: float, upper: float, shape: tuple[int, ...]) -> Array:
        """Random configurations (*shape, nq) inside the limits; unlimited ones in a sensible range."""
        lower, upper = max(lower, -np.pi), min(upper, np.pi)
        return rng.uniform(min(lower, upper), max(lower, upper), (*shape, self.nq))
