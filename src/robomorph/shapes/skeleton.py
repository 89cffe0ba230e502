"""A robot drawn from its tree: a capsule from joint to joint, a ball at every joint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from robomorph.model import WORLD, Capsule, Model, Pose, Shape, Sphere
from robomorph.model.pose import axis_frame

Point: TypeAlias = npt.NDArray[np.float64]  # (3,) m
Segment: TypeAlias = tuple[int, Point]  # a body, and a point of it that a capsule leads to from its origin

BONE = (0.72, 0.76, 0.82, 1.0)
JOINT = (0.95, 0.55, 0.15, 1.0)
# Shares of the robot's size, and of the median length of a bone: thin enough to see the bones apart.
_THICKNESS, _SLENDERNESS = 0.02, 0.25
_BALL = 1.35  # radius of a ball over that of a bone
_NOTHING = 1e-3  # points closer than this share of the size are one
_LONE_RADIUS = 0.05  # m, of a robot that has no extent


def shapes_to_draw(model: Model) -> tuple[Shape, ...]:
    """What to show of a robot: its visuals, else its collision shapes, else its skeleton.

    Meshes whose file is missing cannot be drawn and are left out.
    """
    for kind in ("visual", "collision"):
        found = tuple(s for s in model.shapes if s.kind == kind and not s.is_missing)
        if found:
            return found
    return skeleton_shapes(model)


def skeleton_shapes(model: Model) -> tuple[Shape, ...]:
    """Capsules from every body's origin to the joints that it carries, its tips and tool frames; balls at the
    joints. A body at the end of a branch reaches to its links, or else to its centre of mass."""
    size = _size(model)
    bones = list(_bones(model, _NOTHING * size))
    lengths = [float(np.linalg.norm(end)) for _, end in bones]
    radius = min(_THICKNESS * size, _SLENDERNESS * float(np.median(lengths))) if bones else _LONE_RADIUS
    names = {WORLD: model.link_names[0], **dict(enumerate(model.body_names))}
    shapes = []
    for (body, end), length in zip(bones, lengths, strict=True):
        middle = Pose(axis_frame(end / length), end / 2)
        bone = Capsule(radius, length)
        shapes.append(Shape("skeleton", f"{names[body]}_bone", names[body], body, middle, bone, BONE))
    for i, body_of_joint in enumerate(model.bodies):
        ball = Sphere(_BALL * radius)
        shapes.append(Shape("skeleton", body_of_joint.joint_name, names[i], i, Pose(), ball, JOINT))
    return tuple(shapes)


def _bones(model: Model, nothing: float) -> Iterator[Segment]:
    for body in range(WORLD, len(model.bodies)):
        ends: list[Point] = []
        for point in _ends(model, body):
            others = (np.zeros(3), *ends)
            if all(np.linalg.norm(point - other) > nothing for other in others):
                ends.append(point)
        yield from ((body, end) for end in ends)


def _ends(model: Model, body: int) -> list[Point]:
    """Points of a body that a bone should reach, in its frame."""
    joints = [b.placement.translation for b in model.bodies if b.parent == body]
    tools = [f.placement.translation for f in model.frames if f.body == body and f.tool]
    if joints or body == WORLD:
        return joints + tools
    tips = [f.placement.translation for f in model.link_placements if f.body == body]
    if any(tip.any() for tip in tips) or tools:
        return tips + tools
    inertia = model.bodies[body].inertia
    return [inertia.com] if inertia.mass > 0.0 else []


def _size(model: Model) -> float:
    """The diagonal of the box about all joints and ends of bones with every joint at zero, m."""
    origins = {WORLD: Pose()}
    points = []
    for i, body in enumerate(model.bodies):
        origins[i] = origins[body.parent].compose(body.placement)
        points.append(origins[i].translation)
    for i, origin in origins.items():
        points += [origin.rotation @ end + origin.translation for end in _ends(model, i)]
    if not points:
        return 0.0
    return float(np.linalg.norm(np.ptp(np.array(points), axis=0)))
