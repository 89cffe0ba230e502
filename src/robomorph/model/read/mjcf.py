"""MJCF by MuJoCo's own compiler: what is read are the arrays of the MjModel that it makes.

So includes, defaults, frames, angles, inertias from geoms and every setting of <compiler> are MuJoCo's. What
a robot here cannot have is refused by name, or left out by `load(ignore=)` (mjcf_refusals.py).
"""

from __future__ import annotations

import numpy as np

from ..description import Description, Joint, Link, NamedFrame
from ..document import Document
from ..inertia import Inertia
from ..pose import Pose
from ..rotation import rotation_from_quaternion
from .base import Format, Reading
from .mjcf_actuators import actuated
from .mjcf_arrays import Arrays
from .mjcf_compile import compiled, is_mujoco
from .mjcf_joints import FREE, chain
from .mjcf_names import Names
from .mjcf_refusals import KINDS, check
from .mjcf_shapes import Shapes

_GRAVITY_OFF = "mjDSBL_GRAVITY"


def parse_mjcf(document: Document, reading: Reading) -> Description:
    """Read MJCF, or an MjModel or MjSpec. The world body is the root link; bodies are links of their names,
    and sites are frames. `mjcf_names.py` says what is called how where the file gives no name."""
    model, spec = compiled(document, reading.notes)
    arrays = Arrays(model, document.label)
    names = Names(arrays)
    check(arrays, names, reading.ignored)
    places = [_place(arrays, body, reading.snap) for body in range(arrays.count("nbody"))]
    shapes = Shapes(arrays, names, document.path, reading, spec)
    motors = actuated(arrays, names, reading)
    links = [Link("world", None, shapes=shapes.of(0))]
    joints: list[Joint] = []
    for body in range(1, len(places)):
        own = Link(names.bodies[body], _inertia(arrays, body), shapes=shapes.of(body))
        between, more = chain(arrays, names, body, places[body], motors, reading.snap)
        links += [*(Link(name) for name in between), own]
        joints += more
    gravity = np.zeros(3) if arrays.disabled(_GRAVITY_OFF) else arrays.option("gravity")
    frames = tuple(_site(arrays, names, site) for site in range(arrays.count("nsite")) if names.sites[site])
    addresses = {
        names.joints[i]: (int(arrays["jnt_qposadr"][i]), int(arrays["jnt_dofadr"][i]))
        for i in range(arrays.count("njnt"))
    }
    return Description(names.model, tuple(links), tuple(joints), document.label, frames, gravity, addresses)


def _place(arrays: Arrays, body: int, snap: float) -> Pose:
    """A body's pose in its parent's frame with its joints at `ref`; a free body has none, it is in `q`."""
    first = int(arrays["body_jntadr"][body])
    if first >= 0 and int(arrays["jnt_type"][first]) == FREE:
        return Pose.identity()
    return _pose(arrays["body_pos"][body], arrays["body_quat"][body], snap)


def _pose(position: np.ndarray, quaternion: np.ndarray, snap: float) -> Pose:
    """MuJoCo's quaternions are [w, x, y, z]."""
    return Pose(rotation_from_quaternion(np.roll(quaternion, -1), snap), position)


def _inertia(arrays: Arrays, body: int) -> Inertia:
    principal = np.diag(arrays["body_inertia"][body])
    frame = _pose(arrays["body_ipos"][body], arrays["body_iquat"][body], 0.0)
    return Inertia(float(arrays["body_mass"][body]), np.zeros(3), principal).moved(frame)


def _site(arrays: Arrays, names: Names, site: int) -> NamedFrame:
    body = int(arrays["site_bodyid"][site])
    pose = _pose(arrays["site_pos"][site], arrays["site_quat"][site], 0.0)
    return NamedFrame(names.sites[site], names.bodies[body], pose)


MJCF = Format("MJCF", read=parse_mjcf, tags=("mujoco",), takes=is_mujoco, kinds=tuple(KINDS))
