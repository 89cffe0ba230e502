"""States along random smooth curves in joint space: positions, velocities and accelerations of one motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from robomorph.errors import ArgumentError
from robomorph.model.joints import JOINT_TYPES
from robomorph.model.manifolds import Flat
from robomorph.robot import Robot
from robomorph.scaleout.laws.base import (
    Array,
    Law,
    Sampler,
    Streams,
    configurations,
    finite_or,
    require_positive,
)

# Rows along one curve. Blocks hold whole curves, so it divides their size.
ROWS_PER_CURVE = 64
# Pieces of a curve, each a cubic between two knots; four control points belong to each.
PIECES = 4


@dataclass(frozen=True)
class Splines(Law):
    """Curves are uniform cubic B-splines whose control points are uniform within the position limits. A
    curve lies in the hull of its control points, and so do its derivatives, so that no limit is exceeded
    anywhere. A row's q, qd and qdd are those of one instant; 64 rows follow each other on a curve, in equal
    steps of time. tau is the inverse dynamics of that motion (which may exceed the effort limits).

    speed: rad/s or m/s, where a joint has no velocity limit. acceleration: rad/s^2 or m/s^2, at most, for all
    joints. slowest: a curve's time is stretched by a random factor from 1 (some joint may reach a limit) to
    this."""

    speed: float = 1.0
    acceleration: float = 10.0
    slowest: float = 3.0
    name: ClassVar[str] = "splines"
    about: ClassVar[str] = "along random smooth curves, q, qd and qdd of one motion"

    def __post_init__(self) -> None:
        require_positive(self.name, speed=self.speed, acceleration=self.acceleration, slowest=self.slowest)
        if self.slowest < 1.0:
            raise ArgumentError(f"law splines: slowest: expected at least 1, found {self.slowest!r}")

    def check(self, robot: Robot, wanted: tuple[str, ...], states: int) -> None:
        for body in robot.model.bodies:
            joint = JOINT_TYPES[body.kind]
            if body.mimic is None and not isinstance(joint.known_manifold, Flat):
                raise ArgumentError(
                    f"law splines: {robot.name}: expected joints whose coordinates add, found "
                    f"{body.joint_name!r} "
                    f"({body.kind}): take the law uniform or gaussian, or states from a file"
                )
        still = np.flatnonzero(robot.limits.velocity == 0.0)
        if len(still):
            raise ArgumentError(
                f"law splines: {robot.name}: expected velocity limits above zero, found 0 for "
                f"{robot.velocity_names[still[0]]!r}: lock the joint, or take another law"
            )

    def sampler(self, robot: Robot, wanted: tuple[str, ...]) -> Sampler:
        speed = finite_or(robot.limits.velocity, self.speed)
        torque = robot.compile("inverse_dynamics", threads=1) if "tau" in wanted else None

        def sample(streams: Streams, start: int, rows: int) -> Mapping[str, Array]:
            rng, curves = streams("q"), -(-rows // ROWS_PER_CURVE)
            points = configurations(robot, rng, (curves, PIECES + 3))
            first, second = np.diff(points, axis=1), np.diff(points, 2, axis=1)
            quickest = np.maximum(
                np.max(np.abs(first) / speed, axis=(1, 2)),
                np.sqrt(np.max(np.abs(second) / self.acceleration, axis=(1, 2))),
            )
            # Joints that cannot move (equal limits) need no time: any other number will do.
            quickest = np.where(quickest > 0.0, quickest, 1.0)
            h = (quickest * rng.uniform(1.0, self.slowest, curves))[:, None, None]
            found = {"q": _blend(points, 0), "qd": _blend(points, 1) / h, "qdd": _blend(points, 2) / (h * h)}
            found = {name: x.reshape(-1, robot.nv)[:rows] for name, x in found.items()}
            # Rounding may lead past a limit that a control point has reached.
            found["q"] = np.clip(found["q"], robot.limits.lower, robot.limits.upper)
            if torque is not None:
                found["tau"] = torque(found["q"], found["qd"], found["qdd"])
            return {name: found[name] for name in wanted}

        return sample


def _blend(points: Array, order: int) -> Array:
    """(curves, ROWS_PER_CURVE, n): the derivative of the given order by the knots' number, from control
    points (curves, PIECES + 3, n). Products are summed in a fixed order, so that every machine gets the same
    bits."""
    place = np.arange(ROWS_PER_CURVE) * (PIECES / ROWS_PER_CURVE)
    piece = place.astype(np.intp)
    u = place - piece
    one = np.ones_like(u)
    weights = (
        ((1 - u) ** 3 / 6, (3 * u**3 - 6 * u**2 + 4) / 6, (-3 * u**3 + 3 * u**2 + 3 * u + 1) / 6, u**3 / 6),
        (-((1 - u) ** 2) / 2, (3 * u**2 - 4 * u) / 2, (-3 * u**2 + 2 * u + one) / 2, u**2 / 2),
        (1 - u, 3 * u - 2, one - 3 * u, u),
    )[order]
    total = np.zeros((len(points), ROWS_PER_CURVE, points.shape[2]))
    for k, weight in enumerate(weights):
        total += weight[:, None] * points[:, piece + k]
    return total
