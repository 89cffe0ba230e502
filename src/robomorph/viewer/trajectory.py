"""Motions to be shown: times and configurations, from arrays, plans, simulated loops and files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.given.numbers import number
from robomorph.naming import listed
from robomorph.viewer.configurations import check_units, finite_array

if TYPE_CHECKING:
    from robomorph.mpc import Simulation
    from robomorph.planning import Plan
    from robomorph.robot import Robot

Array = npt.NDArray[np.float64]
PLAN_RATE = 100.0  # samples a second of a plan


class Trajectory:
    """times (T,) s, increasing; q (T, nq); where they are known qd (T, nv) and tau (T, nv); a name to show.

    Shapes and numbers are checked here, what only a robot can tell by `fit`.
    """

    def __init__(
        self,
        times: npt.ArrayLike,
        q: npt.ArrayLike,
        qd: npt.ArrayLike | None = None,
        tau: npt.ArrayLike | None = None,
        name: str = "",
    ) -> None:
        if not isinstance(name, str):
            raise ArgumentError(f"name: expected a text, found {name!r}")
        self.name = name
        self.times = finite_array("times", times)
        if self.times.ndim != 1 or not len(self.times):
            raise ArgumentError(
                f"times: expected shape (T,) with one time at least, found {self.times.shape}"
            )
        _check_increasing(self.times)
        count = len(self.times)
        self.q = _rows("q", q, count)
        self.qd = None if qd is None else _rows("qd", qd, count)
        self.tau = None if tau is None else _rows("tau", tau, count)

    def fit(self, robot: Robot) -> Trajectory:
        """The same, if it is a motion of this robot: widths, and quaternions of unit length."""
        for name, width, words in (("q", robot.nq, "nq"), ("qd", robot.nv, "nv"), ("tau", robot.nv, "nv")):
            value = getattr(self, name)
            if value is not None and value.shape[1] != width:
                raise ArgumentError(
                    f"trajectory {self.name!r}, {name}: expected ({len(self.times)}, {width}), as "
                    f"{robot.name} has {words} = {width}, found {value.shape}"
                )
        check_units(robot, "q", self.q)
        return self

    @property
    def seconds(self) -> float:
        """From the first time to the last."""
        return float(self.times[-1] - self.times[0])

    @classmethod
    def of_plan(cls, plan: Plan, rate: float = PLAN_RATE, name: str = "plan") -> Trajectory:
        """So many samples a second of a plan, with the speeds and torques that it has."""
        found = plan.sample(_rate(rate))
        name = name if plan.success else f"{name} (not solved)"
        return cls(found["t"], found["q"], found["qd"], found["tau"], name)

    @classmethod
    def of_simulation(cls, loop: Simulation, name: str = "closed loop") -> Trajectory:
        """What happened in a simulated loop; one that diverged is shown as long as its numbers are finite."""
        fine = np.isfinite(np.concatenate([loop.q, loop.qd, loop.tau], axis=1)).all(axis=1)
        count = len(fine) if fine.all() else int(np.argmin(fine))
        if count == 0:
            raise ArgumentError(f"trajectory {name!r}: expected a loop with finite states, found none")
        name = name if loop.success else f"{name} (diverged)"
        return cls(loop.times[:count], loop.q[:count], loop.qd[:count], loop.tau[:count], name)

    @classmethod
    def read(cls, path: str | Path, robot: Robot, rate: float | None = None) -> Trajectory:
        """An NPZ or CSV file (docs/viewer.md). rate: samples a second, for files without times."""
        from robomorph.viewer.trajectory_files import read_trajectory

        return read_trajectory(path, robot, rate)


def as_trajectory(robot: Robot, given: Any, rate: float | None = None) -> Trajectory:
    """A motion of `robot` from whatever a caller has: a Trajectory, a Plan, a Simulation, the path of a file,
    a pair (times, q), or with a rate bare configurations (T, nq)."""
    from robomorph.mpc.simulation import Simulation
    from robomorph.planning.plan import Plan

    if isinstance(given, Trajectory):
        return given.fit(robot)
    if isinstance(given, (Plan, Simulation)):
        _check_same(robot, given.robot, type(given).__name__.lower())
        made = Trajectory.of_plan(given) if isinstance(given, Plan) else Trajectory.of_simulation(given)
        return made.fit(robot)
    if isinstance(given, (str, Path)):
        return Trajectory.read(given, robot, rate)
    if isinstance(given, tuple) and len(given) == 2:
        return Trajectory(*given).fit(robot)
    if rate is not None:
        q = finite_array("trajectory", given)
        return Trajectory(sample_times(len(q) if q.ndim else 0, rate), q).fit(robot)
    raise ArgumentError(
        "trajectory: expected a Trajectory, a plan, a simulation, the path of a file or a pair (times, q), "
        f"found {type(given).__name__}"
    )


def sample_times(count: int, rate: float) -> Array:
    """(count,) s from 0 on."""
    return np.arange(count) / _rate(rate)


def _rate(rate: Any) -> float:
    found = number("rate", rate)
    if not 0.0 < found <= 1e6:
        raise ArgumentError(f"rate: expected samples a second, above 0 and at most 1e6, found {rate!r}")
    return found


def _check_increasing(times: Array) -> None:
    steps = np.diff(times)
    if not (steps > 0.0).all():
        k = int(np.argmax(~(steps > 0.0)))
        raise ArgumentError(
            f"times: expected increasing times, found {times[k]:.9g} and then {times[k + 1]:.9g} at "
            f"index {k + 1}"
        )


def _rows(name: str, given: npt.ArrayLike, count: int) -> Array:
    values = finite_array(name, given)
    if values.ndim != 2 or len(values) != count:
        raise ArgumentError(
            f"{name}: expected ({count}, n), a row for every time, found shape {values.shape}"
        )
    return values


def _check_same(robot: Robot, other: Robot, what: str) -> None:
    if robot.coordinate_names != other.coordinate_names:
        raise ArgumentError(
            f"trajectory: expected a motion of {robot.name} with joints {listed(robot.coordinate_names)}; "
            f"found a {what} of {other.name} with joints {listed(other.coordinate_names)}"
        )
