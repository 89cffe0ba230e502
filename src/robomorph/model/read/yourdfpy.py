"""yourdfpy's URDF objects, written down as URDF.

Not by its own writer: that turns rotations into roll, pitch and yaw, which near a pitch of a right angle
loses digits (1e-4 rad where a file has twelve digits of pi/2). Here they are quaternions.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ...errors import ModelError
from ..document import Document
from ..rotation import EXACT, nearest_rotation
from .base import AllXacroArgs, Format, full_name


def write_down(document: Document, arguments: AllXacroArgs, package_dirs: tuple[Path, ...]) -> Document:
    """The URDF document of a yourdfpy.URDF object."""
    del arguments, package_dirs
    urdf = document.given
    try:
        lines = list(_robot(urdf.robot, getattr(urdf, "_filename_handler", None)))
    except (AttributeError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise ModelError(
            f"{document.label}: expected a yourdfpy.URDF with its robot, found one that cannot be written "
            f"down: {error}. To mend it: load it anew, or load its file."
        ) from None
    return Document("\n".join(lines).encode("utf-8", "replace"), document.label, "utf-8")


def _robot(robot: Any, find: Any) -> Iterable[str]:
    yield _open("robot", name=robot.name or "robot", version="1.2")
    for material in robot.materials:
        yield from _material(material)
    for link in robot.links:
        yield _open("link", name=link.name)
        if link.inertial is not None:
            yield from _inertial(link.inertial)
        for kind, shapes in (("visual", link.visuals), ("collision", link.collisions)):
            for shape in shapes:
                yield from _shape(kind, shape, find)
        yield "</link>"
    for joint in robot.joints:
        yield from _joint(joint)
    yield "</robot>"


def _inertial(inertial: Any) -> Iterable[str]:
    yield "<inertial>"
    yield _origin(inertial.origin)
    if inertial.mass is not None:
        yield _leaf("mass", value=inertial.mass)
    if inertial.inertia is not None:
        if not np.allclose(inertial.inertia, np.transpose(inertial.inertia), rtol=1e-9, atol=0.0):
            raise ValueError(f"an inertia that is not symmetric, {np.asarray(inertial.inertia).tolist()}")
        entries = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
        named = {f"i{'xyz'[i]}{'xyz'[j]}": inertial.inertia[i][j] for i, j in entries}
        yield _leaf("inertia", **named)
    yield "</inertial>"


def _shape(kind: str, shape: Any, find: Any) -> Iterable[str]:
    yield _open(kind, name=shape.name)
    yield _origin(shape.origin)
    geometry = shape.geometry
    if geometry is not None:
        yield "<geometry>"
        if geometry.box is not None:
            yield _leaf("box", size=geometry.box.size)
        if geometry.cylinder is not None:
            yield _leaf("cylinder", radius=geometry.cylinder.radius, length=geometry.cylinder.length)
        if geometry.sphere is not None:
            yield _leaf("sphere", radius=geometry.sphere.radius)
        if geometry.mesh is not None:
            mesh = geometry.mesh
            scale = None if mesh.scale is None else np.ones(3) * mesh.scale
            name = mesh.filename if find is None else find(mesh.filename)
            yield _leaf("mesh", filename=name, scale=scale)
        yield "</geometry>"
    if kind == "visual" and shape.material is not None:
        yield from _material(shape.material)
    yield f"</{kind}>"


def _material(material: Any) -> Iterable[str]:
    yield _open("material", name=material.name)
    if material.color is not None:
        yield _leaf("color", rgba=material.color.rgba)
    if material.texture is not None:
        yield _leaf("texture", filename=material.texture.filename)
    yield "</material>"


def _joint(joint: Any) -> Iterable[str]:
    yield _open("joint", name=joint.name, type=joint.type)
    yield _leaf("parent", link=joint.parent)
    yield _leaf("child", link=joint.child)
    yield _origin(joint.origin)
    if joint.axis is not None and joint.type != "fixed":
        yield _leaf("axis", xyz=joint.axis)
    parts = {
        "limit": ("lower", "upper", "effort", "velocity"),
        "dynamics": ("damping", "friction"),
        "mimic": ("joint", "multiplier", "offset"),
    }
    for tag, keys in parts.items():
        part = getattr(joint, tag)
        if part is not None:
            yield _leaf(tag, **{key: getattr(part, key) for key in keys})
    yield "</joint>"


def _origin(matrix: Any) -> str:
    if matrix is None:
        return ""
    pose = np.asarray(matrix, dtype=np.float64)
    if not nearest_rotation(np.nan_to_num(pose[:3, :3]))[1] <= EXACT:
        raise ValueError(f"an origin that is no rigid motion, {pose.tolist()}")
    return _leaf("origin", xyz=pose[:3, 3], quat_xyzw=_quaternion(pose[:3, :3]))


def _quaternion(rotation: Any) -> Any:
    """[x, y, z, w] of a (3, 3) rotation, from its largest entry, so that no digits are lost."""
    (a, b, c), (d, e, f), (g, h, i) = rotation
    found = np.array(
        [
            [1 + a - e - i, b + d, c + g, h - f],
            [b + d, 1 - a + e - i, f + h, c - g],
            [c + g, f + h, 1 - a - e + i, d - b],
            [h - f, c - g, d - b, 1 + a + e + i],
        ]
    )
    row = found[int(np.argmax(np.diag(found)))]
    return row / np.linalg.norm(row)


def _open(tag: str, **attributes: Any) -> str:
    return f"<{tag}{_attributes(attributes)}>"


def _leaf(tag: str, **attributes: Any) -> str:
    return f"<{tag}{_attributes(attributes)}/>"


def _attributes(attributes: dict[str, Any]) -> str:
    given = ((key, value) for key, value in attributes.items() if value is not None)
    return "".join(f" {key}={quoteattr(_text(value))}" for key, value in given)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return " ".join(repr(float(number)) for number in np.atleast_1d(value))


def _takes(given: object) -> bool:
    return full_name(given) in ("yourdfpy.urdf.URDF", "yourdfpy.URDF")


YOURDFPY = Format("yourdfpy", rewrite=write_down, takes=_takes)
