"""How far things can be apart: bounds from the lengths of the links alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

from robomorph.algorithms.sweep import WORLD
from robomorph.algorithms.tree import Tree
from robomorph.model.joints import JointType
from robomorph.model.manifolds import Flat
from robomorph.spatial import Scalar, Transform

Point = tuple[float, float, float]
_ROUNDS = 3  # more make the strings of UR5, Panda, xArm7 and Atlas shorter by some nanometres


def _length(transform: Transform) -> float:
    """Distance between the two frames of a constant transform."""
    point = transform.point_back((0.0, 0.0, 0.0))
    return math.sqrt(sum(float(x) ** 2 for x in point))


def frame_column_bounds(tree: Tree, frame: str, turning: bool) -> dict[int, float]:
    """Per degree of freedom above a frame, a bound on how fast it moves the frame's origin (m): the distance
    along the stretched chain; 1 if it is turns that count."""
    link, placement = tree.frames[frame]
    distances = _distances(tree, link, _length(placement))
    return dict.fromkeys(distances, 1.0) if turning else distances


def mass_column_bounds(tree: Tree) -> dict[int, float]:
    """Per degree of freedom, a bound on how fast it moves the farthest link's origin (m)."""
    best: dict[int, float] = {}
    for link in tree.links:
        for dof, distance in _distances(tree, link.index, 0.0).items():
            best[dof] = max(best.get(dof, 0.0), distance)
    return best


def _distances(tree: Tree, link: int, tail: float) -> dict[int, float]:
    """From each joint above `link` to a point `tail` away from the link's origin, stretched out."""
    out: dict[int, float] = {}
    while link != WORLD:
        for dof in tree.link_dofs[link]:
            unit = tree.links[link].joint.subspace[dof.k]
            speed = math.hypot(*unit.lin) + math.hypot(*unit.ang) * tail
            out[dof.user] = max(out.get(dof.user, 0.0), speed)
        tail += _length(Transform(tree.links[link].placement))
        link = tree.links[link].parent
    return out


def joint_travel(joint: JointType, lower: float, upper: float) -> float:
    """The farthest (m) that the child's origin can be from the joint's frame, for a coordinate in
    [lower, upper] if the joint has one alone; infinite if nothing bounds it."""
    neutral = joint.neutral()
    start = _length(Transform(joint.transform(neutral, 0.0)))
    speed = max((math.hypot(*unit.lin) for unit in joint.subspace), default=0.0)
    if speed == 0.0:
        return start
    if joint.known_manifold != Flat(1):
        return math.inf
    return start + speed * max(abs(lower - neutral[0]), abs(upper - neutral[0]))


def frame_reach(tree: Tree, frame: str, travel: list[float]) -> tuple[Point, float] | None:
    """(centre, radius) of a ball in the world that the frame's origin can never leave, or None if there is
    none (a free base). `travel`: per link, the farthest its joint can slide (m)."""
    link, placement = tree.frames[frame]
    tip = _point(placement, 0.0)
    if link == WORLD:
        return tip, 0.0
    chain = [tree.links[i] for i in tree.support[link]]
    slack = sum(travel[joint.index] for joint in chain)
    if math.isinf(slack):
        return None
    joints = [Transform(joint.placement) for joint in chain]
    free = [joint.joint.slides for joint in chain]
    return _point(joints[0], 0.0), _taut_length(joints, free, tip) + slack


def _taut_length(joints: list[Transform], free: list[bool], tip: Point) -> float:
    """How long a string is from the first joint's origin through all joints to the tip, pulled taut.

    Where a joint turns about z or slides along it (`free`), a point on z belongs to parent and child alike,
    or moves between them no farther than the origin does: the string may cross z at any height. Whatever the
    heights, the tip is never farther away than the string is long; these are chosen to make it short."""
    heights = [0.0] * len(joints)
    origins = [_point(joint, 0.0) for joint in joints]

    def after(k: int) -> Point:
        """Where the string goes from joint k, in its child's frame."""
        return _point(joints[k + 1], heights[k + 1]) if k + 1 < len(joints) else tip

    for _ in range(_ROUNDS):
        before = tuple(heights)
        for k in (k for k in range(1, len(joints)) if free[k]):
            x, y, z = origins[k]
            heights[k] = _crossing(joints[k].vector_into((-x, -y, heights[k - 1] - z)), after(k))
        if before == tuple(heights):
            break
    return sum(math.dist((0.0, 0.0, heights[k]), after(k)) for k in range(len(joints)))


def _crossing(before: Sequence[Scalar], after: Point) -> float:
    """The height on z that the shortest way between two points touches, if each may turn about z: all in a
    plane then, with z between them."""
    first, second = math.hypot(before[0], before[1]), math.hypot(after[0], after[1])
    share = first / (first + second) if first + second > 0.0 else 0.0
    return float(before[2]) + (after[2] - float(before[2])) * share


def _point(joint: Transform, height: float) -> Point:
    """A point on z of a joint's frame, in its parent's."""
    x, y, z = joint.point_back((0.0, 0.0, height))
    return float(x), float(y), float(z)
