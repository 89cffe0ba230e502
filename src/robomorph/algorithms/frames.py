"""The choice of internal frames.

Each joint's axis becomes z. About that axis the frame may still turn, and along it slide: both are
chosen so that the constant transform to the main child is a single turn about x with few
translations (Denavit-Hartenberg placement, generalised to trees). Floating and planar joints keep
the user's frame, because velocities are given in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.model import Model, Pose
from robomorph.model.joints import JOINT_TYPES, JointType
from robomorph.model.pose import axis_frame
from robomorph.spatial import Move, Translation, Turn

Array = npt.NDArray[Any]

# Angles this close (radians) to a right angle, and lengths this close (metres) to zero, are taken as
# exact: their effect is far below the accuracy of any model, their cost is not.
ANGLE_TOLERANCE = 1e-10
LENGTH_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class FramePlan:
    """For each body: constant moves to its joint frame, the turn handed to its joint, and the pose of
    the user's body frame in the internal one."""

    placements: tuple[tuple[Move, ...], ...]
    turns: tuple[float, ...]
    to_internal: tuple[Pose, ...]


@dataclass(slots=True)
class _Body:
    """Work space of the planner for one body."""

    joint: JointType
    parent: int
    placement: Pose  # joint frame in the parent's user frame
    align: Array  # (3, 3): the axis turned onto z, in the user's body frame
    turn: float = 0.0  # of the internal frame about z, after `align`
    slide: Array | None = None  # internal origin in the user's body frame
    main: int = -1  # the child this frame is fitted to

    @property
    def internal(self) -> Pose:
        """Pose of the internal frame in the user's body frame."""
        slide = np.zeros(3) if self.slide is None else self.slide
        return Pose(self.align @ _rot_z(self.turn), slide)


def plan_frames(model: Model, *, fit: bool = True) -> FramePlan:
    """Internal frames of every body. With `fit` they are fitted to the main children; without, only
    the axes are aligned."""
    bodies = _start(model)
    if fit:
        for body in bodies:
            _fit_turn(bodies, body)
        _fit_slides(bodies)
        for i, body in enumerate(bodies):
            if body.joint.moves:
                _bring_to_parent(bodies, i)
    return _finish(bodies)


def _start(model: Model) -> list[_Body]:
    bodies: list[_Body] = []
    size = [1] * len(model.bodies)
    for i in reversed(range(len(model.bodies))):
        if model.bodies[i].parent >= 0:
            size[model.bodies[i].parent] += size[i]
    for body in model.bodies:
        joint = JOINT_TYPES[body.kind]
        align = axis_frame(np.asarray(body.axis)) if joint.has_axis else np.eye(3)
        bodies.append(_Body(joint, body.parent, body.placement, align))
    for i, planned in enumerate(bodies):
        if planned.parent >= 0:
            parent = bodies[planned.parent]
            if parent.main < 0 or size[i] > size[parent.main]:
                parent.main = i
    return bodies


def _joint_frame(bodies: list[_Body], i: int) -> Pose:
    """Pose of body i's aligned joint frame (at its slide) in its parent's internal frame."""
    body = bodies[i]
    slide = np.zeros(3) if body.slide is None else body.slide
    joint = body.placement.compose(Pose(body.align, slide))
    return joint if body.parent < 0 else bodies[body.parent].internal.inverse().compose(joint)


def _fit_turn(bodies: list[_Body], body: _Body) -> None:
    """Turn the frame so that its main child's placement starts with a turn about x."""
    if not body.joint.turns or body.main < 0:
        return
    child = _joint_frame(bodies, body.main)
    axis = child.rotation[:, 2]
    if math.hypot(axis[0], axis[1]) > ANGLE_TOLERANCE:
        body.turn = snap_angle(zxz(child.rotation)[0])
    elif math.hypot(child.translation[0], child.translation[1]) > LENGTH_TOLERANCE:
        body.turn = snap_angle(math.atan2(child.translation[1], child.translation[0]))


