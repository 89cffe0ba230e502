"""What a law is: how states are drawn, from random numbers of their own for each block of rows."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.robot import Robot

Array = npt.NDArray[np.float64]
# What laws give, in the order of their random numbers; docs/conventions.md has the units.
STATES = ("q", "qd", "qdd", "tau")
# Random numbers for one of STATES.
Streams = Callable[[str], np.random.Generator]
# (streams, first row of all, rows) -> arrays (rows, n).
Sampler = Callable[[Streams, int, int], Mapping[str, Array]]


@dataclass(frozen=True)
class Law(ABC):
    """How states are drawn. One frozen dataclass per law; its fields are its settings, in SI units."""

    name: ClassVar[str]
    # A sentence for --help and the docs.
    about: ClassVar[str]

    def describe(self) -> dict[str, Any]:
        """Plain data on which the states depend."""
        return {"name": self.name, **asdict(self)}

    def check(self, robot: Robot, wanted: tuple[str, ...], states: int) -> None:
        """ArgumentError if this law cannot give `states` states of this robot."""
        return None

    @abstractmethod
    def sampler(self, robot: Robot, wanted: tuple[str, ...]) -> Sampler:
        """A function that draws rows of the arrays `wanted`, each from the stream of its name alone, so that
        asking for more arrays changes none of the others."""


def require_positive(law: str, **settings: Any) -> None:
    """ArgumentError unless every setting is a positive finite number."""
    for name, value in settings.items():
        good = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not good or not math.isfinite(value) or value <= 0.0:
            raise ArgumentError(f"law {law}: {name}: expected a positive finite number, found {value!r}")


def finite_or(limits: npt.ArrayLike, otherwise: float) -> Array:
    """(nv,) the limits, and `otherwise` where a joint has none."""
    values = np.abs(np.asarray(limits, np.float64))
    return np.where(np.isfinite(values), values, otherwise)


def between(rng: np.random.Generator, size: Array, rows: int) -> Array:
    """(rows, nv) uniform within -size and size."""
    return size * (2.0 * rng.random((rows, len(size))) - 1.0)


def configurations(robot: Robot, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """(*shape, nq) uniform within the position limits, however wide, and as `robot.random_state` has it
    where a joint has none (angles within pi, positions within 1 m, orientations over all)."""
    lower, upper = position_range(robot)
    limited = np.isfinite(lower)
    count = int(np.count_nonzero(limited))
    q = np.empty((*shape, robot.nq)) if count == robot.nq else robot.random_state(rng, shape).q
    low, high = lower[limited], upper[limited]
    q[..., limited] = np.minimum(low + (high - low) * rng.random((*shape, count)), high)
    return q


def position_range(robot: Robot) -> tuple[Array, Array]:
    """(nq,) each: where positions are drawn from; infinite for joints without limits. A joint with one limit
    has the part of (-pi, pi) that it leaves, or pi beyond the limit if it leaves none."""
    lower, upper = (np.array(x, np.float64) for x in (robot.limits.lower, robot.limits.upper))
    for k in range(robot.nq):
        if np.isfinite(lower[k]) and not np.isfinite(upper[k]):
            upper[k] = np.pi if lower[k] < np.pi else lower[k] + np.pi
        elif np.isfinite(upper[k]) and not np.isfinite(lower[k]):
            lower[k] = -np.pi if upper[k] > -np.pi else upper[k] - np.pi
    with np.errstate(over="ignore", invalid="ignore"):
        none = ~np.isfinite(
            upper - lower
        )  # limits so far apart that their distance is no number: none at all
    lower[none], upper[none] = -np.inf, np.inf
    return lower, upper
