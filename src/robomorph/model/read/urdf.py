"""URDF text into a Description: every field checked, nothing merged yet."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from robomorph.naming import hint

from ..arrays import Array, frozen
from ..description import Description, Joint, Limits, Link, Mimic
from ..document import Document
from ..inertia import Inertia
from ..joints import JOINT_TYPES
from ..kinds import is_bounded, is_scalar, joint_kinds
from ..mesh_paths import MeshPaths
from ..notes import (
    AXIS_LENGTH,
    HALF_LIMITS,
    INDEFINITE,
    MASSLESS_TENSOR,
    MIMIC_IGNORED,
    MISSING_LIMITS,
    NEARLY_RIGHT,
    NO_ROBOT_NAME,
    PLANAR_AXIS,
    QUATERNION_LENGTH,
    QUATERNION_VERSION,
    TRIANGLE,
    TWO_ROTATIONS,
)
from ..pose import Pose, right_angle_error, rotation_from_rpy, snapped_axis
from ..rotation import rotation_from_quaternion, rpy_from_rotation
from .base import Format, Reading
from .urdf_fields import Fields
from .urdf_schema import check_vocabulary
from .urdf_shapes import ShapeReader
from .xmltree import Element, parse_xml

# Angles off a right angle by less than this are more likely rounded than meant.
_SUSPICIOUS_ANGLE = 1e-3
_UNIT_TOLERANCE = 1e-6
_ZEROS = frozen((0.0, 0.0, 0.0), (3,))


def parse_urdf(document: Document, reading: Reading) -> Description:
    """Read a URDF document."""
    root = parse_xml(document.data, document.label, document.encoding)
    meshes = MeshPaths(document.path, reading.package_dirs)
    return _Reader(Fields(document.label, reading.notes), reading.snap, meshes).robot(root)


URDF = Format("URDF", read=parse_urdf, tags=("robot",))


class _Reader:
    def __init__(self, fields: Fields, snap: float, meshes: MeshPaths) -> None:
        self.fields = fields
        self.shapes = ShapeReader(fields, meshes, partial(self.origin, warn=False))
        self.notes = fields.notes
        self.snap = snap
        self.knows_quaternions = False

    def robot(self, root: Element) -> Description:
        fields = self.fields
        if root.tag != "robot":
            raise fields.wrong(
                root, "<robot> as the outermost element", f"<{root.tag}>", _other_format(root.tag)
            )
        check_vocabulary(root, fields)
        self.knows_quaternions = root.attributes.get("version", "1.0").strip() != "1.0"
        name = root.attributes.get("name", "").strip()
        if not name:
            self.notes.add(NO_ROBOT_NAME, fields.place(root), "no name")
        self.shapes.read_materials(root)
        links = tuple(self.link(element) for element in root.all("link"))
        joints = tuple(self.joint(element) for element in root.all("joint"))
        if not links:
            raise fields.wrong(root, "at least one <link>", "none", "describe the robot's links")
        return Description(name or "robot", links, joints, fields.source)

    def link(self, element: Element) -> Link:
        name = self.fields.text(element, "name", "name every link")
        inertial = self.fields.one(element, "inertial")
        inertia = None if inertial is None else self.inertia(inertial)
        return Link(name, inertia, element.line, tuple(self.shapes.shapes(element, name)))

    def inertia(self, element: Element) -> Inertia:
        fields = self.fields
        mass_element, tensor_element = fields.one(element, "mass"), fields.one(element, "inertia")
        if mass_element is None or tensor_element is None:
            missing = "<mass>" if mass_element is None else "<inertia>"
            raise fields.wrong(
                element, f"{missing} in <inertial>", "none", f"add {missing}, or remove <inertial>"
            )
        mass = fields.sized(mass_element, "value")
        if mass < 0.0:
            raise fields.wrong(mass_element, "a mass of 0 or more", f"{mass:g} kg", "write the mass in kg")
        pose = self.origin(element, warn=False)
        inertia = Inertia(mass, _ZEROS, self.tensor(tensor_element)).moved(pose)
        self.check_inertia(tensor_element, inertia)
        return inertia

    def tensor(self, element: Element) -> Array:
        entry = {key: self.fields.sized(element, key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")}
        return np.array(
            [
                [entry["ixx"], entry["ixy"], entry["ixz"]],
                [entry["ixy"], entry["iyy"], entry["iyz"]],
                [entry["ixz"], entry["iyz"], entry["izz"]],
            ]
        )

    def check_inertia(self, element: Element, inertia: Inertia) -> None:
        place = self.fields.place(element)
        moments = np.linalg.eigvalsh(inertia.tensor)
        found = "principal moments " + ", ".join(f"{moment:.4g}" for moment in moments)
        if inertia.is_indefinite:
            self.notes.add(INDEFINITE, place, found)
            return
        if inertia.mass == 0.0 and inertia.tensor.any():
            self.notes.add(MASSLESS_TENSOR, place, found)
        if inertia.breaks_triangle_inequality:
            self.notes.add(TRIANGLE, place, found)

    def origin(self, owner: Element, *, warn: bool) -> Pose:
        """The <origin> of `owner`; only for joints do nearly right angles cost sparsity (`warn`)."""
        element = self.fields.one(owner, "origin")
        if element is None:
            return Pose.identity()
        translation = self.fields.vector(element, "xyz", _ZEROS)
        rpy = self.fields.vector(element, "rpy", _ZEROS)
        rotation = rotation_from_rpy(rpy, self.snap)
        if "quat_xyzw" in element.attributes:
            rotation = self.quaternion(element, rotation)
            rpy = rpy_from_rotation(rotation, self.snap)
        if warn:
            self.check_right_angles(owner, rpy)
        return Pose(rotation, translation)

    def check_right_angles(self, owner: Element, rpy: Array) -> None:
        off = [
            float(angle) for angle in rpy if self.snap < right_angle_error(float(angle)) < _SUSPICIOUS_ANGLE
        ]
        if off:
            parts = [
                f"{angle:.10g} rad is {at_least(right_angle_error(angle))} from a multiple of pi/2"
                for angle in off
            ]
            self.notes.add(NEARLY_RIGHT, self.fields.place(owner), " and ".join(parts))

    def quaternion(self, element: Element, by_angles: Array) -> Array:
        """The rotation (3, 3) that quat_xyzw of an <origin> gives; `by_angles` is what its rpy gives."""
        written, place = self.fields.quaternion(element, "quat_xyzw"), self.fields.place(element)
        text = f'quat_xyzw="{element.attributes["quat_xyzw"]}"'
        length = float(np.linalg.norm(written))
        if length < 1e-12:
            fix = 'write "x y z w" of length 1; "0 0 0 1" turns nothing'
            raise self.fields.wrong(element, "a quaternion that is not zero", text, fix)
        if abs(length - 1.0) > _UNIT_TOLERANCE:
            self.notes.add(QUATERNION_LENGTH, place, f"length {length:.6g}")
        if not self.knows_quaternions:
            self.notes.add(QUATERNION_VERSION, place, text)
        rotation = rotation_from_quaternion(written / length, self.snap)
        if "rpy" in element.attributes:
            if np.abs(rotation - by_angles).max() > _SUSPICIOUS_ANGLE:
                found = f'{text} and rpy="{element.attributes["rpy"]}", which differ'
                raise self.fields.wrong(element, "one rotation", found, "remove one of the two")
            self.notes.add(TWO_ROTATIONS, place, text)
        return rotation

    def joint(self, element: Element) -> Joint:
        fields = self.fields
        name = fields.text(element, "name", "name every joint")
        kind = fields.text(element, "type", f"give one of {', '.join(joint_kinds())}").strip()
        if kind not in joint_kinds():
            raise fields.wrong(element, "a joint type of URDF", f'type="{kind}"', hint(kind, joint_kinds()))
        damping, friction = self.dynamics(element)
        return Joint(
            name=name,
            kind=kind,
            parent=self.end(element, "parent"),
            child=self.end(element, "child"),
            placement=self.origin(element, warn=True),
            axis=self.axis(element, kind),
            limits=self.limits(element, kind),
            damping=damping,
            friction=friction,
            mimic=self.mimic(element, kind),
            line=element.line,
        )

    def end(self, joint: Element, tag: str) -> str:
        element = self.fields.one(joint, tag)
        if element is None:
            raise self.fields.wrong(
                joint, f"a <{tag} link=...>", "none", f"name the {tag} link of this joint"
            )
        return self.fields.text(element, "link", f"name the {tag} link of this joint")

    def axis(self, joint: Element, kind: str) -> Array:
        """The unit axis, with entries within `snap` of 0 and +-1 made exact; URDF's default is x.

        Planar joints always have the axis z: their plane is x-y of the joint frame, as in Pinocchio.
        """
        element = self.fields.one(joint, "axis")
        joint_type = JOINT_TYPES.get(kind)
        if joint_type is None or not joint_type.has_axis or (element is None and not joint_type.axis_is_z):
            return np.array([1.0, 0.0, 0.0])
        if element is None:
            return np.array([0.0, 0.0, 1.0])
        written = self.fields.vector(element, "xyz")
        length = math.sqrt(float(written @ written))
        if length < 1e-12:
            raise self.fields.wrong(
                element,
                "an axis that is not zero",
                f'xyz="{element.attributes["xyz"]}"',
                "give the direction of the joint's axis",
            )
        if abs(length - 1.0) > _UNIT_TOLERANCE:
            self.notes.add(AXIS_LENGTH, self.fields.place(joint), f"length {length:.6g}")
        axis = snapped_axis(written / length, self.snap)
        if joint_type.axis_is_z and axis.tolist() != [0.0, 0.0, 1.0]:
            self.notes.add(PLANAR_AXIS, self.fields.place(joint), f'axis "{element.attributes["xyz"]}"')
            return np.array([0.0, 0.0, 1.0])
        off = np.abs(axis[(axis != 0.0) & (np.abs(axis) < _SUSPICIOUS_ANGLE)])
        if off.size:
            detail = f"axis entry {at_least(float(off.max()))} is nearly 0"
            self.notes.add(NEARLY_RIGHT, self.fields.place(joint), detail)
        return axis

    def limits(self, joint: Element, kind: str) -> Limits:
        element = self.fields.one(joint, "limit")
        if kind == "fixed":
            return Limits()
        bounded = is_bounded(kind)
        if element is None:
            if bounded:
                self.notes.add(MISSING_LIMITS, self.fields.place(joint), "no <limit>")
            return Limits()
        lower, upper = self.range(element) if bounded else (-math.inf, math.inf)
        given = [key for key in ("lower", "upper") if key in element.attributes]
        needed = ("velocity", "effort") if given or not bounded else ("lower", "upper", "velocity", "effort")
        missing = [key for key in needed if key not in element.attributes]
        if missing and bounded:
            self.notes.add(MISSING_LIMITS, self.fields.place(joint), "no " + ", ".join(missing))
        return Limits(lower, upper, self.rate(element, "velocity"), self.rate(element, "effort"))

    def range(self, element: Element) -> tuple[float, float]:
        given = [key for key in ("lower", "upper") if key in element.attributes]
        if not given:
            return -math.inf, math.inf
        if len(given) == 1:
            self.notes.add(HALF_LIMITS, self.fields.place(element), f"only {given[0]}")
        lower, upper = self.fields.number(element, "lower", 0.0), self.fields.number(element, "upper", 0.0)
        if lower > upper:
            raise self.fields.wrong(
                element, "lower <= upper", f"lower {lower:g}, upper {upper:g}", "swap them"
            )
        return lower, upper

    def rate(self, element: Element, key: str) -> float:
        value = self.fields.number(element, key) if key in element.attributes else math.inf
        if value < 0.0:
            raise self.fields.wrong(
                element,
                f"a limit {key!r} of 0 or more",
                f"{value:g}",
                "write its size; limits hold in both directions",
            )
        return value

    def dynamics(self, joint: Element) -> tuple[float, float]:
        element = self.fields.one(joint, "dynamics")
        if element is None:
            return 0.0, 0.0
        damping = self.fields.sized(element, "damping", 0.0)
        return damping, self.fields.sized(element, "friction", 0.0)

    def mimic(self, joint: Element, kind: str) -> Mimic | None:
        element = self.fields.one(joint, "mimic")
        if element is None:
            return None
        if not is_scalar(kind):
            self.notes.add(MIMIC_IGNORED, self.fields.place(joint), f"type {kind}")
            return None
        source = self.fields.text(element, "joint", "name the joint to follow")
        multiplier = self.fields.sized(element, "multiplier", 1.0)
        return Mimic(source, multiplier, self.fields.sized(element, "offset", 0.0))


def at_least(distance: float) -> str:
    """Two digits, rounded up: a snap of so much is enough."""
    near = f"{distance:.2g}"
    return near if float(near) >= distance else f"{1.05 * distance:.2g}"


def _other_format(tag: str) -> str:
    formats = {"sdf": "SDF", "COLLADA": "COLLADA", "html": "a web page"}
    if tag in formats:
        return f"this is {formats[tag]}; convert it to URDF or MJCF first"
    if tag == "mujoco":  # which is asked for by its name, and so can only come out of xacro
        return "this is MJCF: load it without xacro=True (--xacro), and from no file called .xacro"
    return "load a URDF file, whose outermost element is <robot name=...>, or MJCF, whose is <mujoco>"
