"""What moves as in a textbook, in plain NumPy: Jacobians of every body and how they change along the motion.

All in the world's axes. A body's Jacobians are its parent's, carried along, and columns of its own joint,
which turn with the body; differentiating that gives their rates without any differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.model import WORLD
from robomorph.model.inertia import Inertia
from robomorph.verify.reference import BodyStates, Reference

Array = npt.NDArray[Any]


class PointMotion(NamedTuple):
    """Jacobians (B, 3, nv) of a point of a body and of its rotation, and their rates."""

    linear: Array
    angular: Array
    linear_rate: Array
    angular_rate: Array


@dataclass(frozen=True)
class MotionReference:
    """The textbook's answers at configurations q (B, nq) that change with qd (B, nv)."""

    reference: Reference
    q: Array
    qd: Array

    @cached_property
    def states(self) -> BodyStates:
        return self.reference.bodies(self.q)

    @cached_property
    def origins(self) -> list[PointMotion]:
        """The motion of every body's origin."""
        none = np.zeros((len(self.q), 3, self.qd.shape[-1]))
        rest = PointMotion(none, none, none, none)
        out: list[PointMotion] = []
        for i, body in enumerate(self.reference.robot.model.bodies):
            at_world = body.parent == WORLD
            above = rest if at_world else out[body.parent]
            arm = self.states.origin[i] - (0.0 if at_world else self.states.origin[body.parent])
            linear, angular = self.states.linear[i], self.states.angular[i]
            spin = _times(angular, self.qd)
            slides = linear - above.linear - _cross(above.angular, arm)
            out.append(
                PointMotion(
                    linear,
                    angular,
                    above.linear_rate
                    + _cross(above.angular_rate, arm)
                    + _cross(above.angular, _times(linear - above.linear, self.qd))
                    - _cross(slides, spin),
                    above.angular_rate - _cross(angular - above.angular, spin),
                )
            )
        return out

    def point(self, body: int, place: Array) -> PointMotion:
        """The motion of a point at `place` (3,) in a body's frame."""
        at, arm = self.origins[body], self.states.rotation[body] @ place
        turned = np.cross(_times(at.angular, self.qd), arm)
        return PointMotion(
            at.linear + _cross(at.angular, arm),
            at.angular,
            at.linear_rate + _cross(at.angular_rate, arm) + _cross(at.angular, turned),
            at.angular_rate,
        )

    # --- frames ------------------------------------------------------------------------------------

    def _frame(self, name: str) -> tuple[Array, Array]:
        """Jacobian (B, 6, nv) and its rate."""
        model = self.reference.robot.model
        frame = model.frames[model.frame_index(name)]
        if frame.body == WORLD:
            none = np.zeros((len(self.q), 6, self.qd.shape[-1]))
            return none, none
        at = self.point(frame.body, frame.placement.translation)
        return np.concatenate(at[:2], axis=1), np.concatenate(at[2:], axis=1)

    def frame_velocity(self, name: str) -> Array:
        return _times(self._frame(name)[0], self.qd)

    def frame_acceleration(self, name: str, qdd: Array) -> Array:
        return _times(self._frame(name)[0], qdd) + self.jacobian_rate(name)

    def jacobian_rate(self, name: str) -> Array:
        return _times(self._frame(name)[1], self.qd)

    def link_poses(self) -> Array:
        """(B, n_links, 4, 4)."""
        names = self.reference.robot.link_names
        return np.stack([self.reference.frame_pose(self.q, name) for name in names], axis=1)

    # --- dynamics: J^T times force and moment, summed over bodies -------------------------------------

    def _masses(self) -> list[tuple[Inertia, Array, PointMotion]]:
        """Inertia, its rotational part in the world's axes (B, 3, 3), and the centre's motion, by body."""
        bodies = self.reference.robot.model.bodies
        turns = self.states.rotation
        return [
            (b.inertia, r @ b.inertia.tensor @ r.transpose(0, 2, 1), self.point(i, b.inertia.com))
            for i, (b, r) in enumerate(zip(bodies, turns, strict=True))
        ]

    def gravity_torque(self) -> Array:
        gravity = self.reference.robot.gravity
        total = np.zeros_like(self.qd)
        for inertia, _, at in self._masses():
            total -= inertia.mass * np.einsum("bij,i->bj", at.linear, gravity)
        return total

    def coriolis_matrix(self) -> Array:
        """Of a turning body: (w x I - I w x - (I w) x) / 2, whose symmetric part is half of dI/dt."""
        total = np.zeros((len(self.q), *self.qd.shape[-1:] * 2))
        for inertia, tensor, at in self._masses():
            spin = _times(at.angular, self.qd)
            w = _skew(spin)
            turning = 0.5 * (w @ tensor - tensor @ w - _skew(_times(tensor, spin)))
            total += inertia.mass * _transposed(at.linear) @ at.linear_rate
            total += _transposed(at.angular) @ (tensor @ at.angular_rate + turning @ at.angular)
        return total

    def centroidal_momentum_matrix(self) -> Array:
        """(B, 6, nv), linear first."""
        bodies, parts = self.reference.robot.model.bodies, self._masses()
        places = [
            o + r @ b.inertia.com
            for b, r, o in zip(bodies, self.states.rotation, self.states.origin, strict=True)
        ]
        model = self.reference.robot.model
        moment = sum(p[0].mass * x for p, x in zip(parts, places, strict=True))
        center = (moment + model.standing.first_moment) / model.mass
        total = np.zeros((len(self.q), 6, self.qd.shape[-1]))
        for (inertia, tensor, at), place in zip(parts, places, strict=True):
            push = inertia.mass * at.linear
            total[:, :3] += push
            total[:, 3:] += tensor @ at.angular - _cross(push, place - center)
        return total

    def centroidal_momentum(self) -> Array:
        return _times(self.centroidal_momentum_matrix(), self.qd)


def _times(matrix: Array, vector: Array) -> Array:
    """(B, m, n) times (B, n)."""
    return np.asarray(np.einsum("bij,bj->bi", matrix, vector))


def _transposed(matrix: Array) -> Array:
    return np.asarray(matrix.transpose(0, 2, 1))


def _cross(columns: Array, vector: Array) -> Array:
    """Every column of (B, 3, n) times a vector (B, 3)."""
    return np.asarray(np.cross(columns, vector[:, :, None], axis=1))


def _skew(vector: Array) -> Array:
    """(B, 3, 3) with _skew(a) b = a x b."""
    return np.asarray(np.cross(vector[:, None, :], np.eye(3)).transpose(0, 2, 1))
