"""Description to Model: merge what does not move, keep where every link went, check the masses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from robomorph.naming import unknown_name

from ..errors import ArgumentError
from .changes import Changes
from .description import Joint, Limits, Link
from .geometry import Shape
from .gravity import down
from .inertia import Inertia
from .joint_values import changed_bodies, check_passive
from .locking import standing_poses
from .masses import check_masses
from .model import WORLD, Body, Frame, Model
from .notes import PAYLOAD_ON_WORLD, ROUNDED_ROTATION, Notes, fault
from .pose import Pose
from .structure import Tree, joint_place, link_place

ROOT_JOINT = "root_joint"


@dataclass(eq=False)
class _Assembly:
    """Bodies under construction, and where each link sits: its body and its pose in that body's frame."""

    joints: list[Joint | None] = field(default_factory=list)  # None: the joint of a floating base
    links: list[Link] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    placements: list[Pose] = field(default_factory=list)
    inertias: list[Inertia] = field(default_factory=list)
    standing: Inertia = field(default_factory=Inertia.zero)  # fixed to the world
    seats: dict[str, tuple[int, Pose]] = field(default_factory=dict)

    def open_body(self, joint: Joint | None, link: Link, parent: int, placement: Pose) -> None:
        self.joints.append(joint)
        self.links.append(link)
        self.parents.append(parent)
        self.placements.append(placement)
        self.inertias.append(Inertia.zero())
        seat = Pose.identity() if joint is None else joint.tail
        self.seats[link.name] = (len(self.joints) - 1, seat)

    def load(self, link: str, inertia: Inertia) -> None:
        """Weld `inertia`, given in the frame of `link`, to the body that carries it, or to the world."""
        body, pose = self.seats[link]
        if body == WORLD:
            self.standing = self.standing + inertia.moved(pose)
        else:
            self.inertias[body] = self.inertias[body] + inertia.moved(pose)


def reduce_tree(tree: Tree, changes: Changes, notes: Notes, *, floating_base: bool, snap: float) -> Model:
    """The model of `tree` with its fixed and locked joints merged and the caller's changes applied."""
    poses = standing_poses(tree, changes.locked, notes, snap)
    assembly = _assemble(tree, poses, floating_base=floating_base)
    _add_payloads(tree, assembly, changes.payloads, notes)
    bodies = changed_bodies(tree, _bodies(tree, assembly), changes.joints)
    if changes.passive is not None:
        check_passive(tree.description.source, bodies)
    check_masses(tree, bodies, notes)
    frames = [Frame(link.name, *assembly.seats[link.name]) for link in tree.links]
    frames += _named_frames(tree, assembly)
    frames += _tool_frames(tree, assembly, changes, notes)
    # What an ordinary robot is bolted to is no part of it; a root that was chosen is.
    standing = Inertia.zero() if tree.file_root is None else assembly.standing
    gravity = (
        changes.gravity
        if changes.gravity is not None
        else down(tree, poses, floating_base=floating_base, snap=snap)
    )
    shapes, addresses = _shapes(tree, assembly), dict(tree.description.addresses)
    return Model(
        tree.description.name,
        bodies,
        tuple(frames),
        gravity,
        standing,
        shapes,
        addresses,
        changes.passive,
        tree.description.library,
    )


def _assemble(tree: Tree, poses: Mapping[str, Pose], *, floating_base: bool) -> _Assembly:
    assembly, root = _Assembly(), tree.links[0]
    if floating_base:
        _check_root_joint_free(tree)
        _check_not_free_already(tree)
        assembly.open_body(None, root, WORLD, Pose.identity())
    else:
        assembly.seats[root.name] = (WORLD, Pose.identity())
    for joint, link in zip(tree.joints, tree.links[1:], strict=True):
        carrier, seat = assembly.seats[joint.parent]
        placement = seat.compose(joint.placement)
        if joint.name in poses:
            moved = placement.compose(poses[joint.name])
            assembly.seats[link.name] = (carrier, moved.compose(joint.tail))
        else:
            assembly.open_body(joint, link, carrier, placement)
    for link in tree.links:
        if link.inertia is not None:
            assembly.load(link.name, link.inertia)
    return assembly


