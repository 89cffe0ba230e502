"""A control problem in the robot's words: what is to be reached, at what cost, within which limits."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.registry import ALGORITHMS
from robomorph.errors import ArgumentError
from robomorph.given.numbers import number, whole_number
from robomorph.mpc.limits import read_limits
from robomorph.mpc.quantities import Acceleration, Effort, Jerk, Velocity
from robomorph.mpc.subjects import Subject, bound_subject, cost_subject, of_joints, read_row_bounds
from robomorph.mpc.terms import (
    GRAVITY,
    TERMINAL,
    Bound,
    Cost,
    read_reference,
    read_soft,
    read_weight,
)
from robomorph.planning.kernels.joints import require_flat
from robomorph.tasks import Posture

if TYPE_CHECKING:
    from robomorph.robot import Robot

Array = npt.NDArray[np.float64]
_LONGEST = 10_000  # steps
_DT = (1e-6, 10.0)  # s
_LIMITS = {
    "torque": "torque limits",
    "v": "velocity limits",
    "q": "position limits",
    "a": "acceleration limits",
}
_UNITS = {"torque": Effort.unit, "v": Velocity.unit, "q": "rad or m", "a": Acceleration.unit}


class Problem:
    """What a controller does: from the state of the moment, the motion over `horizon` steps of `dt` seconds
    that costs least and keeps the limits, at the nodes k = 0 .. horizon:

        v[k+1] = v[k] + dt a[k],   q[k+1] = q[k] + dt v[k+1],   tau[k] = inverse dynamics (q[k], v[k], a[k])
        cost = sum over k < horizon of  dt/2 sum w r^2  +  1/2 sum w r^2 at the last node (terminal)

    Robots: a fixed base, joints of one coordinate that simply adds, with masses; others are refused by name.
    All methods return the problem. References and weights can be given to every step anew.
    """

    def __init__(self, robot: Robot, horizon: int, dt: float) -> None:
        _must_be_controllable(robot)
        self.robot = robot
        self.horizon = whole_number("horizon", horizon, 1, _LONGEST)
        self.dt = number("dt", dt)
        if not _DT[0] <= self.dt <= _DT[1]:
            raise ArgumentError(f"dt: expected {_DT[0]:g} to {_DT[1]:g} s, found {dt!r}")
        self.costs: dict[str, Cost] = {}
        self.bounds: dict[str, Bound] = {}
        self.asked: list[tuple[str, dict[str, Any]]] = []  # what was called, to be called again by a copy

    @property
    def nodes(self) -> int:
        return self.horizon + 1

    # --- costs ---------------------------------------------------------------------------------------

    def cost(
        self, task: Any, weight: Any = 1.0, reference: Any = None, name: str | None = None, rate: int = 0
    ) -> Problem:
        """A cost at every node but the last, times dt.

        task: one of robomorph.tasks, `mpc.Effort()`, `Velocity()`, `Acceleration()`, `Jerk()` or an
        `mpc.Function`. weight: one for all rows, or one for each. reference: as the task takes it, with a
        leading dimension horizon + 1 if it changes from node to node; None: every step gives it (zero for
        what is no task). name: by which steps give references and weights; the task's title by default. rate:
        1 for the task's speed, from a reference speed (zero by default); of an orientation that is its
        angular velocity."""
        return self._cost("cost", task, weight, reference, name, rate)

    def terminal(
        self, task: Any, weight: Any = 1.0, reference: Any = None, name: str | None = None, rate: int = 0
    ) -> Problem:
        """A cost at the last node. With the name of a running cost of the same task it has that one's
        reference; steps give its weight as "terminal NAME"."""
        if isinstance(task, (Effort, Acceleration, Jerk)):
            raise ArgumentError(
                f"terminal: there is no {task.name} at the last node: expected a cost on positions or "
                "velocities"
            )
        return self._cost("terminal", task, weight, reference, name, rate)

    def _cost(
        self, when: str, task: Any, weight: Any, reference: Any, name: str | None, rate: int
    ) -> Problem:
        rate = whole_number("rate", rate, 0, 1)
        subject = cost_subject(self.robot, task, rate)
        if isinstance(task, Jerk):
            self._check_jerk(subject, reference)
        name = self._name(name, subject)
        weights = read_weight(name, weight, subject.rows)
        numbers = read_reference(subject, task, reference, self.nodes, name)
        running, terminal = (weights, None) if when == "cost" else (None, weights)
        made = Cost(name, task, rate, subject, numbers, running, terminal)
        if name in self.bounds:
            raise ArgumentError(f"name: there is a bound {name!r} already: give another name")
        if name in self.costs:
            if reference is None:
                made = Cost(name, task, rate, subject, None, running, terminal)
            made = self.costs[name].joined(made)
        self.costs[name] = made
        self._note(when, task=task, weight=weight, reference=reference, name=name, rate=rate)
        return self

    def _check_jerk(self, subject: Subject, reference: Any) -> None:
        if reference is not None:
            raise ArgumentError("reference of jerk: expected none (zero), found one")
        if any(
            cost.subject.symbol == "jerk" and _meet(cost.subject, subject) for cost in self.costs.values()
        ):
            raise ArgumentError("jerk: there is a cost on it already: expected one for each joint")

    def _name(self, name: str | None, subject: Subject) -> str:
        if name is None:
            return subject.title.replace("'", "")
        if not isinstance(name, str) or not name or name.startswith(TERMINAL):
            raise ArgumentError(
                f"name: expected a word that does not begin with {TERMINAL!r}, found {name!r}"
            )
        return name

    # --- bounds --------------------------------------------------------------------------------------

    def limits(
        self,
        torque: Any = None,
        velocity: Any = None,
        position: Any = None,
        acceleration: Any = None,
        soft: float | None = None,
    ) -> Problem:
        """Hold joints within limits at the nodes: positions and velocities from node 1 on, torques and
        accelerations at every node but the last.

        Each: True for the robot's own, a share of them such as 0.8 (of positions: the middle of the range; of
        accelerations, which no description has: the magnitude), magnitudes (nv,) as a list or array, or a
        pair (lower, upper), inf for none. soft: None: hard; a weight: that of the squared violation."""
        weight = read_soft("limits", soft)
        limits = read_limits(self.robot, torque, velocity, position, acceleration)
        subjects = [self._subject_of(limit.symbol, weight) for limit in limits]  # all of them, or none
        for limit, subject in zip(limits, subjects, strict=True):
            name = self._free_name(_LIMITS[limit.symbol])
            zero = np.zeros(self.robot.nv)
            self._add(Bound(name, None, 0, subject, limit.lower, limit.upper, zero, weight))
        self._note(
            "limits",
            torque=torque,
            velocity=velocity,
            position=position,
            acceleration=acceleration,
            soft=soft,
        )
        return self

    def bound(
        self,
        task: Any,
        lower: Any = None,
        upper: Any = None,
        reference: Any = None,
        soft: float | None = None,
        name: str | None = None,
        rate: int = 0,
    ) -> Problem:
        """Hold a task between bounds at the nodes, as it takes them (None: no bound on that side).

        reference: where it is measured from; None for zero, so that bounds are on coordinates themselves, and
        for what turns: every step gives it. soft: None: hard; a weight: that of half the squared violation at
        each node. name, rate: as of a cost."""
        rate = whole_number("rate", rate, 0, 1)
        if isinstance(task, Jerk):
            raise ArgumentError("bound: jerk is only a cost: bound the acceleration")
        subject = bound_subject(self.robot, task, rate)
        weight = read_soft(subject.title, soft)
        subject = self._placed(task, rate, subject, weight)
        low, high = read_row_bounds(subject, task, rate, lower, upper)
        _must_have_room(subject.title, low, high)
        if name is None:
            name = self._free_name(f"bound on {self._name(None, subject)}")
        name = self._name(name, subject)
        if name in self.bounds or name in self.costs:
            raise ArgumentError(f"name: there is a cost or bound {name!r} already: give another name")
        numbers = read_reference(subject, task, reference, self.nodes, name)
        if isinstance(numbers, str):
            raise ArgumentError(f"reference of {name}: expected numbers, found {numbers!r}")
        moves = reference is not None and subject.symbol != "rows"
        self._add(Bound(name, task, rate, subject, low, high, numbers, weight, moves))
        self._note(
            "bound",
            task=task,
            lower=lower,
            upper=upper,
            reference=reference,
            soft=soft,
            name=name,
            rate=rate,
        )
        return self

    def _subject_of(self, symbol: str, soft: float) -> Subject:
        """What limits of all joints are about."""
        everyone = tuple(range(self.robot.nv))
        subject = of_joints(self.robot, _LIMITS[symbol], symbol, _UNITS[symbol], everyone)
        posture = Posture.of(self.robot.model, list(self.robot.velocity_names)) if symbol == "q" else None
        return self._placed(posture or Velocity(), 0, subject, soft)

    def _placed(self, task: Any, rate: int, subject: Subject, soft: float) -> Subject:
        """A joint's number has one softness: another one is held through rows."""
        if subject.symbol == "rows":
            return subject
        others = [
            b.soft
            for b in self.bounds.values()
            if b.subject.symbol == subject.symbol and _meet(b.subject, subject)
        ]
        alike = all(other == soft for other in others)
        if alike and (not others or soft == np.inf or subject.symbol not in ("q", "v")):
            return subject  # of two soft ones each has its price
        if subject.symbol not in ("q", "v"):
            raise ArgumentError(
                f"soft of {subject.title}: the same joints have a bound of another softness: expected the "
                "same `soft` for both"
            )
        if not hasattr(task, "read") and not isinstance(task, Velocity):
            raise ArgumentError(f"soft of {subject.title}: expected a posture or velocities, found {task!r}")
        return bound_subject(self.robot, task, rate, as_rows=True)

    def _free_name(self, name: str) -> str:
        """The name, with a number behind it if there is one like it."""
        taken, count = {*self.costs, *self.bounds}, 2
        free = name
        while free in taken:
            free, count = f"{name} {count}", count + 1
        return free

    def _add(self, bound: Bound) -> None:
        if not (np.isfinite(bound.lower) | np.isfinite(bound.upper)).any():
            raise ArgumentError(f"{bound.name}: expected a bound, found none: give lower, upper or both")
        self.bounds[bound.name] = bound

    # --- as a whole ----------------------------------------------------------------------------------

    @classmethod
    def from_toml(cls, path: str | Path) -> Problem:
        """The problem of a TOML file (docs/mpc.md has the schema)."""
        from robomorph.mpc.problem_file import load_problem

        return load_problem(path).problem

    def to_toml(self, load: str | None = None) -> str:
        """The problem as the text of a TOML file. load: what the robot is loaded from, if not what it was."""
        from robomorph.mpc.problem_text import problem_text

        return problem_text(self, load)

    def _note(self, method: str, **arguments: Any) -> None:
        """Keep what was asked; arrays as they are now."""
        kept = {key: value if key == "task" else deepcopy(value) for key, value in arguments.items()}
        self.asked.append((method, kept))

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (self.robot, self.horizon, self.dt, self.asked)

    def __repr__(self) -> str:
        return (
            f"<mpc.Problem {self.robot.name}: {self.horizon} steps of {self.dt:g} s, costs "
            f"{', '.join(self.costs) or 'none'}; bounds {', '.join(self.bounds) or 'none'}>"
        )


