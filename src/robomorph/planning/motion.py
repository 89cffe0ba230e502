"""A motion in the robot's words: what is to hold, when, and how a plan for it is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.given.followers import check_positions, check_speeds
from robomorph.given.limits import read_limit
from robomorph.given.numbers import whole_number
from robomorph.given.references import reference_at
from robomorph.given.row_words import bound_row_names, unit_of
from robomorph.planning.assemble import Assembled, assemble
from robomorph.planning.given import (
    Duration,
    read_duration,
    read_state,
    read_window,
)
from robomorph.planning.pieces import SHORTEST_WINDOW
from robomorph.planning.problem import Array
from robomorph.planning.requirements import Ends, OfJoints, OfTask, OfTorques, Requirement
from robomorph.tasks import AnyTask, Posture
from robomorph.tasks.kinds import LINEAR
from robomorph.tasks.numbers import read_bounds

if TYPE_CHECKING:
    from robomorph.planning.plan import Plan
    from robomorph.robot import Robot

_MOST_INTERVALS = 10_000
_MOST_PIECES = 64


class Motion:
    """A motion of a robot that is asked for: `keep` and `limits` say what must hold at every instant, `solve`
    looks for it.

    seconds: how long it takes; (shortest, longest) leaves that to the solver. intervals: of the spline, so
    that each joint has intervals + 3 control points. start, end: q (nv,) at rest, or (q, qd) or (q, qd, qdd);
    None leaves that end free. periodic: the end goes on as the start. refine: pieces of every interval in
    which constraints are approximated, for less that is given away.
    """

    def __init__(
        self,
        robot: Robot,
        seconds: float | Sequence[float],
        intervals: int = 10,
        start: npt.ArrayLike | None = None,
        end: npt.ArrayLike | None = None,
        periodic: bool = False,
        refine: int = 1,
    ) -> None:
        _must_add(robot)
        self.robot = robot
        self.duration: Duration = read_duration(seconds)
        self.intervals = whole_number("intervals", intervals, 1, _MOST_INTERVALS)
        self.refine = whole_number("refine", refine, 1, _MOST_PIECES)
        self.start, self.end = (read_state(robot, name, x) for name, x in (("start", start), ("end", end)))
        self.periodic = periodic
        self.requirements: list[Requirement] = []
        self._made: dict[Any, Assembled] = {}
        self._check_ends()

    def _check_ends(self) -> None:
        if not isinstance(self.periodic, bool):
            raise ArgumentError(f"periodic: expected True or False, found {self.periodic!r}")
        if self.periodic and (self.start is not None or self.end is not None):
            raise ArgumentError(
                "periodic: a motion that goes round has no start and end state: leave them out"
            )
        least = 4 if self.periodic else max(1, 3 * ((self.start is not None) + (self.end is not None)) - 2)
        if self.intervals < least:
            raise ArgumentError(
                f"intervals: expected at least {least}, so that some control points are free (three belong "
                f"to each end state), found {self.intervals}"
            )
        for name, state in (("start", self.start), ("end", self.end)):
            if self.duration.free and state is not None and np.any(state[1:]):
                raise ArgumentError(
                    f"{name}: with a free duration expected a state at rest, found one that moves: give "
                    "`seconds` as one number, or a state with qd = qdd = 0"
                )

    @property
    def seconds(self) -> float:
        """How long it takes (at the nominal duration)."""
        return self.duration.nominal

    @property
    def ends(self) -> Ends:
        nominal = self.duration.nominal
        return Ends(self.start, self.end, self.periodic, self.duration.bounds or (nominal, nominal))

    @property
    def knot(self) -> float:
        """Seconds between two knots (at the nominal duration)."""
        return self.duration.nominal / self.intervals

    # --- what must hold ------------------------------------------------------------------------------

    def keep(
        self,
        task: AnyTask,
        lower: Any = None,
        upper: Any = None,
        reference: Any = None,
        during: Sequence[float] | float | None = None,
        rate: int = 0,
    ) -> Motion:
        """Hold a task between bounds at every instant of a window.

        lower, upper: as the task takes them (None: no bound on that side). reference: where it is measured
        from; None for zero, so that bounds are on coordinates themselves; "start" for where it is in the
        start configuration. during: (from, to) in s, or one instant; None for the whole motion; with a free
        duration in shares of it, 0 to 1. rate: 1 for the task's speed, 2 for its acceleration.
        """
        if not isinstance(task, AnyTask):
            raise ArgumentError(
                f"task: expected one of robomorph.tasks, found {type(task).__name__} {task!r}"
            )
        task.check(self.robot.model)
        rate = whole_number("rate", rate, 0, 2)
        window = read_window("during", during, self.duration)
        _must_have_length(window, self.knot)
        numbers = reference_at(self.robot, task, reference, self.start)
        _check_rate(task, rate)
        low, high = task.row_bounds(lower, upper)
        if low.ndim != 1 or numbers.ndim != 1:
            raise ArgumentError(f"{task.title}: expected one reference and one set of bounds, found a batch")
        _must_have_room(task.title, low, high, window)
        given = read_bounds(task.title, task.bound_size.given, lower, upper)
        self._add(task, numbers, (np.array(low), np.array(high)), given, window, rate)
        return self

    def _add(
        self,
        task: AnyTask,
        numbers: Array,
        bounds: tuple[Array, Array],
        given: tuple[Array, Array],
        window: tuple[float, float],
        rate: int,
    ) -> None:
        low, high = bounds
        name = f"{('', 'speed of ', 'acceleration of ')[rate]}{task.title}"
        units = unit_of(task) + ("", "/s", "/s^2")[rate]
        if isinstance(task, Posture):
            shift = numbers if rate == 0 else 0.0
            joints = tuple(v for _, v in task.places)
            names = tuple(self.robot.velocity_names[v] for v in joints)
            self.requirements.append(
                OfJoints(name, low + shift, high + shift, window, rate, names, units, joints=joints)
            )
        else:
            names = bound_row_names(task)
            reference = tuple(float(x) for x in numbers)
            self.requirements.append(
                OfTask(
                    name,
                    low,
                    high,
                    window,
                    rate,
                    names,
                    units,
                    task=task,
                    reference=reference,
                    given=(tuple(map(float, given[0])), tuple(map(float, given[1]))),
                )
            )
        if not self.requirements[-1].live:
            self.requirements.pop()
            raise ArgumentError(f"{name}: expected a bound, found none: give lower, upper or both")

    def limits(
        self,
        position: Any = True,
        velocity: Any = True,
        torque: Any = None,
        acceleration: Any = None,
        jerk: Any = None,
    ) -> Motion:
        """Hold joints within limits at every instant.

        position: True for the robot's, or a (lower, upper) pair; velocity, torque: True for the robot's, a
        share of them such as 0.8, or the largest magnitudes (nv,); acceleration, jerk: numbers or arrays.
        None or False: not held. Joints without a finite limit have none.
        """
        limits, nv, before = self.robot.limits, self.robot.nv, len(self.requirements)
        pair = read_limit.position(position, limits, nv)
        if position is True:
            check_positions(self.robot.model, limits.lower, limits.upper)
        if pair is not None and np.isfinite(pair).any():
            self._limit_joints("position limits", pair, 0, "rad or m", read_limit.share(position, True))
        asked = (
            ("velocity limits", velocity, limits.velocity, 1, "/s"),
            ("acceleration limits", acceleration, None, 2, "/s^2"),
            ("jerk limits", jerk, None, 3, "/s^3"),
        )
        for name, value, own, rate, unit in asked:
            most = read_limit.magnitude(name.removesuffix(" limits"), value, own, nv)
            if most is not None:
                share = read_limit.share(value, own is not None)
                if rate == 1 and share is not None:
                    check_speeds(self.robot.model, most, share)
                self._limit_joints(name, (-most, most), rate, f"rad{unit} or m{unit}", share)
        most = read_limit.magnitude("torque", torque, limits.effort, nv)
        if most is not None:
            read_limit.masses(self.robot)
            everywhere = (0.0, self.duration.nominal)
            names, joints = self.robot.velocity_names, tuple(range(nv))
            share = read_limit.share(torque, True)
            self.requirements.append(
                OfTorques(
                    "torque limits", -most, most, everywhere, 0, names, "N m or N", joints=joints, share=share
                )
            )
        if len(self.requirements) == before:
            raise ArgumentError(
                f"limits: expected limits to hold, found none: robot {self.robot.name!r} has none that are "
                "finite among those asked for; give numbers"
            )
        return self

    def _limit_joints(
        self, name: str, pair: tuple[Array, Array], rate: int, unit: str, share: float | None
    ) -> None:
        everywhere = (0.0, self.duration.nominal)
        joints = tuple(range(self.robot.nv))
        names = self.robot.velocity_names
        self.requirements.append(
            OfJoints(name, *pair, everywhere, rate, names, unit, joints=joints, share=share)
        )

    def refined(self, refine: int) -> Motion:
        """The same motion with so many pieces of every interval."""
        out = copy(self)
        out.requirements, out._made = list(self.requirements), {}
        out.refine = whole_number("refine", refine, 1, _MOST_PIECES)
        return out

    def towards(self, end: npt.ArrayLike) -> Motion:
        """The same motion to another end: q (nv,) at rest, or (q, qd) or (q, qd, qdd)."""
        out = self.refined(self.refine)
        out.end = read_state(self.robot, "end", end)
        out._check_ends()
        return out

    # --- looking for it ------------------------------------------------------------------------------

    def problem(self, cost: Any = "jerk", method: str = "bernstein", points: int = 5) -> Assembled:
        """The motion as numbers, with what they were made of. Made once for what is asked now."""
        key = (repr(cost), method, points, self.refine, tuple(map(id, self.requirements)))
        if key not in self._made:
            self._made.clear()
            self._made[key] = assemble(self, cost, method, points)
        return self._made[key]

    def solve(
        self,
        cost: Any = "jerk",
        solver: str | None = None,
        method: str = "bernstein",
        points: int = 5,
        threads: int | None = None,
        guess: Any = None,
        starts: int = 1,
        callback: Callable[[Any], bool | None] | None = None,
        progress: bool = False,
        target: str = "cpu",
        dtype: str = "float64",
        **options: Any,
    ) -> Plan:
        """A plan, or why there is none (`plan.success`, `plan.reason`).

        cost: "jerk" (integral of squared jerk), "energy" (integral of squared torque, as shares of the
        limits), "time", a mapping from these to weights, or None: any motion that holds what was asked.
        method: "bernstein" holds constraints at every instant, "grid" at `points` points of every interval,
        "paper" as Chretien, Escande and Kheddar (docs/planning.md). solver: "native" (the default) or
        "ipopt", the only one for the paper's method; options are the solver's own.
        guess: a plan (of a problem like this one: a warm start) or control points (intervals + 3, nv).
        starts: how many first guesses to try, the first as given, the others random; the best plan counts,
        distinct ones are its `others`. callback: called with the state of the search after each iteration;
        False stops it. threads: at most so many. target: where functions are evaluated,
        "cpu", or on a device "opencl" or "cuda"; dtype: in which precision there.
        """
        from robomorph.planning.search import Search, search

        return search(
            self,
            Search(
                cost,
                solver,
                method,
                points,
                threads,
                guess,
                starts,
                callback,
                progress,
                target,
                dtype,
                options,
            ),
        )


def _must_add(robot: Robot) -> None:
    """Splines need coordinates that simply add."""
    if robot.nq != robot.nv:
        turning = [j for j in robot.joint_names if _sizes(robot, j)[0] != _sizes(robot, j)[1]]
        raise ArgumentError(
            f"robot {robot.name!r}: expected joints with as many coordinates as degrees of freedom, found "
            f"{', '.join(map(repr, turning))}: load it with a fixed base, root= being the link that stands"
        )
    if robot.nv == 0:
        raise ArgumentError(f"robot {robot.name!r}: expected joints that move, found none")


def _sizes(robot: Robot, joint: str) -> tuple[int, int]:
    q, v = robot.coordinates(joint)
    return q.stop - q.start, v.stop - v.start


def _check_rate(task: AnyTask, rate: int) -> None:
    if rate and not all(part.kind is LINEAR for part in task.parts):
        raise ArgumentError(
            f"rate: {task.title} is held through sines and cosines, whose speed means little: expected rate "
            f"0, found {rate}; hold the speed of positions of its frame, or of joints, instead"
        )


def _must_have_length(window: tuple[float, float], knot: float) -> None:
    """A window between two edges that are taken for one would hold nothing."""
    length = window[1] - window[0]
    if 0.0 < length < SHORTEST_WINDOW * knot:
        raise ArgumentError(
            f"during: expected one instant or a window of at least {SHORTEST_WINDOW * knot:.3g} s, found one "
            f"of {length:.3g} s: give the instant"
        )


def _must_have_room(title: str, low: Array, high: Array, window: tuple[float, float]) -> None:
    if window[0] < window[1] and (low == high).any():
        raise ArgumentError(
            f"bounds of {title}: a value cannot be held exactly at every instant of a window: expected "
            f"lower < upper, found {low[np.argmax(low == high)]:g} for both: give a tolerance"
        )
