"""Another link as the root: the same robot, written down from the other end.

A joint on the way from the old root to the new one is turned round. It led from its parent P to its child C
by P -> placement -> motion(q) -> tail -> C, so it now leads from C to P by the inverse of each, in opposite
order: the inverse of the tail, motion(q) about the negated axis (the inverse, at the same q), then the
inverse of the placement. Coordinates, limits and torques keep their signs.
"""

from __future__ import annotations

from dataclasses import replace

from robomorph.naming import unknown_name

from ..errors import ArgumentError, ModelError
from .arrays import Array
from .description import Joint
from .joints import JOINT_TYPES
from .kinds import FIXED
from .manifolds import Flat
from .notes import fault
from .pose import Pose
from .structure import Tree, depth_first, joint_place


def reroot(tree: Tree, root: str) -> Tree:
    """The same robot with the link `root` as its first; joints that are not on the way stay as they are."""
    links = {link.name: link for link in tree.links}
    if not isinstance(root, str):
        raise ArgumentError(f"root: expected the name of a link, found {root!r}.")
    if root not in links:
        raise ArgumentError(f"root: {unknown_name(tree.description.source, 'link', root, list(links))}")
    turned = {joint.name: _turned(tree, joint) for joint in path_to(tree, root)}
    joints = tuple(turned.get(joint.name, joint) for joint in tree.description.joints)
    description = replace(tree.description, joints=joints)
    ordered = depth_first(description, links[root])
    along = (links[root], *(links[joint.child] for joint in ordered))
    return Tree(description, along, ordered, tree.mimics, tree.links[0].name)


def path_to(tree: Tree, link: str) -> list[Joint]:
    """The joints from the root to `link`."""
    above = {joint.child: joint for joint in tree.joints}
    path: list[Joint] = []
    while link in above:
        path.append(above[link])
        link = above[link].parent
    return path[::-1]


def _turned(tree: Tree, joint: Joint) -> Joint:
    back = replace(joint, parent=joint.child, child=joint.parent)
    if joint.kind == FIXED:
        return replace(back, placement=joint.placement.compose(joint.tail).inverse(), tail=Pose.identity())
    if not _inverts(joint.kind):
        raise _refused(tree, joint)
    axis: Array = 0.0 - joint.axis  # not -axis: a zero stays a zero without a sign
    return replace(back, placement=joint.tail.inverse(), axis=axis, tail=joint.placement.inverse())


def _inverts(kind: str) -> bool:
    """Is the motion of this kind undone by the same coordinate about the opposite axis? So it is if it turns
    about and slides along z alone, by a coordinate that adds."""
    joint = JOINT_TYPES[kind]
    if joint.nq != 1 or not joint.has_axis or joint.axis_is_z or joint.known_manifold != Flat(1):
        return False
    return not any((*unit.ang[:2], *unit.lin[:2]) != (0.0,) * 4 for unit in joint.subspace)


def _refused(tree: Tree, joint: Joint) -> ModelError:
    return fault(
        joint_place(tree.description, joint),
        expected="fixed, revolute, continuous or prismatic joints between the file's root and the new one",
        found=f"type {joint.kind!r}, whose coordinates would mean something else from the other end",
        fix=f"choose a root link that is not beyond joint {joint.name!r}",
    )
