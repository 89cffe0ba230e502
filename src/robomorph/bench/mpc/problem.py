"""A problem of optimal control as plain data: what ours, the peers and the referee are all given."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.bench.mpc.referee import PinocchioArm, Trajectory
from robomorph.errors import ModelWarning
from robomorph.loading import load
from robomorph.model.sources import urdf_text
from robomorph.robot import Robot

Array = npt.NDArray[np.float64]
Bounds = tuple[Array, Array]  # lower, upper (nv,); infinite: none


@dataclass(frozen=True)
class Weights:
    """Of squares: joint positions (from the goal), velocities, torques (from those that hold the goal), the
    frame's position and rotation vector (from the target, in its own axes)."""

    q: float = 0.0
    v: float = 0.0
    tau: float = 0.0
    position: float = 0.0
    rotation: float = 0.0


@dataclass(frozen=True, eq=False)
class Target:
    """Where a frame should be: place (3,) and turn (3, 3) in the world."""

    frame: str
    place: Array
    turn: Array


@dataclass(frozen=True, eq=False)
class Limits:
    """Hard bounds: torques at nodes 0 to N - 1, velocities and positions at nodes 1 to N."""

    torque: Bounds
    velocity: Bounds
    position: Bounds

    @staticmethod
    def none(nv: int) -> Limits:
        endless = np.full(nv, np.inf)
        return Limits(*((-endless, endless),) * 3)

    @property
    def any(self) -> tuple[bool, bool, bool]:
        """Which of torque, velocity and position are limited at all."""
        all_ = (self.torque, self.velocity, self.position)
        a, b, c = (bool(np.isfinite(low).any() or np.isfinite(high).any()) for low, high in all_)
        return a, b, c


@dataclass(frozen=True, eq=False)
class ControlProblem:
    """From q, v (nv,) over `horizon` steps of dt seconds: v+ = v + dt a, q+ = q + dt v+. The cost is
    running 1/2 dt sum w r^2 at nodes 0 to N - 1 and terminal 1/2 sum w r^2 at node N. Every solver begins
    with the robot at rest where it is, held by its torques."""

    source: str
    q: Array
    v: Array
    goal: Array
    effort: Array  # the reference of torques
    running: Weights
    terminal: Weights
    horizon: int
    dt: float
    limits: Limits
    target: Target | None = None

    @property
    def nv(self) -> int:
        return len(self.q)

    @property
    def robot(self) -> Robot:
        return subject(self.source)[0]

    @property
    def arm(self) -> PinocchioArm:
        return subject(self.source)[1]

    @property
    def initial(self) -> Trajectory:
        """At rest at the start: what everybody begins with."""
        q, tau = np.tile(self.q, (self.horizon + 1, 1)), self.arm.gravity(self.q)
        return Trajectory(q, np.zeros_like(q), np.tile(tau, (self.horizon, 1)))

    def as_data(self) -> dict[str, Any]:
        """All of it in numbers, lists and strings, joints in our order; infinite bounds are None."""
        limits = {
            name: [[_number(x) for x in side] for side in getattr(self.limits, name)]
            for name in ("torque", "velocity", "position")
        }
        target = self.target and {
            "frame": self.target.frame,
            "place": self.target.place.tolist(),
            "turn": self.target.turn.tolist(),
        }
        start = self.initial
        return {
            "horizon": self.horizon,
            "dt": self.dt,
            **{name: getattr(self, name).tolist() for name in ("q", "v", "goal", "effort")},
            "running": asdict(self.running),
            "terminal": asdict(self.terminal),
            "target": target,
            "limits": limits,
            "initial": {name: getattr(start, name).tolist() for name in ("q", "v", "tau")},
        }


def _number(bound: float) -> float | None:
    return float(bound) if np.isfinite(bound) else None


@dataclass(frozen=True, eq=False)
class ProblemSet:
    """Problems of one robot and one kind, measured together: a row of a table."""

    name: str
    problems: tuple[ControlProblem, ...] = field(repr=False)

    @property
    def source(self) -> str:
        return self.problems[0].source

    def as_data(self) -> dict[str, Any]:
        """The robot's file and all problems, for a worker."""
        return {
            "urdf": read_urdf(self.source),
            "joints": list(subject(self.source)[0].velocity_names),
            "problems": [problem.as_data() for problem in self.problems],
        }


@cache
def subject(source: str) -> tuple[Robot, PinocchioArm]:
    """A robot on a fixed base, as ours and as Pinocchio's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # `robomorph info` is where they are shown
        robot = load(source)
    return robot, PinocchioArm(read_urdf(source), robot.velocity_names)


def read_urdf(source: str) -> str:
    return urdf_text(source)
