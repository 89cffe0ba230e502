"""A robot as MuJoCo's XML: its tree, axes and inertias, and nothing that touches or stops it."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.model import Model
from robomorph.model.model import WORLD, Body
from robomorph.model.pose import Pose

_TYPES = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slide"}


def mjcf(model: Model) -> str:
    """The text of an MJCF file. Bodies are named body0, body1, ... in the model's order, and their joints
    joint0, ...: names of a file need not be unlike each other's in MuJoCo's eyes. It has no bodies without
    mass that move, but several joints of one: links without mass between joints are none (`merged`)."""
    root = Xml.Element("mujoco", model="robot")
    Xml.SubElement(root, "compiler", angle="radian", autolimits="false", balanceinertia="false")
    flags = Xml.SubElement(root, "option", gravity=_text(model.gravity))
    Xml.SubElement(flags, "flag", contact="disable", limit="disable", equality="disable")
    nodes = {WORLD: Xml.SubElement(root, "worldbody")}
    between = merged(model)
    for index in range(len(model.bodies)):
        if index in between:
            continue
        chain = [index]
        while model.bodies[chain[0]].parent in between:
            chain.insert(0, model.bodies[chain[0]].parent)
        nodes[index] = _body(nodes[model.bodies[chain[0]].parent], model, chain)
    return Xml.tostring(root, encoding="unicode")


def merged(model: Model) -> frozenset[int]:
    """The bodies without mass that carry one other body and nothing else."""
    carried = [body.parent for body in model.bodies]
    return frozenset(i for i, b in enumerate(model.bodies) if b.inertia.is_zero and carried.count(i) == 1)


def _body(parent: Xml.Element, model: Model, chain: list[int]) -> Xml.Element:
    """The last body of a chain, with the joints of all."""
    last, places = model.bodies[chain[-1]], [Pose.identity()]
    for index in reversed(chain):  # of the joints' frames in the last body's
        places.insert(0, places[0].compose(model.bodies[index].placement.inverse()))
    outer = places[0].inverse()
    node = Xml.SubElement(
        parent,
        "body",
        name=f"body{chain[-1]}",
        pos=_text(outer.translation),
        quat=_text(quaternion(outer.rotation)),
    )
    for index, place in zip(chain, places[1:], strict=True):
        _joint(node, model, index, place)
    inertia = last.inertia
    if not inertia.is_zero:
        t = inertia.tensor
        full = [t[0, 0], t[1, 1], t[2, 2], t[0, 1], t[0, 2], t[1, 2]]
        Xml.SubElement(
            node,
            "inertial",
            pos=_text(inertia.com),
            mass=repr(float(inertia.mass)),
            fullinertia=_text(np.array(full)),
        )
    return node


def _joint(node: Xml.Element, model: Model, index: int, place: Pose) -> None:
    """A joint, whose frame has this pose in that of the node."""
    body = model.bodies[index]
    if body.kind not in _TYPES or body.mimic is not None:
        what = f"of type {body.kind!r}" if body.mimic is None else "that follows another (<mimic>)"
        raise ArgumentError(
            f"{model.name}: joint {body.joint_name!r} {what}: MuJoCo as a plant takes {', '.join(_TYPES)} "
            "joints that are independent: lock it (locked=), or use RobotPlant"
        )
    where = {"axis": _text(place.rotation @ body.axis), "pos": _text(place.translation)}
    own = {"name": f"joint{index}", "type": _TYPES[body.kind], **where}
    Xml.SubElement(node, "joint", own | _own_forces(model, body))


def _own_forces(model: Model, body: Body) -> dict[str, str]:
    """What MuJoCo has of the joint itself, in its words."""
    if model.passive is None:
        return {"armature": repr(float(body.armature))}
    if body.friction:
        raise ArgumentError(
            f"{model.name}: joint {body.joint_name!r}: MuJoCo's friction loss is a constraint of its solver, "
            "not the smooth law of passive=True: load the robot with friction=0, or use RobotPlant"
        )
    values = {
        "armature": body.armature,
        "damping": body.damping,
        "stiffness": body.stiffness,
        "springref": body.rest,
    }
    return {name: repr(float(value)) for name, value in values.items()}


def quaternion(rotation: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(4,) w, x, y, z of a (3, 3) rotation: the eigenvector of Shepperd's symmetric matrix, which has no
    angle at which it loses digits."""
    m = rotation
    k = np.array(
        [
            [m[0, 0] + m[1, 1] + m[2, 2], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]],
            [0.0, m[0, 0] - m[1, 1] - m[2, 2], m[1, 0] + m[0, 1], m[0, 2] + m[2, 0]],
            [0.0, 0.0, m[1, 1] - m[0, 0] - m[2, 2], m[2, 1] + m[1, 2]],
            [0.0, 0.0, 0.0, m[2, 2] - m[0, 0] - m[1, 1]],
        ]
    )
    return np.asarray(np.linalg.eigh(k, UPLO="U")[1][:, -1])


def _text(values: npt.NDArray[np.float64]) -> str:
    return " ".join(repr(float(value)) for value in values)
