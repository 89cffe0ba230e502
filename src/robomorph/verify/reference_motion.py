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
    """Jacobians and their rates at configurations q (B, nq) that change with qd (B, nv)."""

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

    def frame(self, name: str) -> tuple[Array, Array]:
        """A frame's Jacobian (B, 6, nv), linear first, and its rate."""
        model = self.reference.robot.model
        frame = model.frames[model.frame_index(name)]
        if frame.body == WORLD:
            none = np.zeros((len(self.q), 6, self.qd.shape[-1]))
            return none, none
        at = self.point(frame.body, frame.placement.translation)
        return np.concatenate(at[:2], axis=1), np.concatenate(at[2:], axis=1)


def _times(matrix: Array, vector: Array) -> Array:
    """(B, m, n) times (B, n)."""
    return np.asarray(np.einsum("bij,bj->bi", matrix, vector))


def _cross(columns: Array, vector: Array) -> Array:
    """Every column of (B, 3, n) times a vector (B, 3)."""
    return np.asarray(np.cross(columns, vector[:, :, None], axis=1))