def _remake(robot: Robot, horizon: int, dt: float, asked: list[tuple[str, dict[str, Any]]]) -> Problem:
    problem = Problem(robot, horizon, dt)
    for method, arguments in asked:
        getattr(problem, method)(**arguments)
    return problem


def _must_be_controllable(robot: Any) -> None:
    model = getattr(robot, "model", None)
    if model is None or not hasattr(robot, "specialiser"):
        raise ArgumentError(
            f"robot: expected a robot of robomorph.load, found {type(robot).__name__} {robot!r}"
        )
    require_flat(model, "model predictive control", " (floating bases come next)")
    if robot.nv == 0:
        raise ArgumentError(f"robot {robot.name!r}: expected joints that move, found none")
    # Torques are what a controller gives, so even a problem of kinematic costs alone is about masses.
    robot.specialiser.require_masses(ALGORITHMS["inverse_dynamics"])


def _meet(a: Subject, b: Subject) -> bool:
    return bool(set(a.joints) & set(b.joints))


def _must_have_room(title: str, low: Array, high: Array) -> None:
    if (low >= high).any():
        k = int(np.argmax(low >= high))
        raise ArgumentError(
            f"bounds of {title}: expected lower < upper, found {low[k]:g} and {high[k]:g}: a value that is "
            "to be held exactly needs a tolerance, or a cost with a large weight"
        )


__all__ = ["GRAVITY", "Problem"]
