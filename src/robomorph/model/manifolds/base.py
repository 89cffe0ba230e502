"""What a joint type's manifold answers. A solver that steps configurations by itself (inverse kinematics)
knows those of this package by their class, and refuses others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from robomorph.errors import ModelError
from robomorph.model.manifolds.advance import Step, StepSlopes
from robomorph.spatial import Scalar

Array = npt.NDArray[Any]


class Manifold(ABC):
    """A set of configurations with `nq` coordinates and `nv` directions to go."""

    nq: int
    nv: int
    # Which of the coordinates form a vector of unit length.
    unit_part: ClassVar[slice] = slice(0, 0)

    @abstractmethod
    def neutral(self) -> list[float]:
        """(nq,) the configuration that is no motion."""

    @abstractmethod
    def integrate(self, q: Array, dq: Array) -> Array:
        """The configuration reached from `q` (..., nq) by the tangent step `dq` (..., nv)."""

    @abstractmethod
    def difference(self, q0: Array, q1: Array) -> Array:
        """The tangent step (..., nv) that leads from `q0` to `q1` (..., nq)."""

    def tangent(self, q: Sequence[Scalar]) -> list[list[Scalar]]:
        """(nq, nv) how coordinates change with a small step: the derivative of `integrate` by its step, at
        none. Over scalars of any kind, so that programs are differentiated along the manifold."""
        raise ModelError(
            f"manifold {self!r}: it does not say how its coordinates change with a small step: give it a "
            "method tangent(q) -> rows (nq, nv) for derivative kernels"
        )

    def advance(self, step: Step) -> tuple[list[Scalar], list[Scalar]]:
        """Coordinates (nq,) and rates (nv,) after a step in time (advance.py), over scalars of any kind."""
        raise ModelError(
            f"manifold {self!r}: it does not say where a step in time leads: give it methods advance(step) "
            "and advance_slopes(step)"
        )

    def advance_slopes(self, step: Step) -> StepSlopes:
        """Derivatives of `advance`."""
        raise ModelError(f"manifold {self!r}: expected a method advance_slopes(step) beside advance(step)")

    @abstractmethod
    def random(self, rng: np.random.Generator, lower: float, upper: float, shape: tuple[int, ...]) -> Array:
        """Random configurations (*shape, nq) inside the limits; unlimited ones in a sensible range."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self.nq))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
