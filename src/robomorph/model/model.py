"""The reduced tree that the rest of robomorph works on: moving bodies, and frames fixed to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from robomorph.naming import unknown_name

from ..errors import ArgumentError
from .arrays import Array, frozen
from .description import Limits
from .digest import digest_of
from .exact import Exact
from .geometry import Shape
from .inertia import Inertia
from .passive import Passive
from .pose import Pose

WORLD = -1


@dataclass(frozen=True, eq=False)
class Body(Exact):
    """One moving body: a joint, its child link, and all that is rigidly fixed to that link.

    The body frame is the frame of the joint's child link, as in the file; where re-rooting turned the joint
    round, it is the joint's frame as in the file, and `Model.frames` has the link's.
    parent: index of the parent body, or WORLD (-1). placement: pose of the joint frame in the parent body's
    frame. axis: (3,) unit vector in the body frame. inertia: of everything merged, in the body frame.
    mimic: (index of the independent source body, multiplier, offset), or None if this joint is independent.
    armature: inertia that every degree of freedom has beside the links' (kg m^2 or kg). stiffness of a spring
    (N m/rad or N/m) that is slack at the coordinate `rest` (rad or m).
    """

    name: str
    joint_name: str
    kind: str
    parent: int
    placement: Pose
    axis: Array
    inertia: Inertia
    limits: Limits = field(default_factory=Limits)
    damping: float = 0.0
    friction: float = 0.0
    mimic: tuple[int, float, float] | None = None
    armature: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", frozen(self.axis, (3,)))


@dataclass(frozen=True, eq=False)
class Frame(Exact):
    """A named frame fixed to a body (or to the WORLD, -1); `placement` is its pose in the body's frame.

    Every link of the file is a frame; `tool` marks those that are no link: the user's, and sites of MJCF.
    """

    name: str
    body: int
    placement: Pose
    tool: bool = False


@dataclass(frozen=True, eq=False)
class Model(Exact):
    """A robot: bodies with parents before children, depth first in file order; frames, links first.

    gravity: (3,) m/s^2 in the world's axes. standing: what of the robot is fixed to the world and counts all
    the same for the centre of mass and potential energy, in the world's frame (nothing unless the root was
    chosen). shapes: those of the links, in the order of the frames. addresses: where another library's
    vectors have a joint's entries, in (positions, velocities), if the robot was that `library`'s ("MuJoCo",
    "Pinocchio"). passive: what joints resist by themselves is part of the dynamics (None: it is kept on the
    bodies only). digest: sha256 in hex over every name and exact number but those of shapes, addresses and
    library, on which no kernel depends; models are equal if their digests are.
    """

    name: str
    bodies: tuple[Body, ...]
    frames: tuple[Frame, ...]
    gravity: Array
    standing: Inertia = field(default_factory=Inertia.zero)
    shapes: tuple[Shape, ...] = ()
    addresses: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    passive: Passive | None = None
    library: str = ""
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "gravity", frozen(self.gravity, (3,)))
        content: list[object] = [self.name, self.bodies, self.frames, self.gravity]
        content += [] if self.standing.is_zero else [self.standing]
        digest = digest_of(content if self.passive is None else [*content, self.passive])
        object.__setattr__(self, "digest", digest)

    @cached_property
    def mass(self) -> float:
        """kg, of all that moves, and of what stands if that counts."""
        return sum(body.inertia.mass for body in self.bodies) + self.standing.mass

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the moving joints, in the order of the bodies."""
        return tuple(body.joint_name for body in self.bodies)

    @cached_property
    def body_names(self) -> tuple[str, ...]:
        """Names of the links that carry the body frames, in the order of the bodies."""
        return tuple(body.name for body in self.bodies)

    @cached_property
    def frame_names(self) -> tuple[str, ...]:
        """Names of all frames: the links, then those that are none (sites, tool frames)."""
        return tuple(frame.name for frame in self.frames)

    @cached_property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links of the file, root first, depth first in file order."""
        return tuple(frame.name for frame in self.frames if not frame.tool)

    @cached_property
    def link_placements(self) -> tuple[Frame, ...]:
        """The frames of `link_names`: which body carries each link, and where."""
        return tuple(frame for frame in self.frames if not frame.tool)

    @cached_property
    def farthest_link(self) -> str:
        """The last link of those that most joints lie between the world and."""
        depth = [0] * len(self.bodies)
        for i, body in enumerate(self.bodies):
            depth[i] = 1 + (depth[body.parent] if body.parent != WORLD else 0)
        ranks = [(depth[f.body] if f.body != WORLD else 0, i) for i, f in enumerate(self.link_placements)]
        return self.link_names[max(ranks)[1]]

    @cached_property
    def _joint_indices(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.joint_names)}

    @cached_property
    def _frame_indices(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.frame_names)}

    def joint_index(self, name: str) -> int:
        """Index into `bodies` of the joint called `name`."""
        return self._lookup(self._joint_indices, name, "moving joint", self.joint_names)

    def frame_index(self, name: str) -> int:
        """Index into `frames` of the link or tool frame called `name`."""
        return self._lookup(self._frame_indices, name, "link or frame", self.frame_names)

    def link_index(self, name: str) -> int:
        """Index into `link_names` of the link called `name`."""
        index = self._frame_indices.get(name)
        if index is None or self.frames[index].tool:
            raise ArgumentError(unknown_name(f"robot {self.name!r}", "link", name, self.link_names))
        return index

    def _lookup(self, indices: dict[str, int], name: str, what: str, known: Sequence[str]) -> int:
        if not isinstance(name, str) or name not in indices:
            raise ArgumentError(unknown_name(f"robot {self.name!r}", what, name, known))
        return indices[name]

    def __repr__(self) -> str:
        return f"Model({self.name!r}, {len(self.bodies)} bodies, {len(self.frames)} frames)"
