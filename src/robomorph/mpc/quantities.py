"""What a plan has of every joint beside its coordinate: effort, velocity, acceleration, jerk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from robomorph.errors import ArgumentError
from robomorph.naming import hint

if TYPE_CHECKING:
    from robomorph.robot import Robot


@dataclass(frozen=True)
class Quantity:
    """A number of each joint named, in that order; of all joints by default. The reference has one number for
    each and is zero where none is given."""

    joints: tuple[str, ...] | str | None = None
    name: ClassVar[str]
    symbol: ClassVar[str]
    unit: ClassVar[str]

    def __post_init__(self) -> None:
        joints: Iterable[str] | None = (self.joints,) if isinstance(self.joints, str) else self.joints
        object.__setattr__(self, "joints", None if joints is None else tuple(joints))

    @property
    def title(self) -> str:
        return self.name

    def places(self, robot: Robot) -> tuple[int, ...]:
        """Which entries of qd, qdd or tau these are."""
        names = robot.velocity_names
        if self.joints is None:
            return tuple(range(robot.nv))
        for joint in self.joints:
            if joint not in names:
                raise ArgumentError(f"{self.name}: unknown joint {joint!r}: {hint(str(joint), list(names))}")
        if not self.joints or len(set(self.joints)) < len(self.joints):
            raise ArgumentError(f"{self.name}: expected joints, each once, found {self.joints!r}")
        return tuple(names.index(joint) for joint in self.joints)


@dataclass(frozen=True)
class Effort(Quantity):
    """Torques and forces of the joints (N m, N), at every node but the last. The reference "gravity" is what
    holds the robot still where its posture is to be (or, without a cost on the posture of all joints, where
    it is when a step begins)."""

    name = "effort"
    symbol = "torque"
    unit = "N m or N"


@dataclass(frozen=True)
class Velocity(Quantity):
    """Speeds of the joints (rad/s, m/s)."""

    name = "velocity"
    symbol = "v"
    unit = "rad/s or m/s"


@dataclass(frozen=True)
class Acceleration(Quantity):
    """Accelerations of the joints (rad/s^2, m/s^2), at every node but the last."""

    name = "acceleration"
    symbol = "a"
    unit = "rad/s^2 or m/s^2"


@dataclass(frozen=True)
class Jerk(Quantity):
    """How fast accelerations change from node to node, over dt (rad/s^3, m/s^3); from the acceleration of the
    last plan to that of node 0 too, from zero after a reset. Only a cost, and without a reference."""

    name = "jerk"
    symbol = "jerk"
    unit = "rad/s^3 or m/s^3"


QUANTITIES: dict[str, type[Quantity]] = {kind.name: kind for kind in (Effort, Velocity, Acceleration, Jerk)}
