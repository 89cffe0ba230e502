"""Which robots can be moved by numbers that simply add."""

from __future__ import annotations

from robomorph.errors import ArgumentError
from robomorph.model import Model
from robomorph.model.joints import JOINT_TYPES
from robomorph.model.manifolds import Flat


def require_flat(model: Model, who: str = "planning", prospect: str = "") -> None:
    """Refuse, by name, a joint whose coordinates are not one number that simply adds. who: expects them;
    prospect: a word about the others."""
    for body in model.bodies:
        found = JOINT_TYPES[body.kind].known_manifold
        if found != Flat(1):
            raise ArgumentError(
                f"{model.name}: joint {body.joint_name!r} of type {body.kind!r}: {who} expects joints of "
                f"one coordinate that simply adds (Flat(1)), found {found!r}{prospect}: re-root the robot at "
                "a link that stands still (root=), or lock the joint (locked=)"
            )
