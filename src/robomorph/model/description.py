"""A robot description as its file states it, before anything is merged or locked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from .arrays import Array, frozen
from .geometry import Shape
from .inertia import Inertia
from .pose import Pose


@dataclass(frozen=True)
class Limits:
    """Joint limits: rad and N m for revolute joints, m and N for prismatic ones; infinite where not given."""

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf


@dataclass(frozen=True)
class Mimic:
    """This joint follows another: position = multiplier * position of `joint` + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


def _x_axis() -> Array:
    return frozen((1.0, 0.0, 0.0), (3,))


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint of the file. `placement` is the joint frame in the parent link's frame; `axis` is a (3,) unit
    vector in the joint frame, which at position zero is also the frame that moves. `tail` is the child link's
    frame in that one: the same but where a joint was turned round (reroot.py), or where the file places its
    joints elsewhere than at the link's origin. `line` is for messages. armature: inertia that every degree of
    freedom has beside the links' (kg m^2 or kg); stiffness of a spring (N m/rad or N/m) that is slack at the
    coordinate `rest`.
    """

    name: str
    kind: str
    parent: str
    child: str
    placement: Pose = field(default_factory=Pose)
    axis: Array = field(default_factory=_x_axis)
    limits: Limits = field(default_factory=Limits)
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None
    line: int = 0
    tail: Pose = field(default_factory=Pose)
    armature: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", frozen(self.axis, (3,)))


@dataclass(frozen=True, eq=False)
class Link:
    """A link of the file; `inertia` is in the link's frame, None where the file gives none. So are the
    placements of `shapes`, which have no body yet."""

    name: str
    inertia: Inertia | None = None
    line: int = 0
    shapes: tuple[Shape, ...] = ()


@dataclass(frozen=True, eq=False)
class NamedFrame:
    """A frame of the file that is no link: a site of MJCF. `placement` is in the frame of `link`."""

    name: str
    link: str
    placement: Pose


@dataclass(frozen=True, eq=False)
class Description:
    """The links and joints of one file, in file order; `source` names the file in messages.

    frames: beside those of the links. gravity: (3,) m/s^2 in the root link's axes, or None where the file has
    no word for it. addresses: joint -> where its entries begin in the positions and in the velocities of the
    `library` whose model this is; empty, and "", for formats that are no library's.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    source: str
    frames: tuple[NamedFrame, ...] = ()
    gravity: Array | None = None
    addresses: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    library: str = ""
