"""Where the bodies, sites, geoms and meshes of an MjModel are, as MuJoCo itself would place them.

A model changed by hand may hold numbers that MuJoCo does not read, or that are no rotations. They are
refused.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..pose import Pose
from ..rotation import rotation_from_quaternion
from .mjcf_arrays import Arrays

_SLACK = 1e-6  # of a quaternion's length; more is no rounding, not even of float32
# MuJoCo's compiler takes frames for the same that differ by 1e-6, and then reads one of them.
_SAME = 1e-5
_BODY, _INERTIA, _INERTIA_TURN = 1, 2, 4  # of MuJoCo's mjtSameFrame


def pose_of(arrays: Arrays, owner: str, index: int, snap: float = 0.0) -> Pose:
    """The pose that `owner` ("body", "site", "geom", "mesh") number `index` has in its parent's frame, or in
    that of its body; of "body_i" it is that of the principal axes in the body's."""
    names = [f"{owner}pos", f"{owner}quat"] if owner == "body_i" else [f"{owner}_pos", f"{owner}_quat"]
    position, quaternion = (arrays[name][index] for name in names)
    length = float(np.linalg.norm(quaternion))
    if abs(length - 1.0) > _SLACK:
        place, found = f"{names[1]}[{index}]", f"length {length:g}"
        raise arrays.wrong(place, "a quaternion of length 1", found, f"normalise {names[1]}")
    _check_shortcut(arrays, owner, index, position, quaternion)
    return Pose(rotation_from_quaternion(np.roll(quaternion / length, -1), snap), position)


def _check_shortcut(arrays: Arrays, owner: str, index: int, position: Array, quaternion: Array) -> None:
    """Where the compiler noted that a frame is another's, MuJoCo reads that other until it is told."""
    flags = {"body_i": "body_sameframe", "site": "site_sameframe"}.get(owner)  # geoms are only drawn
    same = 0 if flags is None else int(arrays[flags][index])
    if same == 0:
        return
    place, turn = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    of_inertia = same in (_INERTIA, _INERTIA_TURN)
    circular = of_inertia and owner != "site"  # an inertia's frame is not told by itself
    if of_inertia and not circular:
        body = int(arrays["site_bodyid"][index])
        place, turn = arrays["body_ipos"][body], arrays["body_iquat"][body]
    turned = min(np.abs(quaternion - turn).max(), np.abs(quaternion + turn).max()) > _SAME
    if circular or turned or (same in (_BODY, _INERTIA) and np.abs(position - place).max() > _SAME):
        raise arrays.wrong(
            f"{'site' if owner == 'site' else 'body'} number {index}",
            f"the frame that {flags}[{index}] says, for MuJoCo reads no more than that",
            "a frame that was moved by hand",
            f"call mj_setConst, which notes it anew from MuJoCo 4 on, or set {flags}[{index}] = 0",
        )
