"""Whether every independent joint has something to move, and every body an inertia that can exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import ModelError
from .joints import JOINT_TYPES
from .model import WORLD, Body
from .naming import listed
from .notes import MASSLESS_BASE, SINGULAR, Notes, Place, fault
from .pose import Pose, axis_frame, skew
from .structure import Tree, link_place

# An inertia this small beside another of the same joint is none.
_NOTHING = 1e-13


def check_masses(
    tree: Tree, bodies: Sequence[Body], seats: Mapping[str, tuple[int, Pose]], notes: Notes
) -> None:
    """Raise for joints that move nothing with mass and for indefinite inertias; note singular ones.

    A massless body with massive bodies beyond it is fine. A group of joints that mimic one another needs
    mass behind at least one of them. `seats` tells which body carries each link.
    """
    places = {link.name: link_place(tree.description, link) for link in tree.links}
    resisting = _resisting_groups(bodies)
    idle = [body for i, body in enumerate(bodies) if body.mimic is None and i not in resisting]
    if idle:
        raise _nothing_to_move(places[idle[0].name], idle)
    for index, body in enumerate(bodies):
        place = places[body.name]
        if body.inertia.is_indefinite:
            raise _indefinite(tree, seats, index, body)
        if body.inertia.mass > 0.0 and body.inertia.is_singular:
            notes.add(SINGULAR, place, f"body of joint {body.joint_name!r}")
        if JOINT_TYPES[body.kind].nv == 6 and body.inertia.is_zero:
            notes.add(MASSLESS_BASE, place, f"body of joint {body.joint_name!r}")


def _resisting_groups(bodies: Sequence[Body]) -> set[int]:
    """Indices of the independent bodies whose joint, or a joint that mimics it, moves some inertia."""
    beyond = [False] * len(bodies)
    for index in reversed(range(len(bodies))):
        parent = bodies[index].parent
        if parent != WORLD and (beyond[index] or not bodies[index].inertia.is_zero):
            beyond[parent] = True
    resisting = set()
    for index, body in enumerate(bodies):
        if beyond[index] or _resists(body):
            if body.mimic is None:
                resisting.add(index)
            elif body.mimic[1] != 0.0:
                resisting.add(body.mimic[0])
    return resisting


def _resists(body: Body) -> bool:
    """Whether the body's own inertia resists every motion of its joint: is S^T I S positive definite?"""
    joint = JOINT_TYPES[body.kind]
    align = axis_frame(body.axis) if joint.has_axis else np.eye(3)
    inertia = body.inertia
    turns, slides = (align @ np.array([getattr(s, p) for s in joint.subspace]).T for p in ("ang", "lin"))
    moment = skew(inertia.first_moment)
    cross = turns.T @ moment @ slides
    resistance = (
        turns.T @ inertia.tensor_at_origin @ turns + cross + cross.T + inertia.mass * slides.T @ slides
    )
    least, most = np.linalg.eigvalsh(resistance)[[0, -1]]
    return bool(least > _NOTHING * most)


def _nothing_to_move(place: Place, idle: Sequence[Body]) -> ModelError:
    joints = [body.joint_name for body in idle]
    found = f"none, nor any beyond it, for {'joint' if len(joints) == 1 else 'joints'} {listed(joints)}"
    fix = "give the link an <inertial>, make the joint fixed, or hold it still with locked={joint: value}"
    return fault(
        place, expected="mass and inertia on a moving link, or on a link beyond it", found=found, fix=fix
    )


def _indefinite(tree: Tree, seats: Mapping[str, tuple[int, Pose]], index: int, body: Body) -> ModelError:
    """The error for a body, placed at the first of its links whose own inertia is indefinite."""
    on_body = [link for link in tree.links if seats[link.name][0] == index]
    guilty = next(
        (link for link in on_body if link.inertia is not None and link.inertia.is_indefinite), on_body[0]
    )
    found = f"one with a negative principal moment, in the body of joint {body.joint_name!r}"
    fix = "check the signs and the size of ixx ... izz"
    place = link_place(tree.description, guilty)
    return fault(place, expected="an <inertia> that is positive definite", found=found, fix=fix)
