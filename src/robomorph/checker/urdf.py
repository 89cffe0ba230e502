"""The few parts of a URDF that mechanics needs, decimals as fractions."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from fractions import Fraction

from robomorph.checker.balls import Ball, Matrix, Vector, ball, cosine_sine, identity, product, turned
from robomorph.checker.document import Refused

MOVING = ("revolute", "continuous", "prismatic")
_QUARTER = math.pi / 2
_DECIMAL = re.compile(r"[+-]?(\d{1,400}\.?\d{0,400}|\.\d{1,400})([eE][+-]?\d{1,3})?", re.ASCII)


@dataclass(frozen=True)
class Placement:
    """Axes (columns) and origin of one frame in another."""

    rotation: Matrix
    origin: Vector


@dataclass(frozen=True)
class Mass:
    """A rigid body fixed to a link: kg, centre of mass and tensor about it, in the link's frame."""

    link: str
    mass: Ball
    center: Vector
    tensor: Matrix


@dataclass(frozen=True)
class Joint:
    """limits: lower, upper, velocity, effort; infinite where the file has none. mimic: (joint, multiplier,
    offset)."""

    name: str
    kind: str
    parent: str
    child: str
    placement: Placement
    axis: Vector
    limits: tuple[float, float, float, float]
    mimic: tuple[str, Fraction, Fraction] | None


@dataclass(frozen=True)
class Description:
    links: tuple[str, ...]
    masses: tuple[Mass, ...]
    joints: tuple[Joint, ...]


