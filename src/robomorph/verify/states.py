"""The random states that kernels are checked at, and what else they may be asked about."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.registry import ALGORITHMS
from robomorph.algorithms.step import step_named
from robomorph.model import Model
from robomorph.robot import Robot
from robomorph.verify.reference import Reference
from robomorph.verify.reference_joints import drags

Array = npt.NDArray[Any]
Values = dict[str, Array]

_TORQUE = 10.0
_LONGEST = 0.02  # s of a step in time


class Port(Protocol):
    """An argument or a result: its name, and its shape without the batch."""

    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...


@dataclass(frozen=True)
class States:
    """Random arguments, float64, one batch dimension; dt (B,) is the length of a step in time, s."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array
    dt: Array

    def of(self, ports: Sequence[Port]) -> Values:
        """The values of arguments by their names; what no state has (weights and directions of derivatives)
        is drawn within 1, always the same for the same name."""
        return {port.name: vars(self).get(port.name, self._drawn(port)) for port in ports}

    def _drawn(self, port: Port) -> Array:
        rng = np.random.default_rng(zlib.crc32(port.name.encode()))
        return rng.uniform(-1.0, 1.0, (len(self.q), *port.shape))


KNOWN = tuple(field.name for field in fields(States))


def checkable() -> list[str]:
    """The algorithms that such states decide: all but those about lists of frames or of further arguments."""
    return [
        name for name, entry in ALGORITHMS.items() if not entry.frames and set(entry.parameters) <= set(KNOWN)
    ]


def usual(model: Model) -> list[str]:
    """Those that are checked where none is named: without the steps that are others under another name, as
    all integrators are one to a robot without drag."""
    twins = {step_named(name, "semi-implicit") for name in ("step", "step_gradient")}
    return [name for name in checkable() if drags(model) or name not in twins]


def random_states(robot: Robot, batch: int, seed: int = 0) -> States:
    """Configurations and velocities inside the limits, accelerations to 1, torques to 10 or the limit, steps
    of 10 to 20 ms."""
    rng = np.random.default_rng(seed)
    q, qd = robot.random_state(rng, batch)
    qdd = rng.uniform(-1.0, 1.0, qd.shape)
    effort = np.minimum(robot.limits.effort, _TORQUE)
    tau = rng.uniform(-effort, effort, qd.shape)
    return States(q, qd, qdd, tau, rng.uniform(0.5, 1.0, batch) * _LONGEST)


def moderate(reference: Reference, states: States) -> States:
    """The same states with steps in time that turn joints by about 1 or 2 rad at most, and every other as far
    as that: long turns are other formulas than short ones. Light links would turn many times in 10 ms, and
    their places be known to as many digits less."""
    q, qd = states.q, states.qd
    left = states.tau - reference.inverse_dynamics(q, qd, np.zeros_like(qd))
    # A robot without masses has no accelerations: the pseudoinverse leaves them zero.
    qdd = (np.linalg.pinv(reference.mass_matrix(q)) @ left[..., None])[..., 0]
    speed, push = (np.abs(x).max(axis=-1, initial=1.0) for x in (qd, qdd))
    far = np.minimum(1.0 / speed, push**-0.5)
    long = np.arange(len(q)) % 2 == 1
    return replace(states, dt=np.where(long, far, np.minimum(states.dt, far)))
