"""Rigid-body dynamics as in a textbook, in plain NumPy: what `robomorph compile` checks kernels against.

Poses are products of 4x4 matrices in the frames of the file, Jacobians stack joint axes, and torques follow
from the principle of virtual power with the accelerations of all bodies. Nothing here uses internal frames,
regrouped inertias, sweeps, tracing or compiled code; only the joint types are shared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.tree import coordinate_starts
from robomorph.model import WORLD, Body
from robomorph.model.joints import JOINT_TYPES
from robomorph.robot import Robot
from robomorph.spatial import Move, Translation, Turn
from robomorph.verify.reference_joints import aligned, own_masses, own_torques, unit_motions

Array = npt.NDArray[Any]


class BodyStates(NamedTuple):
    """For every body: rotation (B, 3, 3) and origin (B, 3) in the world, and the Jacobians (B, 3, nv) of
    its origin and its rotation, in the world's axes."""

    rotation: list[Array]
    origin: list[Array]
    linear: list[Array]
    angular: list[Array]


class BodyMotion(NamedTuple):
    """A body's origin, and velocity and acceleration of origin and rotation: (B, 3), in the world's axes."""

    origin: Array
    velocity: Array
    omega: Array
    acceleration: Array
    spin: Array


@dataclass(frozen=True)
class Reference:
    """The textbook's answers for one robot; every argument has one batch dimension, all in float64."""

    robot: Robot

    def bodies(self, q: Array) -> BodyStates:
        robot, model = self.robot, self.robot.model
        states = BodyStates([], [], [], [])
        none = np.zeros((len(q), 3, robot.nv))
        starts = coordinate_starts(model)
        for i, body in enumerate(model.bodies):
            at_world = body.parent == WORLD
            above = np.broadcast_to(np.eye(3), (len(q), 3, 3)) if at_world else states.rotation[body.parent]
            place = np.zeros((len(q), 3)) if at_world else states.origin[body.parent]
            linear = none.copy() if at_world else states.linear[body.parent].copy()
            angular = none.copy() if at_world else states.angular[body.parent].copy()
            source, scale, offset = (i, 1.0, 0.0) if body.mimic is None else body.mimic
            start = starts[source]
            own = scale * q[:, start.nq : start.nq + JOINT_TYPES[body.kind].nq] + offset
            turn, shift = _joint_pose(body, own)
            rotation = above @ body.placement.rotation @ turn
            local = body.placement.translation + shift @ body.placement.rotation.T
            arm = np.einsum("bij,bj->bi", above, local)
            # The child's origin moves with the parent's, and by the parent's rotation about it.
            linear += np.cross(angular, arm[:, :, None], axis=1)
            for k, (spin, slide) in enumerate(unit_motions(body)):
                angular[:, :, start.nv + k] += scale * (rotation @ spin)
                linear[:, :, start.nv + k] += scale * (rotation @ slide)
            for have, new in zip(states, (rotation, place + arm, linear, angular), strict=True):
                have.append(new)
        return states

    def frame_pose(self, q: Array, name: str) -> Array:
        """Poses (B, 4, 4) of a frame in the world."""
        frame = self.robot.model.frames[self.robot.model.frame_index(name)]
        pose = np.tile(np.eye(4), (len(q), 1, 1))
        if frame.body != WORLD:
            states = self.bodies(q)
            pose[:, :3, :3], pose[:, :3, 3] = states.rotation[frame.body], states.origin[frame.body]
        return np.asarray(pose @ frame.placement.matrix)

    def frame_jacobian(self, q: Array, name: str) -> Array:
        """(B, 6, nv): velocity of a frame's origin and its angular velocity, in the world's axes."""
        frame = self.robot.model.frames[self.robot.model.frame_index(name)]
        if frame.body == WORLD:
            return np.zeros((len(q), 6, self.robot.nv))
        states = self.bodies(q)
        angular, arm = states.angular[frame.body], states.rotation[frame.body] @ frame.placement.translation
        linear = states.linear[frame.body] + np.cross(angular, arm[:, :, None], axis=1)
        return np.concatenate([linear, angular], axis=1)

    def mass_matrix(self, q: Array) -> Array:
        """(B, nv, nv): the sum of J^T I J over all bodies."""
        states = self.bodies(q)
        total = np.zeros((len(q), self.robot.nv, self.robot.nv))
        for i, body in enumerate(self.robot.model.bodies):
            _, linear = _center(states, i, body)
            angular, rotation = states.angular[i], states.rotation[i]
            tensor = rotation @ body.inertia.tensor @ rotation.transpose(0, 2, 1)
            total += body.inertia.mass * linear.transpose(0, 2, 1) @ linear
            total += angular.transpose(0, 2, 1) @ tensor @ angular
        return total + own_masses(self.robot.model)

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Torques (B, nv): what the rates of all momenta and gravity do along each degree of freedom."""
        states = self.bodies(q)
        motions = self._motions(states, qd, qdd)
        tau = np.zeros_like(qd)
        for i, body in enumerate(self.robot.model.bodies):
            _, linear = _center(states, i, body)
            rotation, motion = states.rotation[i], motions[i]
            arm, omega = rotation @ body.inertia.com, motion.omega
            center = motion.acceleration + np.cross(motion.spin, arm) + np.cross(omega, np.cross(omega, arm))
            tensor = rotation @ body.inertia.tensor @ rotation.transpose(0, 2, 1)
            moment = _times(tensor, motion.spin) + np.cross(omega, _times(tensor, omega))
            tau += _times(linear.transpose(0, 2, 1), body.inertia.mass * (center - self.robot.gravity))
            tau += _times(states.angular[i].transpose(0, 2, 1), moment)
        return tau + own_torques(self.robot.model, q, qd, qdd)

    def _motions(self, states: BodyStates, qd: Array, qdd: Array) -> dict[int, BodyMotion]:
        """The motion of every body, and of the world, by index."""
        still = np.zeros((len(qd), 3))
        motions = {WORLD: BodyMotion(still, still, still, still, still)}
        starts = coordinate_starts(self.robot.model)
        for i, body in enumerate(self.robot.model.bodies):
            above = motions[body.parent]
            source, scale, _ = (i, 1.0, 0.0) if body.mimic is None else body.mimic
            own = slice(starts[source].nv, starts[source].nv + JOINT_TYPES[body.kind].nv)
            spins, slides = (np.array(units) for units in zip(*unit_motions(body), strict=True))
            turn, slide, turned, slid = (
                _times(states.rotation[i], scale * rate[:, own] @ units)
                for rate in (qd, qdd)
                for units in (spins, slides)
            )
            # Joint motions are constant in the body's axes, which turn with it.
            omega = above.omega + turn
            velocity = _times(states.linear[i], qd)
            acceleration = above.acceleration + np.cross(above.spin, states.origin[i] - above.origin)
            acceleration += np.cross(above.omega, velocity - above.velocity) + slid + np.cross(omega, slide)
            spin = above.spin + turned + np.cross(omega, turn)
            motions[i] = BodyMotion(states.origin[i], velocity, omega, acceleration, spin)
        return motions


def _center(states: BodyStates, i: int, body: Body) -> tuple[Array, Array]:
    """A body's centre of mass (B, 3) and its Jacobian (B, 3, nv)."""
    arm = states.rotation[i] @ body.inertia.com
    return states.origin[i] + arm, states.linear[i] + np.cross(states.angular[i], arm[:, :, None], axis=1)