def _check_root_joint_free(tree: Tree) -> None:
    for joint in tree.joints:
        if joint.name == ROOT_JOINT:
            raise fault(
                joint_place(tree.description, joint),
                expected=f"no joint called {ROOT_JOINT!r}: floating_base=True adds one of that name",
                found="one",
                fix="rename the joint, or load with floating_base=False",
            )


def _check_not_free_already(tree: Tree) -> None:
    """A world with free bodies, whatever stands beside them, cannot float itself. The root of another
    library's model is the world; of URDF it is if nothing else is there."""
    first = [joint for joint in tree.joints if joint.parent == tree.links[0].name]
    free = [joint for joint in first if joint.kind == "floating"]
    is_world = bool(tree.description.library) or (tree.links[0].inertia is None and len(free) == len(first))
    if free and is_world:
        raise fault(
            joint_place(tree.description, free[0]),
            expected="a root that does not move yet: floating_base=True lets it float",
            found="a free joint",
            fix="load with floating_base=False: the robot floats by its own joint",
        )


def _add_payloads(tree: Tree, assembly: _Assembly, payloads: Mapping[str, Inertia], notes: Notes) -> None:
    links = {link.name: link for link in tree.links}
    for name, inertia in payloads.items():
        if name not in links:
            raise ArgumentError(
                f"payloads: {unknown_name(tree.description.source, 'link', name, list(links))}"
            )
        if assembly.seats[name][0] == WORLD and tree.file_root is None:
            notes.add(PAYLOAD_ON_WORLD, link_place(tree.description, links[name]), f"{inertia.mass:g} kg")
        assembly.load(name, inertia)


def _bodies(tree: Tree, assembly: _Assembly) -> tuple[Body, ...]:
    index = {joint.name: i for i, joint in enumerate(assembly.joints) if joint is not None}
    bodies: list[Body] = []
    for i, (joint, link) in enumerate(zip(assembly.joints, assembly.links, strict=True)):
        placement, inertia, parent = assembly.placements[i], assembly.inertias[i], assembly.parents[i]
        if joint is None:
            bodies.append(
                Body(
                    link.name,
                    ROOT_JOINT,
                    "floating",
                    parent,
                    placement,
                    np.array([1.0, 0.0, 0.0]),
                    inertia,
                    Limits(),
                )
            )
            continue
        follows = tree.mimics.get(joint.name)
        source = None if follows is None else (index[follows.joint], follows.multiplier, follows.offset)
        bodies.append(
            Body(
                link.name,
                joint.name,
                joint.kind,
                parent,
                placement,
                joint.axis,
                inertia,
                joint.limits,
                joint.damping,
                joint.friction,
                source,
                joint.armature,
                joint.stiffness,
                joint.rest,
            )
        )
    return tuple(bodies)


def _shapes(tree: Tree, assembly: _Assembly) -> tuple[Shape, ...]:
    """The shapes of all links, each in the frame of the body that its link is part of."""
    shapes = []
    for link in tree.links:
        body, seat = assembly.seats[link.name]
        shapes += [replace(s, body=body, placement=seat.compose(s.placement)) for s in link.shapes]
    return tuple(shapes)


def _named_frames(tree: Tree, assembly: _Assembly) -> list[Frame]:
    frames = []
    for frame in tree.description.frames:
        body, seat = assembly.seats[frame.link]
        frames.append(Frame(frame.name, body, seat.compose(frame.placement), tool=True))
    return frames


def _tool_frames(tree: Tree, assembly: _Assembly, changes: Changes, notes: Notes) -> list[Frame]:
    frames = []
    taken = {*assembly.seats, *(frame.name for frame in tree.description.frames)}
    for name, (link, pose) in changes.tool_frames.items():
        if name in taken:
            raise ArgumentError(f"tool_frames[{name!r}]: the robot has a link of that name; choose another.")
        if link not in assembly.seats:
            known = list(assembly.seats)
            raise ArgumentError(
                f"tool_frames[{name!r}]: {unknown_name(tree.description.source, 'link', link, known)}"
            )
        if name in changes.rounded:
            place = next(link_place(tree.description, one) for one in tree.links if one.name == link)
            notes.add(ROUNDED_ROTATION, place, f"tool frame {name!r}, {changes.rounded[name]:.2g} off")
        body, seat = assembly.seats[link]
        frames.append(Frame(name, body, seat.compose(pose), tool=True))
    return frames
