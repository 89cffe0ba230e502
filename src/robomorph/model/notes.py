"""What a loader has to say: errors that name their place, and warnings gathered by kind."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import NamedTuple

from ..errors import ModelError, ModelWarning

_SHOWN = 8


class Place(NamedTuple):
    """A spot in a description: the file (or what stands for it), the line (0: unknown), the element."""

    source: str
    line: int
    element: str

    def __str__(self) -> str:
        line = f"line {self.line}, " if self.line else ""  # what was no text has none
        return f"{self.source}, {line}{self.element}"


def fault(place: Place, *, expected: str, found: str, fix: str) -> ModelError:
    """The error for one place: where, what was expected, what was found, how to mend it."""
    end = "" if fix.endswith("?") else "."
    finding = f"expected {expected}, found {found}"
    error = ModelError(f"{place}: {finding}. To mend it: {fix}{end}")
    error.finding = finding
    return error


@dataclass(frozen=True)
class Concern:
    """A kind of suspicious but usable input."""

    title: str
    fix: str


TRIANGLE = Concern(
    "principal moments of inertia that break the triangle inequality (no real body has them)",
    "correct ixx ... izz; the dynamics use them as written",
)
SINGULAR = Concern(
    "a moving body with mass but without rotational inertia about some axis",
    "give the link a positive definite <inertia>; forward dynamics may be singular",
)
MASSLESS_TENSOR = Concern(
    "rotational inertia without mass", "set <mass value> above 0; the inertia is used as written"
)
INDEFINITE = Concern(
    "an inertia that is not positive definite, which no real body has",
    "check the signs and the size of ixx ... izz; the dynamics use them as written, and forward dynamics are "
    "refused where they make the mass matrix indefinite",
)
NO_MASS = Concern(
    "joints that move no mass, or none that resists them. Kinematics, Jacobians and inverse kinematics work; "
    "what divides by the mass matrix (forward dynamics) is refused, and all dynamics if nothing that moves "
    "has mass",
    "give the links an <inertial>, weld mass to them with payloads={link: (mass, com, tensor)}, or hold the "
    "joints still with locked={joint: value}",
)
MASSLESS_BASE = Concern(
    "a floating link without mass: forward dynamics may be singular",
    "give the link an <inertial>, or load with floating_base=False",
)
MISSING_LIMITS = Concern(
    "joint limits that are missing; a missing limit is taken as infinite",
    "add <limit lower upper velocity effort>",
)
HALF_LIMITS = Concern(
    "only one of the limits lower and upper; URDF takes the other as 0",
    "give both lower and upper in <limit>",
)
AXIS_LENGTH = Concern(
    "an <axis> that is not of unit length; it was normalised", "write the axis with length 1"
)
NEARLY_RIGHT = Concern(
    "nearly right angles, which keep entries from being exactly 0 or 1 and make kernels slower",
    "write the angle to 16 digits, or load with a looser snap= (rad, above the distances named here) "
    "to restore sparsity",
)
NEGATIVE_DYNAMICS = Concern(
    "negative damping or friction, which would feed energy in, or negative armature or stiffness",
    "write values of 0 or more",
)
UNKNOWN_ELEMENT = Concern(
    "elements that URDF does not know here; they were ignored", "correct the name, or remove the element"
)
UNKNOWN_ATTRIBUTE = Concern(
    "attributes that URDF does not know; they were ignored", "correct the name, or remove the attribute"
)
STRAY_TEXT = Concern(
    "text inside an element of URDF, which has only attributes; it was ignored",
    'write the value as an attribute, such as <origin xyz="0 0 1"/>, or remove the text',
)
UNKNOWN_VERSION = Concern(
    "a version of URDF that robomorph does not know; it was read as 1.2", "write version 1.0, 1.1 or 1.2"
)
QUATERNION_VERSION = Concern(
    "quat_xyzw in a document that does not say version 1.1 or later; it was used, but others ignore it",
    'write <robot version="1.1">, or give the rotation as rpy',
)
QUATERNION_LENGTH = Concern(
    "a quat_xyzw that is not of unit length; it was normalised", "write the quaternion with length 1"
)
TWO_ROTATIONS = Concern(
    "both rpy and quat_xyzw in one <origin>, which other readers refuse; they agree, and quat_xyzw was used",
    "remove one of them",
)
ROUNDED_ROTATION = Concern(
    "a matrix that is only nearly a rotation; the nearest rotation was used",
    "give the matrix with all its digits",
)
REPEATED = Concern("an element given more than once; only the first is used", "remove the others")
NO_ROBOT_NAME = Concern("a <robot> without a name; it is called 'robot'", "write <robot name=...>")
MIMIC_OF_FIXED = Concern(
    "a joint that mimics a fixed joint; it was locked at its offset", "name a moving joint in <mimic joint>"
)
MIMIC_UNUSED = Concern(
    "a <mimic> that leads nowhere; it does not matter with mimic=False",
    "name another, moving joint in <mimic joint>",
)
PLANAR_AXIS = Concern(
    "a planar joint whose <axis> is not z; the plane taken is x-y of the joint's frame, as Pinocchio does",
    "turn the joint with <origin rpy> so that z is normal to the plane, and write the axis 0 0 1",
)
MIMIC_IGNORED = Concern(
    "a <mimic> on a joint that has no single coordinate; it was ignored", "remove the <mimic>"
)
PAYLOAD_ON_WORLD = Concern(
    "a payload on a link that is fixed to the world; it changes nothing",
    "attach it to a moving link, or load with floating_base=True",
)
DROPPED_SHAPE = Concern(
    "a <visual> or <collision> that cannot be used; it was left out, and dynamics and kinematics do without",
    "correct the numbers or names, or remove the element",
)
MISSING_MESH = Concern(
    "mesh files that were not found; these shapes can be neither drawn nor touched",
    "name the folders that hold the packages with package_dirs=[...] (--package-dir), or set "
    "ROS_PACKAGE_PATH or AMENT_PREFIX_PATH",
)
UNKNOWN_MATERIAL = Concern(
    "a <material> without a colour, and nowhere defined; the shape has no colour",
    "define it with <material name=...><color rgba=.../></material>",
)
BAD_COLOR = Concern(
    "a colour that cannot be used; it was left out", 'write rgba="r g b a" with four numbers from 0 to 1'
)
TEXTURE = Concern(
    "textures, which are not read; the colour of the material is used, if it has one",
    "give the material a <color>, and remove the <texture>",
)
MUJOCO_WARNS = Concern("what MuJoCo warns of while it compiles the model", "correct the file as it says")
XACRO_WARNS = Concern("what xacro warns of while it runs the file", "correct the file as it says")
DROPPED_GEOM = Concern(
    "geoms that are no shape of a robot; they were left out, and dynamics and kinematics do without",
    "draw them as meshes from files, or as simple shapes",
)
UNEVEN_EFFORT = Concern(
    "effort limits that differ in the two directions; the larger is kept for both",
    "give both the same size: MJCF's forcerange, ctrlrange, actuatorfrcrange, or Pinocchio's effort limits",
)
STALE_MASSES = Concern(
    "bodies that were changed after the model was compiled, whose inertias are those of before to MuJoCo",
    "call mujoco.mj_setConst(model, data), or where that is not enough change an MjSpec and compile it anew; "
    "until then MuJoCo's accelerations are not those of the masses",
)
DISCRETE_STEPS = Concern(
    "an integrator whose accelerations in MuJoCo are those of its step, with springs and dampers as they are "
    "at its end; robomorph's are those of the equations of motion",
    "choose another integrator, or compare them without springs and dampers",
)
UNEVEN_LIMITS = Concern(
    "velocity or effort limits that differ along the axes of a joint; the largest is kept for all of them",
    "give all axes of the joint the same limit",
)
FREE_POSITIONS = Concern(
    "position limits of joints that have none here, as continuous, planar, spherical and floating ones; they "
    "were left out",
    "remove them, and keep within them where you choose configurations",
)
LOCKED_OUTSIDE = Concern("a joint locked outside its limits", "lock it between its lower and upper limits")


@dataclass
class Notes:
    """Gathers concerns while loading, so that a file with dozens of the same kind gives one warning."""

    source: str
    _found: dict[Concern, list[str]] = field(default_factory=dict)

    def add(self, concern: Concern, place: Place, detail: str) -> None:
        """Remember one occurrence; `detail` says what was found there."""
        line = f" (line {place.line})" if place.line else ""
        self._found.setdefault(concern, []).append(f"{place.element}{line}: {detail}")

    def messages(self) -> list[str]:
        """One message per kind of concern, naming the occurrences."""
        return [self._message(concern, found) for concern, found in self._found.items()]

    def with_misspellings(self, error: ModelError) -> ModelError:
        """The error, and what was found before it that URDF does not know: a misspelt <joint> is no joint."""
        names = [
            self._message(concern, self._found[concern])
            for concern in (UNKNOWN_ELEMENT, UNKNOWN_ATTRIBUTE)
            if concern in self._found
        ]
        return ModelError("\nThis may be the cause: ".join([str(error), *names])) if names else error

    def _message(self, concern: Concern, found: list[str]) -> str:
        shown = "; ".join(found[:_SHOWN])
        more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        end = "" if (shown + more).endswith("?") else "."
        return f"{self.source}: {concern.title}. Found in {shown}{more}{end} To mend it: {concern.fix}."

    def emit(self, *, strict: bool, stacklevel: int) -> None:
        """Issue the warnings, or one ModelError with all of them if `strict`."""
        messages = self.messages()
        if strict and messages:
            raise ModelError("strict=True allows no warnings, but there are:\n" + "\n".join(messages))
        for message in messages:
            warnings.warn(message, ModelWarning, stacklevel=stacklevel + 1)