def _times(matrices: Array, vectors: Array) -> Array:
    """Products (B, m) of matrices (B, m, n) and vectors (B, n)."""
    return np.asarray((matrices @ vectors[..., None])[..., 0])


def _joint_pose(body: Body, q: Array) -> tuple[Array, Array]:
    """Rotation (B, 3, 3) and shift (B, 3) of a body in its joint's frame at coordinates q (B, nq)."""
    align = aligned(body)
    rotation, shift = np.tile(np.eye(3), (len(q), 1, 1)), np.zeros((len(q), 3))
    for move in JOINT_TYPES[body.kind].transform(list(q.T), 0.0):
        if isinstance(move, Translation):
            offset = np.stack([np.broadcast_to(x, len(q)) for x in move.offset], axis=-1)
            shift = shift + np.einsum("bij,bj->bi", rotation, offset)
        else:
            rotation = rotation @ _move_rotation(move, len(q))
    return align @ rotation @ align.T, shift @ align.T


def _move_rotation(move: Move, count: int) -> Array:
    """The child's axes as columns, (B, 3, 3)."""
    if isinstance(move, Turn):
        i, j = (move.axis + 1) % 3, (move.axis + 2) % 3
        out = np.tile(np.eye(3), (count, 1, 1))
        out[:, i, i] = out[:, j, j] = move.c
        out[:, j, i], out[:, i, j] = move.s, -np.asarray(move.s)
        return out
    assert not isinstance(move, Translation)
    rows = [np.stack([np.broadcast_to(x, count) for x in row], axis=-1) for row in move.rows]
    return np.stack(rows, axis=-1)
