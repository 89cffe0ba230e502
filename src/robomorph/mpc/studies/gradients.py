"""Gradients of a robot's dynamics in other numbers than those of the controller.

The papers compute dqdd = -M^-1 dtau on a chip, from qdd and M^-1 that the host has in floating point. The
form with accelerations as controls wants the derivatives of torques themselves, by q, by qd, and by qdd (the
mass matrix).
"""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError, OverflowWarning
from robomorph.ir.fixed import Format

if TYPE_CHECKING:
    from robomorph.robot import Robot

Array = npt.NDArray[np.float64]


class States(NamedTuple):
    """Arguments (n, nv) each; minv (n, nv, nv) or None."""

    q: Array
    qd: Array
    qdd: Array
    minv: Array | None = None


class Derivatives(NamedTuple):
    """By q and by qd (n, nv, nv)."""

    dq: Array
    dqd: Array


class Gradient(ABC):
    """One way to compute derivatives. `states` counts those it was asked for, `saturated` those in which a
    number did not fit."""

    def __init__(self, robot: Robot, name: str) -> None:
        self.robot, self.name = robot, name
        self.states = self.saturated = 0

    @abstractmethod
    def torques(self, at: States) -> Derivatives:
        """Of torques."""

    @abstractmethod
    def accelerations(self, at: States) -> Derivatives:
        """Of accelerations, with M^-1 given."""

    @abstractmethod
    def mass(self, at: States) -> Array:
        """(n, nv, nv)."""

    def count(self, states: int, saturated: int = 0) -> None:
        self.states += states
        self.saturated += saturated


class NoGradient(Gradient):
    """The control: states change nothing, and only the mass matrix is known."""

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot, "none")
        self._mass = robot.compile("mass_matrix", threads=1, check_finite=False)

    def torques(self, at: States) -> Derivatives:
        zeros = np.zeros((len(at.q), self.robot.nv, self.robot.nv))
        return Derivatives(zeros, zeros)

    accelerations = torques

    def mass(self, at: States) -> Array:
        return np.asarray(self._mass(at.q))


class FloatGradient(Gradient):
    """In float64 or float32, all of it."""

    def __init__(self, robot: Robot, dtype: str) -> None:
        super().__init__(robot, dtype)
        self.dtype = np.dtype(dtype)
        self._gradient = robot.compile(
            "inverse_dynamics_gradient", dtype=dtype, threads=1, check_finite=False
        )
        self._mass = robot.compile("mass_matrix", dtype=dtype, threads=1, check_finite=False)

    def torques(self, at: States) -> Derivatives:
        found = self._gradient(*(x.astype(self.dtype) for x in at[:3]))
        self.count(len(at.q))
        return Derivatives(found.dtau_dq.astype(np.float64), found.dtau_dqd.astype(np.float64))

    def accelerations(self, at: States) -> Derivatives:
        assert at.minv is not None
        found = self._gradient(*(x.astype(self.dtype) for x in at[:3]))
        self.count(len(at.q))
        inverse = at.minv.astype(self.dtype)
        return Derivatives(*(-(inverse @ x).astype(np.float64) for x in found))

    def mass(self, at: States) -> Array:
        return np.asarray(self._mass(at.q.astype(self.dtype)), np.float64)


class FixedGradient(Gradient):
    """In fixed point: a format such as "Q14.6" for all signals, or words of so many bits ("16 bit"), each
    signal with a format of its own."""

    def __init__(self, robot: Robot, name: str, options: Mapping[str, Any]) -> None:
        super().__init__(robot, name)
        self._options = {"preset": "papers", **options}
        self._functions: dict[str, Any] = {}

    def _run(self, function: str, outputs: tuple[str, ...], *arguments: Array) -> Any:
        if function not in self._functions:
            self._functions[function] = self.robot.compile(
                function, outputs=outputs, target="fixed", threads=1, check_finite=False, **self._options
            )
        kernel = self._functions[function]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OverflowWarning)  # they are counted
            found = kernel(*arguments)
        self.count(len(arguments[0]), int(np.count_nonzero(kernel.overflow)))
        return found

    def torques(self, at: States) -> Derivatives:
        return Derivatives(*self._run("inverse_dynamics_gradient", ("dtau_dq", "dtau_dqd"), *at[:3]))

    def accelerations(self, at: States) -> Derivatives:
        assert at.minv is not None
        return Derivatives(*self._run("forward_dynamics_gradient", ("dqdd_dq", "dqdd_dqd"), *at[:3], at.minv))

    def mass(self, at: States) -> Array:
        return np.asarray(self._run("mass_matrix", ("mass",), at.q))


def make_gradient(robot: Robot, name: str, speed: float, acceleration: float) -> Gradient:
    """By name: "none", "float64", "float32", a format such as "Q14.6", or "16 bit": a format for each signal
    in words of so many bits, from states of at most this speed and acceleration (rad/s, rad/s^2, or m)."""
    if name == "none":
        return NoGradient(robot)
    if name in ("float64", "float32"):
        return FloatGradient(robot, name)
    match = re.fullmatch(r"(\d+) ?bit", name)
    if match is not None:
        options = {"bits": int(match[1]), "speed": speed, "acceleration": acceleration}
        return FixedGradient(robot, f"{match[1]} bit", options)
    try:
        return FixedGradient(robot, name, {"format": Format.parse(name).name})
    except ArgumentError as error:
        raise ArgumentError(
            f"format: expected none, float64, float32, a format such as Q14.6 or a width such as 16bit, "
            f"found {name!r} ({error})"
        ) from None