def read_urdf(text: str, snap: float) -> Description:
    """snap: angles this close (rad) to a multiple of pi/2, and entries of axes this close to 0, are that."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise Refused("robot: expected plain XML, found a document type")
    try:
        root = ElementTree.fromstring(text.encode("utf-8"))
    except ElementTree.ParseError as error:
        raise Refused(f"robot: expected XML, found something else: {error}") from None
    if root.tag != "robot":
        raise Refused(f"robot: expected <robot>, found <{root.tag}>")
    links = [_attribute(link, "name") for link in root.findall("link")]
    masses = [mass for link in root.findall("link") if (mass := _mass(link, snap)) is not None]
    joints = [_joint(joint, snap) for joint in root.findall("joint")]
    for what, names in (("link", links), ("joint", [joint.name for joint in joints])):
        if len(set(names)) != len(names):
            raise Refused(f"robot: expected every {what} name once")
    return Description(tuple(links), tuple(masses), tuple(joints))


def _attribute(element: ElementTree.Element, name: str) -> str:
    value = element.get(name)
    if value is None:
        raise Refused(f"robot: <{element.tag}>: expected an attribute {name!r}, found none")
    return value


def _decimal(text: str) -> Fraction:
    if not _DECIMAL.fullmatch(text.strip()):
        raise Refused(f"robot: expected a decimal number, found {text[:60]!r}")
    return Fraction(text.strip())


def _three(element: ElementTree.Element | None, name: str, default: str) -> list[Fraction]:
    text = default if element is None else element.get(name, default)
    values = [_decimal(x) for x in text.split()]
    if len(values) != 3:
        raise Refused(f"robot: {name}: expected three numbers, found {text!r}")
    return values


def right_angle(angle: float, snap: float) -> int | None:
    """How many quarter turns an angle is, if it is within `snap` of so many."""
    if abs(angle) > 100.0:
        return None
    quarters = round(angle / _QUARTER)
    return quarters if abs(angle - quarters * _QUARTER) <= snap else None


def angle_parts(angle: Fraction, snap: float) -> tuple[Ball, Ball]:
    """Cosine and sine."""
    quarters = right_angle(float(angle), snap)
    if quarters is not None:
        return ((1, 0), (0, 1), (-1, 0), (0, -1))[quarters % 4]
    return cosine_sine(ball(angle))


def _origin(owner: ElementTree.Element, snap: float) -> Placement:
    element = owner.find("origin")
    if element is not None and element.get("quat_xyzw") is not None:
        raise Refused("robot: quat_xyzw: this program reads rotations as rpy only")
    rotation = identity()
    axes: tuple[Vector, ...] = ([0, 0, 1], [0, 1, 0], [1, 0, 0])
    for angle, axis in zip(reversed(_three(element, "rpy", "0 0 0")), axes, strict=True):
        rotation = product(rotation, turned(axis, *angle_parts(angle, snap)))
    return Placement(rotation, [ball(x) for x in _three(element, "xyz", "0 0 0")])


def _mass(link: ElementTree.Element, snap: float) -> Mass | None:
    inertial = link.find("inertial")
    if inertial is None:
        return None
    mass, tensor = inertial.find("mass"), inertial.find("inertia")
    if mass is None or tensor is None:
        raise Refused("robot: <inertial>: expected <mass> and <inertia>")
    rows = (("ixx", "ixy", "ixz"), ("ixy", "iyy", "iyz"), ("ixz", "iyz", "izz"))
    own: Matrix = [[ball(_decimal(_attribute(tensor, key))) for key in row] for row in rows]
    at = _origin(inertial, snap)
    turn_back = [list(column) for column in zip(*at.rotation, strict=True)]
    return Mass(
        _attribute(link, "name"),
        ball(_decimal(_attribute(mass, "value"))),
        at.origin,
        product(product(at.rotation, own), turn_back),
    )


def _joint(element: ElementTree.Element, snap: float) -> Joint:
    name, kind = _attribute(element, "name"), _attribute(element, "type")
    if kind not in (*MOVING, "fixed"):
        raise Refused(f"robot: joint {name!r}: this program knows {', '.join(MOVING)} and fixed, not {kind}")
    ends = {}
    for end in ("parent", "child"):
        found = element.find(end)
        if found is None:
            raise Refused(f"robot: joint {name!r}: expected a {end}")
        ends[end] = _attribute(found, "link")
    follows = element.find("mimic")
    mimic = None
    if follows is not None and kind != "fixed":
        numbers = (_decimal(follows.get("multiplier", "1")), _decimal(follows.get("offset", "0")))
        mimic = (_attribute(follows, "joint"), *numbers)
    return Joint(
        name,
        kind,
        ends["parent"],
        ends["child"],
        _origin(element, snap),
        [1, 0, 0] if kind == "fixed" else _axis(element, snap),
        _limits(element, kind),
        mimic,
    )


def _axis(joint: ElementTree.Element, snap: float) -> Vector:
    """Of length one; entries that are nearly zero beside the others are zero."""
    raw = _three(joint.find("axis"), "xyz", "1 0 0")
    length = math.sqrt(float(sum(x * x for x in raw)))
    if length < 1e-12:
        raise Refused("robot: <axis>: expected one that is not zero")
    kept = [Fraction(0) if abs(float(x) / length) <= snap else x for x in raw]
    if sum(x != 0 for x in kept) == 1:
        return [0 if x == 0 else 1 if x > 0 else -1 for x in kept]
    scale = ball(sum((x * x for x in kept), Fraction(0)))
    root = 1 if isinstance(scale, int) else scale.sqrt()
    return [0 if x == 0 else ball(x) / root for x in kept]


def _limits(joint: ElementTree.Element, kind: str) -> tuple[float, float, float, float]:
    element = joint.find("limit")
    if element is None or kind == "fixed":
        return (-math.inf, math.inf, math.inf, math.inf)
    given = [key for key in ("lower", "upper") if element.get(key) is not None]
    free = kind == "continuous" or not given
    lower, upper = (float(_decimal(element.get(key, "0"))) for key in ("lower", "upper"))
    velocity, effort = (
        math.inf if element.get(key) is None else float(_decimal(_attribute(element, key)))
        for key in ("velocity", "effort")
    )
    return (-math.inf if free else lower, math.inf if free else upper, velocity, effort)
