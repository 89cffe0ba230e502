"""The choice of internal frames.

Each joint's axis becomes z. About that axis the frame may still turn, and along it slide: both are
chosen so that the constant transform to the main child is a single turn about x with few
translations (Denavit-Hartenberg placement, generalised to trees). Floating and planar joints keep
the user's frame, because velocities are given in it.

Frames are chosen, never the robot changed: whatever the choice, the transforms between frames are those of
the model to within rounding. Only what the products of this file may have left in place of a zero is dropped.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.model import Model, Pose
from robomorph.model.joints import JOINT_TYPES, JointType
from robomorph.model.pose import axis_frame
from robomorph.spatial import Move, Translation, Turn

Array = npt.NDArray[Any]

# What rounding may leave of an entry of a rotation that should be 0, and beside the lengths that were added
# up, of a length that should be. Angles that are meant to be right angles are made so by the model (snap).
ROUNDING = 16 * sys.float_info.epsilon
# Origins slide at most so many times the lengths at their body.
_FAR = 10.0


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
    x, y = (float(v) for v in child.translation[:2])
    if math.hypot(*child.rotation[:2, 2]) > ROUNDING:
        body.turn = zxz(child.rotation)[0]
    elif (distance := math.hypot(x, y)) > _length_rounding(bodies, body.main):
        body.turn = direction(x / distance, y / distance)


def _fit_slides(bodies: list[_Body]) -> None:
    """Slide origins along their axes wherever that removes entries of constant translations."""
    slides = [0.0] * len(bodies)
    base, along = (
        zip(*(_linear_offset(bodies, i) for i in range(len(bodies))), strict=True) if bodies else ((), ())
    )
    children: list[list[int]] = [[] for _ in bodies]
    for i, body in enumerate(bodies):
        if body.parent >= 0:
            children[body.parent].append(i)
    # Nearly parallel axes meet kilometres away: an origin there would cost digits in every inertia.
    lengths = [float(np.linalg.norm(x)) if bodies[i].parent >= 0 else 0.0 for i, x in enumerate(base)]
    reach = [_FAR * (lengths[i] + sum(lengths[child] for child in children[i])) for i in range(len(bodies))]

    def offset(i: int) -> Array:
        shift = slides[bodies[i].parent] if bodies[i].parent >= 0 else 0.0
        return np.asarray(base[i] + along[i] * slides[i] - np.array([0.0, 0.0, shift]))

    def entries(i: int) -> int:
        size = np.linalg.norm(base[i]) + abs(slides[i])
        size += abs(slides[bodies[i].parent]) if bodies[i].parent >= 0 else 0.0
        return int(np.count_nonzero(np.abs(offset(i)) > ROUNDING * size))

    def nonzeros(i: int) -> int:
        # A translation from the world costs nothing in dynamics, so it does not count.
        return sum(entries(j) for j in ([i] if bodies[i].parent >= 0 else []) + children[i])

    for _ in range(3):
        for i, body in enumerate(bodies):
            if not body.joint.slides or body.joint.moves:
                continue
            own = offset(i)
            roots = [slides[i] - own[k] / along[i][k] for k in range(3) if abs(along[i][k]) > ROUNDING]
            roots += [slides[i] + offset(child)[2] for child in children[i]]
            best = (nonzeros(i), 0, slides[i])
            for rank, root in enumerate(roots, 1):
                if abs(root) > reach[i]:
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


def _length_rounding(bodies: list[_Body], i: int) -> float:
    """What rounding may leave of a length (m) that is 0 in `_joint_frame`."""
    body = bodies[i]
    slides = [body.slide, bodies[body.parent].slide if body.parent >= 0 else None]
    added = [body.placement.translation, *(slide for slide in slides if slide is not None)]
    return ROUNDING * float(sum(np.linalg.norm(part) for part in added))


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
        own = near_quarter(c + body.turn)
        angles, turn = [(2, a), (0, b)], own
        if body.joint.moves or not body.joint.turns:  # the placement turns instead
            angles, turn = [*angles, (2, own)], 0.0
        moves: list[Move] = []
        least = _length_rounding(bodies, i)
        offset = [0.0 if abs(x) <= least else float(x) for x in frame.translation]
        if any(offset):
            moves.append(Translation((offset[0], offset[1], offset[2])))
        moves += [Turn(axis, *cos_sin(x)) for axis, x in angles if cos_sin(x) != (1.0, 0.0)]
        placements.append(tuple(moves))
        turns.append(turn)
    return FramePlan(tuple(placements), tuple(turns), tuple(body.internal.inverse() for body in bodies))


def zxz(rotation: Array) -> tuple[float, float, float]:
    """Angles with R = Rz(a) Rx(b) Rz(c) to within rounding; a = 0 where the z axes are parallel."""
    x, y = (float(v) for v in rotation[:2, 2])
    a = direction(-y, x) if math.hypot(x, y) > ROUNDING else 0.0
    # What a left over is read for b and c: where b is small, a and c are ill-defined, but not a + c.
    rest = _rot_z(a).T @ rotation
    return a, direction(rest[2, 2], -rest[1, 2]), direction(rest[0, 0], -rest[0, 1])


def direction(cosine: float, sine: float) -> float:
    """The angle in (-pi, pi] with this cosine and sine; a multiple of pi/2 if one of them is rounding."""
    if abs(sine) <= ROUNDING:
        return 0.0 if cosine > 0.0 else math.pi
    return math.copysign(math.pi / 2, sine) if abs(cosine) <= ROUNDING else math.atan2(sine, cosine)


def near_quarter(angle: float) -> float:
    """The angle in [-pi, pi], exactly a multiple of pi/2 if it is one but for rounding."""
    angle = math.remainder(angle, 2 * math.pi)
    quarters = round(angle / (math.pi / 2))
    return quarters * math.pi / 2 if abs(angle - quarters * math.pi / 2) <= ROUNDING else angle


def cos_sin(angle: float) -> tuple[float, float]:
    """Cosine and sine, exact at multiples of pi/2."""
    quarters = round(angle / (math.pi / 2))
    if angle == quarters * math.pi / 2:
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarters % 4]
    return math.cos(angle), math.sin(angle)


def _rot_z(angle: float) -> Array:
    c, s = cos_sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
