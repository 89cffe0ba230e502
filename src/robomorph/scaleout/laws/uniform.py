"""States uniform within the joints' limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from robomorph.robot import Robot
from robomorph.scaleout.laws.base import (
    Array,
    Law,
    Sampler,
    Streams,
    between,
    configurations,
    finite_or,
    require_positive,
)


@dataclass(frozen=True)
class Uniform(Law):
    """Positions within the limits (unlimited angles within pi, unlimited positions within 1 m, turns uniform
    over all orientations), velocities and joint forces within theirs.

    speed: rad/s or m/s, where a joint has no velocity limit. acceleration: rad/s^2 or m/s^2, for all joints,
    as descriptions have no such limit. force: N m or N, where a joint has no effort limit."""

    speed: float = 1.0
    acceleration: float = 10.0
    force: float = 10.0
    name: ClassVar[str] = "uniform"
    about: ClassVar[str] = "uniform within the joints' limits"

    def __post_init__(self) -> None:
        require_positive(self.name, speed=self.speed, acceleration=self.acceleration, force=self.force)

    def sampler(self, robot: Robot, wanted: tuple[str, ...]) -> Sampler:
        limits = robot.limits
        sizes = {
            "qd": finite_or(limits.velocity, self.speed),
            "qdd": finite_or([float("inf")] * robot.nv, self.acceleration),
            "tau": finite_or(limits.effort, self.force),
        }

        def sample(streams: Streams, start: int, rows: int) -> Mapping[str, Array]:
            found: dict[str, Array] = {}
            for name in wanted:
                rng = streams(name)
                found[name] = (
                    configurations(robot, rng, (rows,)) if name == "q" else between(rng, sizes[name], rows)
                )
            return found

        return sample
