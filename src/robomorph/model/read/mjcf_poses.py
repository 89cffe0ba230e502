"""Where the bodies, sites, geoms and meshes of an MjModel are, as MuJoCo itself places them.

Its compiler notes which frames differ by less than 1e-6 from another (`*_sameframe`), and then MuJoCo reads
that other, as is done here. A model changed by hand may hold numbers that MuJoCo does not read for that
reason, or that are no rotations. They are refused, but for places of geoms, which are drawn where MuJoCo has
them.
"""

from __future__ import annotations

import numpy as np

from ...errors import ModelError
from ..arrays import Array
from ..pose import Pose
from ..rotation import rotation_from_quaternion
from .mjcf_arrays import Arrays

# Of the length of an axis or quaternion. MuJoCo computes with what it finds, so that a tenth of this is the
# error of our having normalised it; the compiler's are of length 1 to the last digits.
UNIT = 1e-11
# Beyond what the compiler takes for the same: moved by hand.
_MOVED = 1e-5
_BODY, _INERTIA, _BODY_TURN, _INERTIA_TURN = 1, 2, 3, 4  # MuJoCo's mjtSameFrame
_FLAGS = {"body_i": "body_sameframe", "site": "site_sameframe", "geom": "geom_sameframe"}
_IDENTITY = (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))


def pose_of(arrays: Arrays, owner: str, index: int, snap: float = 0.0) -> Pose:
    """The pose that `owner` ("body", "site", "geom", "mesh") number `index` has in its parent's frame, or in
    that of its body; of "body_i" it is that of the principal axes in the body's."""
    position, quaternion = _read(arrays, owner, index)
    return Pose(rotation_from_quaternion(np.roll(quaternion, -1), snap), position)


def _read(arrays: Arrays, owner: str, index: int) -> tuple[Array, Array]:
    """Position and quaternion (w first) as MuJoCo reads them."""
    names = [f"{owner}pos", f"{owner}quat"] if owner == "body_i" else [f"{owner}_pos", f"{owner}_quat"]
    position: Array = arrays[names[0]][index]
    quaternion: Array = arrays[names[1]][index]
    length = float(np.linalg.norm(quaternion))
    if not abs(length - 1.0) <= UNIT:
        what, found = f"{names[1]}[{index}]", f"length {length:.12g}"
        raise arrays.wrong(what, "a quaternion of length 1", found, f"normalise {names[1]}")
    quaternion = quaternion / length
    same = int(arrays[_FLAGS[owner]][index]) if owner in _FLAGS else 0
    if same == 0:
        return position, quaternion
    place, turn = _other(arrays, owner, index, same)
    is_all = same in (_BODY, _INERTIA)
    turned = min(np.abs(quaternion - turn).max(), np.abs(quaternion + turn).max()) > _MOVED
    displaced = is_all and np.abs(position - place).max() > _MOVED
    if owner != "geom" and (turned or displaced):
        raise _moved(arrays, owner, index)
    return (place if is_all else position), turn


def _other(arrays: Arrays, owner: str, index: int, same: int) -> tuple[Array, Array]:
    """The frame that a note says this one is the same as."""
    if same in (_BODY, _BODY_TURN):
        return _IDENTITY
    if owner == "body_i" or same not in (_INERTIA, _INERTIA_TURN):  # an inertia's is not told by itself
        raise _moved(arrays, owner, index)
    return _read(arrays, "body_i", int(arrays[f"{owner}_bodyid"][index]))


def _moved(arrays: Arrays, owner: str, index: int) -> ModelError:
    flags = _FLAGS[owner]
    return arrays.wrong(
        f"{'body' if owner == 'body_i' else owner} number {index}",
        f"the frame that {flags}[{index}] says, for MuJoCo reads no more than that",
        "a frame that was moved by hand",
        f"call mj_setConst, which notes it anew from MuJoCo 4 on, or set {flags}[{index}] = 0",
    )
