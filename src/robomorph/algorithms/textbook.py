"""What an algorithm's yardstick may be made of: formulas of a textbook in plain NumPy, without our sweeps.

`verify/textbook.py` answers. An entry's `textbook` is a function of it; so an algorithm says by itself what
it should be, without knowing who computes that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy.typing as npt

Array = npt.NDArray[Any]


class TextbookBody(Protocol):
    """A body at B states, in the world's axes: `mass` (kg), its inertia `tensor` (B, 3, 3) about its
    centre of mass, that `center` (B, 3), and Jacobians (B, 3, nv) of the centre and of the body's rotation
    with their time derivatives."""

    @property
    def mass(self) -> float: ...
    @property
    def tensor(self) -> Array: ...
    @property
    def center(self) -> Array: ...
    @property
    def linear(self) -> Array: ...
    @property
    def angular(self) -> Array: ...
    @property
    def linear_rate(self) -> Array: ...
    @property
    def angular_rate(self) -> Array: ...


class Textbook(Protocol):
    """A robot at B random states q (B, nq), qd, qdd, tau (B, nv), dt (B,); all in float64 and the world's
    axes."""

    @property
    def q(self) -> Array: ...
    @property
    def qd(self) -> Array: ...
    @property
    def qdd(self) -> Array: ...
    @property
    def tau(self) -> Array: ...
    @property
    def dt(self) -> Array:
        """Lengths of steps in time, s."""

    @property
    def frame(self) -> str:
        """The frame that is asked about."""

    @property
    def links(self) -> Sequence[str]:
        """All links of the description, in its order."""

    @property
    def gravity(self) -> Array:
        """(3,), m/s^2."""

    @property
    def bodies(self) -> Sequence[TextbookBody]:
        """Everything that has mass and is part of the robot: sums over it give most of mechanics."""

    def pose(self, frame: str) -> Array:
        """(B, 4, 4) in the world."""

    def jacobian(self, frame: str) -> Array:
        """(B, 6, nv): linear, at the frame's origin, then angular."""

    def jacobian_rate(self, frame: str) -> Array:
        """(B, 6, nv): its time derivative."""

    def mass_matrix(self) -> Array:
        """(B, nv, nv)."""

    def coriolis_of_armature(self) -> Array:
        """(B, nv, nv): the part of the Coriolis matrix that no body has."""

    def spring_energy(self) -> Array:
        """(B,) J that springs of joints hold, where they are part of the dynamics."""

    def inverse_dynamics(self, qdd: Array) -> Array:
        """Torques (B, nv) at q, qd and these accelerations."""

    def step(self, *, implicit: bool) -> Mapping[str, Array] | None:
        """`q_next` (B, nq) and `qd_next` (B, nv) after a step in time; drag of joints is taken at the speed
        after it (implicit) or before it. None where a joint type steps in a way of its own."""


def times(matrix: Array, vector: Array) -> Array:
    """(B, m, n) times (B, n)."""
    product: Array = (matrix @ vector[..., None])[..., 0]
    return product
