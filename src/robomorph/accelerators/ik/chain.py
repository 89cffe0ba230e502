"""The path from the world to a frame as a chain of turns and slides, in frames that suit a chip.

Every joint is the same sequence of moves: an offset, a turn about x (the twist), a turn about z, a slide
along z. Frames are fitted to the path alone, so that joints of one kind often share offset and twist, which
then cost nothing. What stands before the first joint is the chain's base: the host carries targets into it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.frames import plan_frames
from robomorph.algorithms.tree import coordinate_starts
from robomorph.errors import ArgumentError
from robomorph.model import Model, Pose
from robomorph.model.joints import JOINT_TYPES
from robomorph.model.joints.prismatic import Prismatic
from robomorph.model.joints.revolute import Revolute
from robomorph.model.model import WORLD, Body, Frame
from robomorph.spatial import Move, Transform, Translation, Turn, Vec3

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class ChainJoint:
    """One joint. Its moves: `offset` (m), a turn about x with cosine and sine `twist`, a turn about z by its
    angle plus `turn` (rad; a sliding joint stands at `turn`), a slide along z. Its own coordinate is
    scale * q + shift of the chain's coordinate `coordinate`."""

    name: str
    slides: bool
    offset: Vec3
    twist: tuple[float, float]
    turn: float
    coordinate: int
    scale: float = 1.0
    shift: float = 0.0


@dataclass(frozen=True)
class Chain:
    """Joints from the base outward. `coordinates` are the entries of the robot's q that move them, with their
    limits; `base` is the chain's frame in the world, `tip` the target frame's origin in the last link."""

    name: str
    frame: str
    joints: tuple[ChainJoint, ...]
    coordinates: tuple[int, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    base: Pose
    tip: Vec3

    @property
    def coupled(self) -> bool:
        """Does a coordinate move several joints, or one otherwise than one to one?"""
        shared = len(self.coordinates) < len(self.joints)
        return shared or any((j.scale, j.shift) != (1.0, 0.0) for j in self.joints)

    def travel(self, joint: ChainJoint) -> tuple[float, float]:
        """The limits of a joint's own coordinate."""
        limits = (self.lower[joint.coordinate], self.upper[joint.coordinate]) if joint.scale else (0.0, 0.0)
        ends = [joint.scale * x + joint.shift for x in limits]
        return min(ends), max(ends)

    @property
    def reach(self) -> float:
        """m; nothing of the chain is ever farther from its base."""
        total = float(np.linalg.norm(self.tip))
        for joint in self.joints:
            total += float(np.linalg.norm(joint.offset))
            if joint.slides:
                total += max(abs(x) for x in self.travel(joint))
        return total

    def carried(self, targets: Array) -> Array:
        """Positions (..., 3) in the world, in the chain's frame."""
        return np.asarray((targets - self.base.translation) @ self.base.rotation)


def make_chain(model: Model, frame: str, lower: Array, upper: Array) -> Chain:
    """The chain to a frame; `lower` and `upper` (nq,) are the limits that it has to keep (infinite: none)."""
    path, last = _path(model, frame)
    if not path:
        raise ArgumentError(f"frame: no joint moves {frame!r}: there is nothing for a chip to solve")
    bodies = [model.bodies[i] for i in path]
    for body in bodies:
        _check_joint(body)
    plan = plan_frames(_alone(model, path, last))
    starts = coordinate_starts(model)
    users = [starts[i if b.mimic is None else b.mimic[0]].nq for i, b in zip(path, bodies, strict=True)]
    own = tuple(dict.fromkeys(users))
    joints = [
        _joint(body, plan.placements[k] if k else (), plan.turns[k], own.index(users[k]))
        for k, body in enumerate(bodies)
    ]
    base, first = _uniform(_pose(plan.placements[0]), joints)
    tip = plan.to_internal[-1].compose(last.placement).translation
    low, high = (tuple(float(x[k]) for k in own) for x in (lower, upper))
    origin = (float(tip[0]), float(tip[1]), float(tip[2]))
    return Chain(model.name, frame, (first, *joints[1:]), own, low, high, base, origin)


def _path(model: Model, frame: str) -> tuple[list[int], Frame]:
    last = model.frames[model.frame_index(frame)]
    path: list[int] = []
    body = last.body
    while body != WORLD:
        path.insert(0, body)
        body = model.bodies[body].parent
    return path, last


def _check_joint(body: Body) -> None:
    joint = JOINT_TYPES[body.kind]
    if type(joint) not in (Revolute, Prismatic):
        raise ArgumentError(
            f"joint {body.joint_name!r} ({body.kind}): the chip turns and slides, one coordinate a joint: "
            "use on='cpu', or a frame whose path has revolute, continuous and prismatic joints alone"
        )


def _alone(model: Model, path: Sequence[int], last: Frame) -> Model:
    """The path as a robot of its own, so that frames are fitted to nothing else."""
    bodies = [replace(model.bodies[i], parent=k - 1, mimic=None) for k, i in enumerate(path)]
    frame = replace(last, body=len(path) - 1)
    return Model(model.name, tuple(bodies), (frame,), model.gravity)


def _joint(body: Body, placement: Sequence[Move], turn: float, coordinate: int) -> ChainJoint:
    """From moves (translation, turn about x and, of a sliding joint, about z) to one joint of the chain."""
    offset: Vec3 = (0.0, 0.0, 0.0)
    twist = (1.0, 0.0)
    for move in placement:
        if isinstance(move, Translation):
            offset = move.offset
        elif isinstance(move, Turn) and move.axis == 0:
            twist = (float(move.c), float(move.s))
        else:
            assert isinstance(move, Turn)
            turn += math.atan2(float(move.s), float(move.c))
    slides = isinstance(JOINT_TYPES[body.kind], Prismatic)
    scale, shift = (1.0, 0.0) if body.mimic is None else body.mimic[1:]
    return ChainJoint(body.joint_name, slides, offset, twist, turn, coordinate, scale, shift)


def _uniform(standing: Pose, joints: Sequence[ChainJoint]) -> tuple[Pose, ChainJoint]:
    """The first joint with what all others have in common, so that it is no exception, and the base that
    makes up for it."""
    first, others = joints[0], joints[1:]
    twists = {joint.twist for joint in others}
    parts = [{joint.offset[k] for joint in others} for k in range(3)]
    x, y, z = (part.pop() if len(part) == 1 else 0.0 for part in parts)
    made = replace(first, offset=(x, y, z), twist=twists.pop() if len(twists) == 1 else (1.0, 0.0))
    placed = _pose((Translation(made.offset), Turn(0, *made.twist)))
    return standing.compose(placed.inverse()), made


def _pose(moves: Sequence[Move]) -> Pose:
    """The pose that constant moves lead to."""
    transform = Transform(tuple(moves))
    units: tuple[Vec3, ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    axes = np.array([transform.moment_back(unit) for unit in units], np.float64).T
    return Pose(axes, np.array(transform.point_back((0.0, 0.0, 0.0)), np.float64))
