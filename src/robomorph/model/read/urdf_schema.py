"""What URDF knows: the elements that are read with their attributes and children, and what is passed over.

Whatever stands inside an element that is read, and is not listed here, is a concern: it may be a misspelt
name, and what it says has no effect. What is passed over is never looked into.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from robomorph.naming import close_matches

from ..notes import STRAY_TEXT, UNKNOWN_ATTRIBUTE, UNKNOWN_ELEMENT, UNKNOWN_VERSION
from .xmltree import Element

if TYPE_CHECKING:
    from .urdf_fields import Fields

# 1.1 brought quat_xyzw; 1.2 capsules, and limits of acceleration, deceleration and jerk.
VERSIONS = ("1.0", "1.1", "1.2")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True)
class Kind:
    """An element that is read: attributes and children of URDF, and of others' extensions to it.

    `ignored` are children of URDF that are not read; `foreign` are attributes and children that simulators
    and tools add, and that real files have.
    """

    attributes: frozenset[str]
    children: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    foreign: frozenset[str] = frozenset()


KINDS: dict[str, Kind] = {
    "robot": Kind(
        _words("name version"),
        _words("link joint material"),
        _words("transmission gazebo"),
        _words(
            "sensor ros2_control deformable mujoco frame collision_filter_group disable_collisions actuator "
            "plugin camera controller group group_state virtual_joint end_effector passive_joint "
            "disable_default_collisions enable_collisions link_sphere_approximation"
        ),
    ),
    "link": Kind(
        _words("name type"),
        _words("inertial visual collision"),
        foreign=_words(
            "contact self_filter self_collision_checking collision_checking kinematic gravity surface sensor "
            "gazebo visual_geometry self_collide enable_wind velocity_decay audio_sink audio_source "
            "projector must_be_base_link concave"
        ),
    ),
    "inertial": Kind(frozenset(), _words("origin mass inertia")),
    "mass": Kind(_words("value")),
    "inertia": Kind(_words("ixx ixy ixz iyy iyz izz")),
    "origin": Kind(_words("xyz rpy quat_xyzw")),
    "joint": Kind(
        _words("name type"),
        _words("parent child origin axis limit dynamics mimic"),
        _words("calibration safety_controller"),
        _words("joint_properties hardwareInterface gazebo sensor dont_collapse actuator transmission"),
    ),
    "parent": Kind(_words("link")),
    "child": Kind(_words("link")),
    "axis": Kind(_words("xyz"), foreign=_words("rpy")),
    "limit": Kind(
        _words("lower upper effort velocity acceleration deceleration jerk"),
        foreign=_words("command_effort current gear_velocity twist"),
    ),
    "dynamics": Kind(
        _words("damping friction"), foreign=_words("D K mu_coulomb mu_viscous armature spring_stiffness")
    ),
    "mimic": Kind(_words("joint multiplier offset")),
    "visual": Kind(_words("name"), _words("origin geometry material"), foreign=_words("group verbose")),
    "collision": Kind(
        _words("name"),
        _words("origin geometry"),
        foreign=_words("group verbose material surface contact_coefficients max_contacts concave"),
    ),
    "geometry": Kind(frozenset(), _words("box cylinder sphere capsule mesh"), foreign=_words("name")),
    "box": Kind(_words("size")),
    "cylinder": Kind(_words("radius length")),
    "sphere": Kind(_words("radius")),
    "capsule": Kind(_words("radius length")),
    "mesh": Kind(_words("filename scale")),
    "material": Kind(_words("name"), _words("color texture"), foreign=_words("script ambient diffuse")),
    "color": Kind(_words("rgba")),
    "texture": Kind(_words("filename")),
}
# What describes shapes. It is no reason to refuse a robot, as dynamics and kinematics do without.
SHAPES = _words("visual collision geometry box cylinder sphere capsule mesh material color texture")

# Names of other formats for what URDF calls otherwise, too far apart for a guess by spelling.
_MEANT = {
    "pose": "origin",
    "quat": "quat_xyzw",
    "quaternion": "quat_xyzw",
    "body": "link",
    "xyzw": "quat_xyzw",
}


def check_vocabulary(root: Element, fields: Fields) -> None:
    """Note what the elements that are read hold and URDF does not know; xacro in them is an error."""
    version = root.attributes.get("version", VERSIONS[0]).strip()
    if version not in VERSIONS:
        fields.notes.add(UNKNOWN_VERSION, fields.place(root), f'version="{version}"')
    waiting = [root]
    while waiting:
        element = waiting.pop()
        _check(element, KINDS[element.tag], fields)
        waiting += [child for child in reversed(element.children) if child.tag in KINDS[element.tag].children]


def _check(element: Element, kind: Kind, fields: Fields) -> None:
    notes, place = fields.notes, fields.place(element)
    for name in element.attributes:
        if name not in kind.attributes | kind.foreign and not _is_prefixed(name):
            notes.add(UNKNOWN_ATTRIBUTE, place, f"{name}=..., {_guess(name, kind.attributes)}")
    known = kind.children | kind.ignored
    for child in element.children:
        if child.tag.startswith("xacro:") and element.tag in SHAPES:
            notes.add(UNKNOWN_ELEMENT, fields.place(child), "a xacro macro: load it with xacro=True")
        elif child.tag.startswith("xacro:"):
            fix = "load it with xacro=True, or call the file .xacro"
            raise fields.wrong(child, "plain URDF", "a xacro macro", fix)
        elif child.tag not in known | kind.foreign and not _is_prefixed(child.tag):
            guess = _guess(child.tag, known, "<{}>")
            notes.add(UNKNOWN_ELEMENT, fields.place(child), guess)
    if element.text:
        notes.add(STRAY_TEXT, place, repr(element.text))


def _is_prefixed(name: str) -> bool:
    """Whether a name belongs to somebody's namespace (drake:, xmlns:) and so is an extension."""
    return ":" in name or name == "xmlns"


def _guess(name: str, known: frozenset[str], form: str = "{}") -> str:
    meant = _MEANT.get(name.lower())
    close = [meant] if meant in known else close_matches(name, sorted(known))[:1]
    if close:
        return f"did you mean {form.format(close[0])}?"
    return f"known are {', '.join(form.format(word) for word in sorted(known))}" if known else "none is known"
