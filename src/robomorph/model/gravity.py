"""Which way is down, where the caller does not say so."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .arrays import Array
from .description import Joint
from .locking import motion
from .pose import Pose
from .reroot import path_to
from .structure import Tree

STANDARD = 9.81  # m/s^2
# Relative to gravity: what rounding in a chain of rotations explains.
_NOISE = 1e-14


def down(tree: Tree, poses: Mapping[str, Pose], *, floating_base: bool, snap: float) -> Array:
    """(3,) m/s^2 in the world's axes: what the file says, or along -z of its own root link.

    If another link was made the root and is fixed to the world, its frame is the world's, and the file's root
    is seen from it with every joint at zero (locked ones as in `poses`): gravity pulls the robot as it did.
    """
    stated = tree.description.gravity
    own = np.array([0.0, 0.0, -STANDARD]) if stated is None else np.array(stated)
    if floating_base or tree.file_root is None:
        return own
    rotation = np.eye(3)
    for joint in path_to(tree, tree.file_root):
        stands = poses.get(joint.name) or _at_zero(tree, joint, snap)
        rotation = rotation @ joint.placement.rotation @ stands.rotation @ joint.tail.rotation
    return _cleaned(rotation @ own, own)


def _at_zero(tree: Tree, joint: Joint, snap: float) -> Pose:
    """The motion of a joint whose coordinate, or that of the joint it follows, is zero."""
    follows = tree.mimics.get(joint.name)
    if follows is None or follows.offset == 0.0:
        return Pose.identity()
    return motion(joint.kind, joint.axis, np.array([follows.offset]), snap)


def _cleaned(gravity: Array, own: Array) -> Array:
    """Without rounding noise (every entry that is not exactly zero costs operations), as large as `own`."""
    size = float(np.abs(own).max() if np.count_nonzero(own) == 1 else np.linalg.norm(own))
    gravity = np.where(np.abs(gravity) <= _NOISE * size, 0.0, gravity)
    return np.sign(gravity) * size if np.count_nonzero(gravity) == 1 else gravity
