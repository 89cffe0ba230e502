"""MJCF by MuJoCo's own compiler: what is read are the arrays of the MjModel that it makes.

So includes, defaults, frames, angles, inertias from geoms and every setting of <compiler> are MuJoCo's. What
a robot here cannot have is refused by name, or left out by `load(ignore=)` (mjcf_refusals.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import RobomorphError
from ..description import Description, Joint, Link, NamedFrame
from ..document import Document
from ..inertia import Inertia
from ..pose import Pose
from .base import Format, Reading
from .mjcf_actuators import actuated
from .mjcf_arrays import Arrays
from .mjcf_compile import compiled, is_mujoco
from .mjcf_constants import check_constants, check_integrator
from .mjcf_joints import FREE, chain, without
from .mjcf_names import Names
from .mjcf_poses import pose_of
from .mjcf_refusals import KINDS, check
from .mjcf_shapes import Shapes

LIBRARY = "MuJoCo"  # whose vectors the addresses are about
_GRAVITY_OFF = "mjDSBL_GRAVITY"


def parse_mjcf(document: Document, reading: Reading) -> Description:
    """Read MJCF, or an MjModel or MjSpec. The world body is the root link; bodies are links of their names,
    and sites are frames. `mjcf_names.py` says what is called how where the file gives no name."""
    model, spec = compiled(document, reading.notes)
    arrays = Arrays(model, document.label)
    try:
        return _description(arrays, spec, document, reading)
    except RobomorphError:
        raise
    except (IndexError, KeyError, ValueError) as error:  # to MuJoCo it would be worse
        expected, found = "ids, types and addresses that the model has", str(error)
        raise arrays.wrong("the model", expected, found, "undo what was changed by hand") from None


def _description(arrays: Arrays, spec: Any, document: Document, reading: Reading) -> Description:
    names = Names(arrays)
    left_out = check(arrays, names, reading.ignored)
    places = [_place(arrays, body, reading.snap) for body in range(arrays.count("nbody"))]
    shapes = Shapes(arrays, names, document.path, reading, spec)
    motors = actuated(arrays, names, reading)
    check_integrator(arrays, reading.notes)
    check_constants(arrays, names, motors, reading.notes)
    links = [Link("world", None, shapes=shapes.of(0))]
    joints: list[Joint] = []
    for body in range(1, len(places)):
        own = Link(names.bodies[body], _inertia(arrays, names, body), shapes=shapes.of(body))
        between, more = chain(arrays, names, body, places[body], motors, reading.snap)
        more = [without(joint, names, left_out, motors) for joint in more]
        links += [*(Link(name) for name in between), own]
        joints += more
    gravity = np.zeros(3) if arrays.disabled(_GRAVITY_OFF) else arrays.option("gravity")
    frames = tuple(_site(arrays, names, site) for site in range(arrays.count("nsite")) if names.sites[site])
    addresses = {
        names.joints[i]: (int(arrays["jnt_qposadr"][i]), int(arrays["jnt_dofadr"][i]))
        for i in range(arrays.count("njnt"))
    }
    return Description(
        names.model, tuple(links), tuple(joints), document.label, frames, gravity, addresses, LIBRARY
    )


def _place(arrays: Arrays, body: int, snap: float) -> Pose:
    """A body's pose in its parent's frame with its joints at `ref`; a free body has none, it is in `q`."""
    first = int(arrays["body_jntadr"][body])
    if first >= 0 and int(arrays["jnt_type"][first]) == FREE:
        return Pose.identity()
    return pose_of(arrays, "body", body, snap)


def _inertia(arrays: Arrays, names: Names, body: int) -> Inertia:
    mass, moments = float(arrays["body_mass"][body]), arrays["body_inertia"][body]
    if min(mass, *moments) < 0.0:  # the compiler lets none pass
        place, found = f"body {names.bodies[body]!r}", f"{mass:g} kg and {moments.tolist()}"
        expected = "a mass and principal moments of 0 or more"
        raise arrays.wrong(place, expected, found, "correct body_mass and body_inertia")
    return Inertia(mass, np.zeros(3), np.diag(moments)).moved(pose_of(arrays, "body_i", body))


def _site(arrays: Arrays, names: Names, site: int) -> NamedFrame:
    body = int(arrays["site_bodyid"][site])
    return NamedFrame(names.sites[site], names.bodies[body], pose_of(arrays, "site", site))


MJCF = Format("MJCF", read=parse_mjcf, tags=("mujoco",), takes=is_mujoco, kinds=tuple(KINDS))
