"""What goes wrong in a loop, as data: pushes, noise, delays, late answers, friction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.robot import Robot
from robomorph.runtime.arguments import as_array

Array = npt.NDArray[np.float64]

NARROWEST = 1e-6  # rad/s or m/s: below that, friction is a corner to floating-point numbers


@dataclass(frozen=True, eq=False)
class Push:
    """A force at the origin of a frame, from `start` for `seconds`.

    force (3,) N and moment (3,) N m keep their direction in the world. frame: None for the tool's (the frame
    added last, else the link farthest out).
    """

    force: npt.ArrayLike
    start: float = 0.0
    seconds: float = 0.05
    frame: str | None = None
    moment: npt.ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        for name, least in (("start", 0.0), ("seconds", 0.0)):
            _number(f"push.{name}", getattr(self, name), least)
        _ = self.wrench

    @property
    def wrench(self) -> Array:
        """(6,) force, then moment."""
        parts = [_numbers(f"push.{n}", getattr(self, n), (3,)) for n in ("force", "moment")]
        return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class Noise:
    """Normal noise on what is measured: standard deviations of q (rad, m) and qd, one number or (nv,)."""

    position: npt.ArrayLike = 0.0
    velocity: npt.ArrayLike = 0.0
    seed: int = 0

    def spread(self, nv: int) -> tuple[Array, Array]:
        """Both deviations, (nv,) each."""
        both = (("noise.position", self.position), ("noise.velocity", self.velocity))
        position, velocity = (_positive(name, value, nv) for name, value in both)
        return position, velocity


@dataclass(frozen=True)
class Delay:
    """What is measured is `measurement` seconds old; a torque acts `actuation` seconds after it is sent.

    A loop feels their sum only: a delay that is known by its sum may be given as either.
    """

    measurement: float = 0.0
    actuation: float = 0.0

    def __post_init__(self) -> None:
        for name in ("measurement", "actuation"):
            _number(f"delay.{name}", getattr(self, name), 0.0)

    @property
    def total(self) -> float:
        """s"""
        return self.measurement + self.actuation


@dataclass(frozen=True)
class Late:
    """Answers of the controller that come late: a share of all ticks, drawn with `seed`.

    seconds: how much after its tick such an answer arrives; ticks in between find the controller busy and
    get none. meanwhile: "plan", the last plan's torque for that time, or "torque", the last torque again.
    """

    share: float
    seconds: float
    seed: int = 0
    meanwhile: str = "plan"

    def __post_init__(self) -> None:
        _number("late.seconds", self.seconds, 0.0)
        if not 0.0 <= _number("late.share", self.share, 0.0) <= 1.0:
            raise ArgumentError(f"late.share: expected a share of the ticks, 0 to 1, found {self.share!r}")
        if self.meanwhile not in ("plan", "torque"):
            raise ArgumentError(f"late.meanwhile: expected 'plan' or 'torque', found {self.meanwhile!r}")

    def drawn(self, ticks: int) -> npt.NDArray[np.bool_]:
        """(ticks,) which answers are late; never the one at the beginning, before which there is no plan."""
        late = np.random.default_rng(self.seed).random(ticks) < self.share
        late[:1] = False
        return late


@dataclass(frozen=True, eq=False)
class Friction:
    """Friction of joints that no model of ours knows: the torque on the joint is

        -(coulomb * tanh(qd / width) + viscous * qd)

    coulomb: N m (N). viscous: N m s (N s/m). Both one number or (nv,). width: the speed (rad/s, m/s) below
    which the sign of the motion is smooth; a joint at rest creeps with less than about that speed.
    """

    coulomb: npt.ArrayLike = 0.0
    viscous: npt.ArrayLike = 0.0
    width: float = 1e-3

    def __post_init__(self) -> None:
        _number("friction.width", self.width, NARROWEST)

    @staticmethod
    def of_file(robot: Robot, width: float = 1e-3) -> Friction:
        """What the description's <dynamics> say; followers count at the joint that they follow."""
        if robot.model.passive is not None:
            raise ArgumentError(
                f"friction: robot {robot.name!r} was loaded with passive=True, so its own dynamics have the "
                "file's damping and friction: expected a robot loaded without, or friction of your own"
            )
        coulomb, viscous = np.zeros(robot.nv), np.zeros(robot.nv)
        for body in robot.model.bodies:
            multiplier = 1.0 if body.mimic is None else abs(body.mimic[1])
            own = robot.coordinates(body.joint_name)[1]
            coulomb[own] += multiplier * body.friction
            viscous[own] += multiplier**2 * body.damping
        return Friction(coulomb, viscous, width)

    def shares(self, nv: int) -> tuple[Array, Array]:
        """coulomb and viscous, (nv,) each."""
        both = (("friction.coulomb", self.coulomb), ("friction.viscous", self.viscous))
        coulomb, viscous = (_positive(name, value, nv) for name, value in both)
        return coulomb, viscous


def _number(name: str, value: Any, least: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating, np.integer)):
        raise ArgumentError(f"{name}: expected a number, found {value!r}")
    if not (np.isfinite(value) and value >= least):
        raise ArgumentError(f"{name}: expected a finite number of {least:g} or more, found {value!r}")
    return float(value)


def _numbers(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    array = as_array(name, value).astype(np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        raise ArgumentError(f"{name}: expected finite numbers of shape {shape}, found {value!r}")
    return array


def _positive(name: str, value: Any, nv: int) -> Array:
    array = as_array(name, value).astype(np.float64)
    if array.shape not in ((), (nv,)) or not (np.isfinite(array) & (array >= 0.0)).all():
        raise ArgumentError(f"{name}: expected one number, or {nv}, of 0 or more, found {value!r}")
    return np.array(np.broadcast_to(array, (nv,)))