def _fit_slides(bodies: list[_Body]) -> None:
    """Slide origins along their axes wherever that removes entries of constant translations."""
    slides = [0.0] * len(bodies)
    base, along = (
        zip(*(_linear_offset(bodies, i) for i in range(len(bodies))), strict=True) if bodies else ((), ())
    )
    # Nearly parallel axes meet kilometres away: an origin there would cost digits in every inertia.
    reach = float(sum(np.linalg.norm(x) for x in base))
    children: list[list[int]] = [[] for _ in bodies]
    for i, body in enumerate(bodies):
        if body.parent >= 0:
            children[body.parent].append(i)

    def offset(i: int) -> Array:
        shift = slides[bodies[i].parent] if bodies[i].parent >= 0 else 0.0
        return np.asarray(base[i] + along[i] * slides[i] - np.array([0.0, 0.0, shift]))

    def nonzeros(i: int) -> int:
        # A translation from the world costs nothing in dynamics, so it does not count.
        around = ([i] if bodies[i].parent >= 0 else []) + children[i]
        return sum(int(np.count_nonzero(np.abs(offset(j)) > LENGTH_TOLERANCE)) for j in around)

    for _ in range(3):
        for i, body in enumerate(bodies):
            if not body.joint.slides or body.joint.moves:
                continue
            own = offset(i)
            roots = [slides[i] - own[k] / along[i][k] for k in range(3) if abs(along[i][k]) > ANGLE_TOLERANCE]
            roots += [slides[i] + offset(child)[2] for child in children[i]]
            best = (nonzeros(i), 0, slides[i])
            for rank, root in enumerate(roots, 1):
                if abs(root) > reach:
                    continue
                slides[i] = float(root)
                best = min(best, (nonzeros(i), rank, float(root)))
            slides[i] = best[2]
    for body, slide in zip(bodies, slides, strict=True):
        if slide:
            body.slide = body.align[:, 2] * slide


def _linear_offset(bodies: list[_Body], i: int) -> tuple[Array, Array]:
    """Body i's origin in its parent's internal axes is base + along * (its slide) - z * (the parent's)."""
    body = bodies[i]
    frame = _joint_frame(bodies, i)
    return frame.translation, frame.rotation[:, 2] if body.joint.slides else np.zeros(3)


def _bring_to_parent(bodies: list[_Body], i: int) -> None:
    """Let a sliding body's origin coincide with its parent's at rest: its placement needs no offset."""
    body = bodies[i]
    parent = Pose.identity() if body.parent < 0 else bodies[body.parent].internal
    body.slide = body.placement.inverse().compose(parent).translation


def _finish(bodies: list[_Body]) -> FramePlan:
    placements: list[tuple[Move, ...]] = []
    turns: list[float] = []
    for i, body in enumerate(bodies):
        frame = _joint_frame(bodies, i)
        a, b, c = zxz(frame.rotation)
        own = snap_angle(c + body.turn)
        angles, turn = [(2, a), (0, b)], own
        if body.joint.moves or not body.joint.turns:  # the placement turns instead
            angles, turn = [*angles, (2, own)], 0.0
        moves: list[Move] = []
        offset = [0.0 if abs(x) < LENGTH_TOLERANCE else float(x) for x in frame.translation]
        if any(offset):
            moves.append(Translation((offset[0], offset[1], offset[2])))
        moves += [Turn(axis, *cos_sin(x)) for axis, x in angles if cos_sin(x) != (1.0, 0.0)]
        placements.append(tuple(moves))
        turns.append(turn)
    return FramePlan(tuple(placements), tuple(turns), tuple(body.internal.inverse() for body in bodies))


def zxz(rotation: Array) -> tuple[float, float, float]:
    """Angles with R = Rz(a) Rx(b) Rz(c), right angles exact; a = 0 where the z axes are parallel."""
    x, y, z = (float(v) for v in rotation[:, 2])
    sin_b = math.hypot(x, y)
    if sin_b <= ANGLE_TOLERANCE:
        b = 0.0 if z > 0 else math.pi
        return 0.0, b, snap_angle(math.atan2(-float(rotation[0, 1]), float(rotation[0, 0])))
    a = math.atan2(x, -y)
    c = math.atan2(float(rotation[2, 0]), float(rotation[2, 1]))
    return snap_angle(a), snap_angle(math.atan2(sin_b, z)), snap_angle(c)


def snap_angle(angle: float) -> float:
    """The angle in (-pi, pi], exactly a multiple of pi/2 if it is within the tolerance of one."""
    angle = math.remainder(angle, 2 * math.pi)
    quarters = round(angle / (math.pi / 2))
    return quarters * math.pi / 2 if abs(angle - quarters * math.pi / 2) <= ANGLE_TOLERANCE else angle


def cos_sin(angle: float) -> tuple[float, float]:
    """Cosine and sine, exact at multiples of pi/2."""
    quarters = round(angle / (math.pi / 2))
    if angle == quarters * math.pi / 2:
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarters % 4]
    return math.cos(angle), math.sin(angle)


def _rot_z(angle: float) -> Array:
    c, s = cos_sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
