"""Robots whose joints are turned a little, and Pinocchio's model of exactly the numbers that a Model has."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio

from robomorph.model import WORLD, Body, Model

Array = npt.NDArray[Any]
WITH_AXIS = ("revolute", "continuous", "prismatic")
# Pinocchio takes axes within 1e-12 of a coordinate axis as that; everything from here on it takes as written.
LEAST, MOST = 1.01e-12, 1e-2


def small_angle(rng: np.random.Generator) -> float:
    """An angle (rad) of any size from LEAST to MOST, either way."""
    return float(rng.choice([-1.0, 1.0]) * math.exp(rng.uniform(math.log(LEAST), math.log(MOST))))


def turned(text: str, rng: np.random.Generator) -> str:
    """The URDF `text` with the axes and origins of about half of its joints turned by small angles, and
    some origins shifted by 1e-14 to 1e-6 m."""
    root = ElementTree.fromstring(text)
    for joint in root.findall("joint"):
        if joint.get("type") in WITH_AXIS and rng.random() < 0.5:
            axis = _element(joint, "axis", xyz="1 0 0")
            axis.set("xyz", _text(turned_axis(_vector(axis, "xyz"), small_angle(rng), rng)))
        if rng.random() < 0.5:
            origin = _element(joint, "origin")
            rpy, xyz = _vector(origin, "rpy"), _vector(origin, "xyz")
            rpy[rng.integers(3)] += small_angle(rng)
            xyz[rng.integers(3)] += rng.choice([0.0, 10.0 ** rng.uniform(-14, -6)])
            origin.set("rpy", _text(rpy))
            origin.set("xyz", _text(xyz))
    return ElementTree.tostring(root, encoding="unicode")


def turned_axis(axis: Array, angle: float, rng: np.random.Generator) -> Array:
    """A unit axis at this angle from `axis`: towards a coordinate axis, or any way."""
    unit = axis / np.linalg.norm(axis)
    towards = np.eye(3)[int(np.argmin(np.abs(unit)))] if rng.random() < 0.5 else rng.normal(size=3)
    across = towards - unit * (towards @ unit)
    return np.asarray(math.cos(angle) * unit + math.sin(angle) * across / np.linalg.norm(across))


def _element(joint: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    found = joint.find(tag)
    return ElementTree.SubElement(joint, tag, attributes) if found is None else found


def _vector(element: ElementTree.Element, key: str) -> Array:
    return np.array([float(x) for x in element.get(key, "0 0 0").split()])


def _text(values: Array) -> str:
    return " ".join(repr(float(x)) for x in values)


def by_hand(model: Model) -> Any:
    """Pinocchio's model of these bodies, mimic joints free; unlike in its reader, every axis as it is."""
    out = pinocchio.Model()
    joints = {WORLD: 0}
    for i, body in enumerate(model.bodies):
        placement = pinocchio.SE3(np.array(body.placement.matrix))
        joints[i] = out.addJoint(joints[body.parent], _joint(body), placement, body.joint_name)
        inertia = body.inertia
        mass = pinocchio.Inertia(inertia.mass, np.array(inertia.com), np.array(inertia.tensor))
        out.appendBodyToJoint(joints[i], mass, pinocchio.SE3.Identity())
    for frame in model.frames:
        place = pinocchio.SE3(np.array(frame.placement.matrix))
        out.addBodyFrame(frame.name, joints[frame.body], place, 0)
    return out


def _joint(body: Body) -> Any:
    if body.kind == "floating":
        return pinocchio.JointModelFreeFlyer()
    if body.kind == "planar":
        return pinocchio.JointModelPlanar()
    kind = "Prismatic" if body.kind == "prismatic" else "Revolute"
    return getattr(pinocchio, f"JointModel{kind}Unaligned")(np.array(body.axis))
