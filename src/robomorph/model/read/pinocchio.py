"""Pinocchio's models, by what they offer: nothing of Pinocchio is imported."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import ModelError
from ..arrays import LARGEST, Array
from ..description import Description, Joint, Limits, Link, NamedFrame
from ..document import Document
from ..inertia import Inertia
from ..kinds import is_bounded
from ..notes import (
    AXIS_LENGTH,
    FREE_POSITIONS,
    ROUNDED_ROTATION,
    UNEVEN_EFFORT,
    UNEVEN_LIMITS,
    Concern,
    Place,
)
from ..pose import Pose, snapped_axis
from ..rotation import nearest_rotation, snapped_rotation
from .base import Format, Reading, full_name

_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
# What a joint is called there -> its kind here; R and P have an axis in their name.
_KINDS = {
    **{f"JointModelR{axis}": "revolute" for axis in _AXES},
    **{f"JointModelRUB{axis}": "continuous" for axis in _AXES},
    **{f"JointModelP{axis}": "prismatic" for axis in _AXES},
    "JointModelRevoluteUnaligned": "revolute",
    "JointModelRevoluteUnboundedUnaligned": "continuous",
    "JointModelPrismaticUnaligned": "prismatic",
    "JointModelSpherical": "spherical",
    "JointModelPlanar": "planar",
    "JointModelFreeFlyer": "floating",
}
# The last entries of their coordinates, cosine and sine or a quaternion, are within -1 and 1 in any case.
_TURNS = {"continuous": 2, "planar": 2, "spherical": 4, "floating": 4}
# More is no rounding: Pinocchio computes with what it has, which we have made a unit vector or a rotation.
_ROUNDING = 1e-11


def parse_pinocchio(document: Document, reading: Reading) -> Description:
    """Read a pinocchio.Model: joint i leads to a link called as its body frame is, or else
    as the joint with `_link` added."""
    model = document.given
    try:
        return _Reader(model, document.label, reading).description()
    except (AttributeError, TypeError, IndexError) as error:
        raise ModelError(
            f"{document.label}: expected a pinocchio.Model of Pinocchio 3 or 4, found one without "
            f"what is needed: {error}. To mend it: load the robot's file instead."
        ) from None


class _Reader:
    def __init__(self, model: Any, label: str, reading: Reading) -> None:
        self.model = model
        self.label = label
        self.snap = reading.snap
        self.notes = reading.notes
        self.names = [str(name) for name in model.names]
        self.links = self.link_names()

    def description(self) -> Description:
        model = self.model
        joints = tuple(self.joint(i) for i in range(1, model.njoints))
        links = tuple(self.link(i) for i in range(model.njoints))
        name = str(getattr(model, "name", "")) or "robot"
        if np.any(np.asarray(model.gravity.angular)):
            raise self.refused("a gravity that is a force field without turning", str(model.gravity.angular))
        gravity = self.finite("gravity", model.gravity.linear)
        addresses = {
            self.names[i]: (int(model.idx_qs[i]), int(model.idx_vs[i])) for i in range(1, model.njoints)
        }
        return Description(name, links, joints, self.label, self.frames(), gravity, addresses, "Pinocchio")

    def link_names(self) -> list[str]:
        """Of every joint: the name of the body frame that is its own, else one made from the joint's."""
        names: dict[int, str] = {}
        seats = {(str(one.name), _carrier(one)) for one in self.model.frames if _is_joints_own(one)}
        frames = {str(one.name) for one in self.model.frames if str(one.type) != "JOINT"}
        for frame in self.model.frames:
            joint, name = _carrier(frame), str(frame.name)
            own = str(frame.type) == "BODY" and _is_joints_own(frame)
            if own and joint not in names and name not in names.values():
                names[joint] = name
        for joint in range(self.model.njoints):
            if joint not in names:
                made = self.names[joint] if joint == 0 else f"{self.names[joint]}_link"
                # A frame that is elsewhere keeps its name.
                while made in names.values() or (made in frames and (made, joint) not in seats):
                    made = f"{made}_of_joint_{joint}"
                names[joint] = made
        return [names[joint] for joint in range(self.model.njoints)]

    def link(self, joint: int) -> Link:
        inertia = self.model.inertias[joint]
        parts = (float(inertia.mass), np.array(inertia.lever), np.array(inertia.inertia))
        for part in parts:
            self.finite(f"inertia of {self.names[joint]!r}", part)
        if parts[0] < 0.0:
            raise self.refused(f"a mass of 0 or more at joint {self.names[joint]!r}", f"{parts[0]:g} kg")
        return Link(self.links[joint], None if joint == 0 and parts[0] == 0.0 else Inertia(*parts))

    def joint(self, index: int) -> Joint:
        model, name = self.model, self.names[index]
        joint = model.joints[index]
        shortname = str(joint.shortname())
        kind = _KINDS.get(shortname)
        if kind is None:
            raise self.refused(
                "joints that turn about or slide along one axis, spherical, planar and free ones",
                f"{shortname} at joint {name!r}",
            )
        rates = slice(int(model.idx_vs[index]), int(model.idx_vs[index]) + int(model.nvs[index]))
        return Joint(
            name=name,
            kind=kind,
            parent=self.links[int(model.parents[index])],
            child=self.links[index],
            placement=self.pose(f"joint {name!r}", model.jointPlacements[index]),
            axis=self.axis(name, joint, shortname),
            limits=self.limits(index, kind, rates),
            damping=self.one(name, "damping", rates, kind),
            friction=self.one(name, "friction", rates, kind),
            armature=self.one(name, "armature", rates, kind),
        )

    def axis(self, name: str, joint: Any, shortname: str) -> Array:
        if shortname[-1] in _AXES:
            return np.array(_AXES[shortname[-1]])
        if "Unaligned" in shortname:
            q = np.zeros(self.model.nq)
            q[int(joint.idx_q)] = 1.0  # a cosine, where the joint has one
            data = joint.createData()
            joint.calc(data, q)
            motion = np.array(data.S, dtype=np.float64).reshape(6)  # linear, angular
            axis = motion[:3] if "Prismatic" in shortname else motion[3:]
            length = float(np.linalg.norm(axis))
            if abs(length - 1.0) > 1e-6:  # such a joint turns or slides by more than its coordinate
                raise self.refused(f"an axis of length 1 at joint {name!r}", f"length {length:g}")
            if abs(length - 1.0) > _ROUNDING:
                self.note(AXIS_LENGTH, name, f"length {length:.12g}, which Pinocchio uses as it is")
            return snapped_axis(axis, self.snap)
        return np.array([0.0, 0.0, 1.0] if shortname.endswith("Planar") else [1.0, 0.0, 0.0])

    def limits(self, index: int, kind: str, rates: slice) -> Limits:
        lower, upper = self.range(index, kind)
        velocity = self.largest(index, "velocity", np.array(self.model.velocityLimit)[rates])
        effort = self.largest(index, "effort", self.effort(index, rates))
        if not (lower <= upper and velocity >= 0.0 and effort >= 0.0):
            raise self.refused(
                f"limits of joint {self.names[index]!r} in order",
                f"lower {lower:g}, upper {upper:g}, velocity {velocity:g}, effort {effort:g}",
            )
        return Limits(*(_unbounded(value) for value in (lower, upper, velocity, effort)))

    def range(self, index: int, kind: str) -> tuple[float, float]:
        """The position limits, of joints that have some here."""
        start, count = int(self.model.idx_qs[index]), int(self.model.nqs[index])
        lower, upper = (
            np.array([_unbounded(value) for value in array[start : start + count]])
            for array in (self.model.lowerPositionLimit, self.model.upperPositionLimit)
        )
        if is_bounded(kind):
            return float(lower[0]), float(upper[0])
        turns = np.arange(count) >= count - _TURNS[kind]
        widest = np.where(turns, 1.0, np.inf)
        if not ((lower <= -widest) & (upper >= widest)).all():
            self.note(FREE_POSITIONS, self.names[index], f"from {lower.tolist()} to {upper.tolist()}")
        return -np.inf, np.inf

    def largest(self, index: int, what: str, values: Array) -> float:
        """The limit that all axes of a joint have."""
        if np.any(values != values[0]):
            self.note(UNEVEN_LIMITS, self.names[index], f"{what} {values.tolist()}")
        return float(values.max())  # NaN if one is

    def effort(self, index: int, rates: slice) -> Array:
        """The limits for both directions. Pinocchio 4 has two, but who sets `effortLimit` sets one."""
        high: Array = np.array(self.model.effortLimit)[rates]
        low = np.array(getattr(self.model, "lowerEffortLimit", -self.model.effortLimit))[rates]
        if not np.isfinite([_unbounded(value) for value in low]).all() or np.all(low == -high):
            return high
        if len(high) == 1:
            self.note(UNEVEN_EFFORT, self.names[index], f"from {low[0]:g} to {high[0]:g}")
        else:
            self.note(UNEVEN_EFFORT, self.names[index], f"from {low.tolist()} to {high.tolist()}")
        return np.array(np.maximum(high, -low))

    def note(self, concern: Concern, joint: str, detail: str) -> None:
        self.notes.add(concern, Place(self.label, 0, f'<joint name="{joint}">'), detail)

    def one(self, name: str, what: str, rates: slice, kind: str) -> float:
        """The number that all degrees of freedom of a joint have."""
        values = np.atleast_1d(getattr(self.model, what, np.zeros(self.model.nv)))[rates]
        self.finite(f"{what} of joint {name!r}", values)
        if np.any(values != values[0]) or (values[0] != 0.0 and kind in ("floating", "planar")):
            raise self.refused(
                f"one {what} for all degrees of freedom of joint {name!r}, and none of a free or planar one",
                str(values),
            )
        below = getattr(self.model, "lowerDryFrictionLimit", None) if what == "friction" else None
        if below is not None and np.any(below[rates] != 0.0) and np.any(-below[rates] != values):
            found = f"{values} and {below[rates]}"
            raise self.refused(f"the same friction in both directions of joint {name!r}", found)
        return float(values[0])

    def frames(self) -> tuple[NamedFrame, ...]:
        """Every frame that is no joint's own; of those that share a name a body's, else the first."""
        taken = set(self.links)
        found = []
        for frame in sorted(self.model.frames, key=lambda frame: str(frame.type) != "BODY"):
            name = str(frame.name)
            if name in taken or str(frame.type) == "JOINT":
                continue
            taken.add(name)
            place = self.pose(f"frame {name!r}", frame.placement)
            found.append(NamedFrame(name, self.links[_carrier(frame)], place))
        return tuple(found)

    def pose(self, what: str, placement: Any) -> Pose:
        rotation = self.finite(what, np.array(placement.rotation))
        nearest, off = nearest_rotation(rotation)
        if off > 1e-8:
            raise self.refused(f"a rotation at {what}", f"a matrix that is {off:.2g} off one")
        if off > _ROUNDING:
            self.notes.add(
                ROUNDED_ROTATION, Place(self.label, 0, what), f"{off:.2g} off, as Pinocchio uses it"
            )
        exact = snapped_rotation(rotation if off < 1e-14 else nearest, self.snap)
        return Pose(exact, self.finite(what, np.array(placement.translation)))

    def finite(self, what: str, values: Any) -> Array:
        array = np.asarray(values, dtype=np.float64)
        if not (np.abs(array) <= LARGEST).all():
            raise self.refused(f"finite numbers of at most {LARGEST:g} in {what}", str(array.tolist()))
        return array

    def refused(self, expected: str, found: str) -> ModelError:
        return ModelError(
            f"{self.label}: expected {expected}, found {found}. To mend it: build the model without, or load "
            "another description of the robot."
        )


def _carrier(frame: Any) -> int:
    """The joint that moves a frame; Pinocchio 3 and 4 call it differently."""
    return int(frame.parentJoint if hasattr(frame, "parentJoint") else frame.parent)


def _is_joints_own(frame: Any) -> bool:
    """Whether a frame is where the link of its joint is."""
    return bool(frame.placement.isIdentity(0.0))


def _unbounded(value: float) -> float:
    """Limits as large as Pinocchio has them where a file has none."""
    return float(np.copysign(np.inf, value)) if abs(value) >= np.finfo(np.float64).max else value


def _takes(given: object) -> bool:
    name = full_name(given)
    return name.startswith("pinocchio") and name.endswith(".Model") and hasattr(given, "jointPlacements")


PINOCCHIO = Format("Pinocchio", read=parse_pinocchio, takes=_takes)
