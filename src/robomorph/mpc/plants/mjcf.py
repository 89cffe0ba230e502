"""A robot as MuJoCo's XML: its tree, axes and inertias, and nothing that touches or stops it."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.model import Model
from robomorph.model.model import WORLD, Body

_TYPES = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slide"}


def mjcf(model: Model) -> str:
    """The text of an MJCF file. Bodies are named body0, body1, ... in the model's order, and their joints
    joint0, ...: names of a file need not be unlike each other's in MuJoCo's eyes."""
    root = Xml.Element("mujoco", model="robot")
    Xml.SubElement(root, "compiler", angle="radian", autolimits="false", balanceinertia="false")
    flags = Xml.SubElement(root, "option", gravity=_text(model.gravity))
    Xml.SubElement(flags, "flag", contact="disable", limit="disable", equality="disable")
    nodes = {WORLD: Xml.SubElement(root, "worldbody")}
    for index, body in enumerate(model.bodies):
        nodes[index] = _body(nodes[body.parent], model, index, body)
    return Xml.tostring(root, encoding="unicode")


def _body(parent: Xml.Element, model: Model, index: int, body: Body) -> Xml.Element:
    if body.kind not in _TYPES or body.mimic is not None:
        what = f"of type {body.kind!r}" if body.mimic is None else "that follows another (<mimic>)"
        raise ArgumentError(
            f"{model.name}: joint {body.joint_name!r} {what}: MuJoCo as a plant takes {', '.join(_TYPES)} "
            "joints that are independent: lock it (locked=), or use RobotPlant"
        )
    node = Xml.SubElement(
        parent,
        "body",
        name=f"body{index}",
        pos=_text(body.placement.translation),
        quat=_text(quaternion(body.placement.rotation)),
    )
    kind = _TYPES[body.kind]
    place = {"name": f"joint{index}", "type": kind, "axis": _text(body.axis), "pos": "0 0 0"}
    Xml.SubElement(node, "joint", place | _own_forces(model, body))
    inertia = body.inertia
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
