"""How far things can be apart: bounds from the lengths of the links alone."""

from __future__ import annotations

import math

from robomorph.algorithms.sweep import WORLD
from robomorph.algorithms.tree import Tree
from robomorph.model.joints import JointType
from robomorph.model.manifolds import Flat
from robomorph.spatial import Transform


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


def frame_reach(
    tree: Tree, frame: str, travel: list[float]
) -> tuple[tuple[float, float, float], float] | None:
    """(centre, radius) of a ball in the world that the frame's origin can never leave, or None if there is
    none (a free base). `travel`: per link, the farthest its joint can slide (m)."""
    link, placement = tree.frames[frame]
    radius = _length(placement)
    while link != WORLD:
        if math.isinf(travel[link]):
            return None
        radius += travel[link]
        if tree.links[link].parent == WORLD:
            point = Transform(tree.links[link].placement).point_back((0.0, 0.0, 0.0))
            return (float(point[0]), float(point[1]), float(point[2])), radius
        radius += _length(Transform(tree.links[link].placement))
        link = tree.links[link].parent
    point = placement.point_back((0.0, 0.0, 0.0))
    return (float(point[0]), float(point[1]), float(point[2])), 0.0
