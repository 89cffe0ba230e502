"""What algorithms are told when they say what they should be (`algorithms/textbook.py` lists it)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.model.inertia import Inertia
from robomorph.verify.reference import Reference
from robomorph.verify.reference_joints import coriolis_of_armature, spring_energy
from robomorph.verify.reference_motion import MotionReference
from robomorph.verify.reference_step import stepped
from robomorph.verify.states import States

Array = npt.NDArray[Any]


class KnownBody(NamedTuple):
    """A body: its mass, its tensor (B, 3, 3) about its centre of mass, that centre (B, 3), and the
    Jacobians (B, 3, nv) of centre and rotation with their rates; in the world's axes."""

    mass: float
    tensor: Array
    center: Array
    linear: Array
    angular: Array
    linear_rate: Array
    angular_rate: Array


@dataclass(frozen=True)
class KnownStates(States):
    """A robot at those states, in plain NumPy: poses, Jacobians and their rates, and sums over bodies."""

    reference: Reference
    frame: str

    @property
    def links(self) -> tuple[str, ...]:
        return self.reference.robot.link_names

    @property
    def gravity(self) -> Array:
        return np.asarray(self.reference.robot.gravity)

    @cached_property
    def bodies(self) -> list[KnownBody]:
        out = []
        for i, body in enumerate(self.reference.robot.model.bodies):
            turned, inertia = self._motion.states.rotation[i], body.inertia
            tensor = turned @ inertia.tensor @ turned.transpose(0, 2, 1)
            center = self._motion.states.origin[i] + turned @ inertia.com
            out.append(KnownBody(inertia.mass, tensor, center, *self._motion.point(i, inertia.com)))
        standing = self.reference.robot.model.standing
        return out if standing.is_zero else [*out, self._at_rest(standing)]

    def _at_rest(self, inertia: Inertia) -> KnownBody:
        """What is fixed to the world, and part of the robot."""
        batch, still = len(self.q), np.zeros((len(self.q), 3, self.qd.shape[-1]))
        center, tensor = np.tile(inertia.com, (batch, 1)), np.tile(inertia.tensor, (batch, 1, 1))
        return KnownBody(inertia.mass, tensor, center, still, still, still, still)

    def pose(self, frame: str) -> Array:
        return self.reference.frame_pose(self.q, frame)

    def jacobian(self, frame: str) -> Array:
        return self.reference.frame_jacobian(self.q, frame)

    def jacobian_rate(self, frame: str) -> Array:
        return self._motion.frame(frame)[1]

    def mass_matrix(self) -> Array:
        return self.reference.mass_matrix(self.q)

    def inverse_dynamics(self, qdd: Array) -> Array:
        return self.reference.inverse_dynamics(self.q, self.qd, qdd)

    def coriolis_of_armature(self) -> Array:
        return coriolis_of_armature(self.reference.robot.model, self.qd)

    def spring_energy(self) -> Array:
        return spring_energy(self.reference.robot.model, self.q)

    def step(self, *, implicit: bool) -> dict[str, Array] | None:
        return stepped(self.reference, self.q, self.qd, self.tau, self.dt, implicit=implicit)

    @cached_property
    def _motion(self) -> MotionReference:
        return MotionReference(self.reference, self.q, self.qd)
