"""Which joints have nothing to move, or nothing that resists them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .joints import JOINT_TYPES
from .model import WORLD, Body
from .notes import MASSLESS_BASE, NO_MASS, SINGULAR, Notes
from .pose import axis_frame, skew
from .structure import Tree, link_place

# An inertia this small beside the largest that the body has about any axis is none.
_NOTHING = 1e-13


def check_masses(tree: Tree, bodies: Sequence[Body], notes: Notes) -> None:
    """Note joints that move nothing that resists them, and bodies that resist only some motions."""
    places = {link.name: link_place(tree.description, link) for link in tree.links}
    idle = idle_joints(bodies)
    for index, why in idle.items():
        body = bodies[index]
        notes.add(NO_MASS, places[body.name], f"joint {body.joint_name!r} moves {why}")
    for index, body in enumerate(bodies):
        place = places[body.name]
        if index in idle or body.inertia.is_indefinite:  # noted already
            continue
        if body.inertia.mass > 0.0 and body.inertia.is_singular and not body.armature:
            notes.add(SINGULAR, place, f"body of joint {body.joint_name!r}")
        if JOINT_TYPES[body.kind].nv == 6 and body.inertia.is_zero and not body.armature:
            notes.add(MASSLESS_BASE, place, f"body of joint {body.joint_name!r}")


def idle_joints(bodies: Sequence[Body]) -> dict[int, str]:
    """Indices of the independent bodies whose joint moves nothing that resists it, and what it does move.

    A massless body with massive bodies beyond it is fine, and so is one with armature. A group of joints that
    mimic one another needs mass behind at least one of them.
    """
    carried = _carried(bodies)
    groups: dict[int, list[int]] = {}
    for index, body in enumerate(bodies):
        source, multiplier = (index, 1.0) if body.mimic is None else body.mimic[:2]
        if multiplier != 0.0:
            groups.setdefault(source, []).append(index)
    idle = {}
    for source, members in sorted(groups.items()):
        if not any(carried[index] or bodies[index].armature or _resists(bodies[index]) for index in members):
            idle[source] = _what_is_moved([bodies[index] for index in members])
    return idle


def _carried(bodies: Sequence[Body]) -> list[bool]:
    """Whether some body beyond each one has any inertia."""
    beyond = [False] * len(bodies)
    for index in reversed(range(len(bodies))):
        parent = bodies[index].parent
        if parent != WORLD and (beyond[index] or not bodies[index].inertia.is_zero):
            beyond[parent] = True
    return beyond


def _what_is_moved(bodies: Sequence[Body]) -> str:
    if all(body.inertia.is_zero for body in bodies):
        return "no mass"
    mass = sum(body.inertia.mass for body in bodies)
    if any(body.inertia.is_indefinite for body in bodies):
        return f"{mass:g} kg with an inertia that is not positive definite"
    if mass == 0.0:
        return "rotational inertia, but no mass, and not about its axis"
    return f"{mass:g} kg that does not resist it (a point on its axis has no inertia about it)"


def _resists(body: Body) -> bool:
    """Whether the body's own inertia resists every motion of its joint: is S^T I S positive definite?"""
    joint = JOINT_TYPES[body.kind]
    align = axis_frame(body.axis) if joint.has_axis else np.eye(3)
    inertia = body.inertia
    turns, slides = (align @ np.array([getattr(s, p) for s in joint.subspace]).T for p in ("ang", "lin"))
    moment = skew(inertia.first_moment)
    cross = turns.T @ moment @ slides
    about_origin = inertia.tensor_at_origin
    resistance = turns.T @ about_origin @ turns + cross + cross.T + inertia.mass * slides.T @ slides
    # Against what the body could offer at most: rounding in a tilted axis is not a resistance.
    most = np.linalg.norm(about_origin, 2) * (turns**2).sum(0) + inertia.mass * (slides**2).sum(0)
    if not most.all():
        return False
    scale = 1.0 / np.sqrt(most)
    return bool(np.linalg.eigvalsh(resistance * np.outer(scale, scale))[0] > _NOTHING)
