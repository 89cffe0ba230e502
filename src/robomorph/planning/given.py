"""Checking what a caller gives to a motion: durations, states, windows, references, limits."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.planning.problem import Array
from robomorph.runtime.results import JointLimits
from robomorph.tasks import AnyTask, Axis, Orientation, Pose, Scene
from robomorph.tasks.kinds import LINEAR
from robomorph.tasks.numbers import finite

if TYPE_CHECKING:
    from robomorph.robot import Robot

_LONGEST = 1e6  # s
_SHORTEST = 1e-6
_INSTANT = 1e-12  # of the duration: a window this short is an instant, up to rounding


@dataclass(frozen=True)
class Duration:
    """`nominal` seconds; with bounds, a solver stretches it between them."""

    nominal: float
    bounds: tuple[float, float] | None = None

    @property
    def free(self) -> bool:
        return self.bounds is not None


def whole_number(name: str, value: Any, least: int, most: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, (bool, np.bool_)) or not least <= number <= most:
        raise ArgumentError(f"{name}: expected a whole number from {least} to {most}, found {value!r}")
    return number


def number(name: str, value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = math.nan
    if isinstance(value, (bool, str)) or not math.isfinite(found):
        raise ArgumentError(f"{name}: expected a finite number, found {value!r}")
    return found


def read_duration(seconds: Any) -> Duration:
    pair = isinstance(seconds, (tuple, list, np.ndarray)) and np.ndim(seconds) == 1
    if pair and len(seconds) != 2:
        raise ArgumentError(
            f"seconds: expected a number or (shortest, longest), found {len(seconds)} numbers"
        )
    values = [number("seconds", value) for value in (seconds if pair else [seconds])]
    if not all(_SHORTEST <= value <= _LONGEST for value in values):
        raise ArgumentError(f"seconds: expected {_SHORTEST:g} to {_LONGEST:g} s, found {seconds!r}")
    if not pair:
        return Duration(values[0])
    if not values[0] < values[1]:
        raise ArgumentError(f"seconds: expected shortest < longest, found {values[0]:g} and {values[1]:g}")
    return Duration(math.sqrt(values[0] * values[1]), (values[0], values[1]))


def read_state(robot: Robot, name: str, value: npt.ArrayLike | None) -> Array | None:
    """(3, nv): q, qd, qdd, what is left out being zero."""
    if value is None:
        return None
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{name}: expected q ({robot.nv},), (q, qd) or (q, qd, qdd), found {type(value).__name__}"
        ) from None
    if array.shape not in ((robot.nv,), (1, robot.nv), (2, robot.nv), (3, robot.nv)):
        raise ArgumentError(
            f"{name}: expected q ({robot.nv},), or (q, qd) or (q, qd, qdd), found shape {array.shape}"
        )
    finite(name, array, ())
    rows = np.atleast_2d(array)
    return np.concatenate([rows, np.zeros((3 - len(rows), robot.nv))])


def read_window(name: str, during: Any, duration: Duration) -> tuple[float, float]:
    """From when to when, in s of the nominal duration."""
    if during is None:
        return 0.0, duration.nominal
    most, unit = (1.0, "shares of the duration") if duration.free else (duration.nominal, "s")
    pair = [during, during] if np.ndim(during) == 0 else list(during)
    if len(pair) != 2:
        raise ArgumentError(f"{name}: expected (from, to) or one instant, found {len(pair)} numbers")
    begin, end = (number(name, t) for t in pair)
    slack = 1e-9 * most
    if not (-slack <= begin <= end <= most + slack):
        raise ArgumentError(
            f"{name}: expected a window within 0 to {most:g} ({unit}), from first to last, found {during!r}"
        )
    if end - begin <= _INSTANT * most:
        end = begin
    stretch = duration.nominal if duration.free else 1.0
    return max(0.0, begin) * stretch, min(most, end) * stretch


def reference_at(robot: Robot, task: AnyTask, reference: Any, start: Array | None) -> Array:
    """The numbers of a reference; "start": where the task is in the start configuration."""
    if isinstance(reference, str):
        if reference != "start" or start is None:
            raise ArgumentError(
                f"reference of {task.title}: expected numbers, or 'start' for a motion with a start state, "
                f"found {reference!r}"
            )
        return task.read(value_at(robot, task, start[0]))
    if reference is None:
        if not all(part.kind is LINEAR for part in task.parts):
            raise ArgumentError(
                f"reference of {task.title}: expected what it is measured from, found None: give it, or "
                "'start' for where it is at the start"
            )
        return np.zeros(task.size.reference)
    return task.read(reference)


def value_at(robot: Robot, task: AnyTask, q: Array) -> Array:
    """Where a task is at q: the reference from which it is zero."""
    scene = Scene(robot.specialiser.tree(regroup=False), [float(x) for x in q])
    if isinstance(task, (Orientation, Axis, Pose)):
        pose = scene.pose(task.frame)
        turn: Array = np.array([[float(x) for x in axis] for axis in pose.axes]).T
        if isinstance(task, Orientation):
            return turn
        if isinstance(task, Axis):
            return np.asarray(turn @ np.array(task.axis))
        out: Array = np.eye(4)
        out[:3, :3], out[:3, 3] = turn, [float(x) for x in pose.origin]
        return out
    if not all(part.kind is LINEAR for part in task.parts):
        raise ArgumentError(f"reference of {task.title}: 'start' is not known for this task: give numbers")
    raw, _ = task.residual(scene, [0.0] * task.size.reference)
    return np.array([float(x) for x in raw])


class read_limit:
    """Limits as a caller gives them."""

    @staticmethod
    def position(value: Any, limits: JointLimits, nv: int) -> tuple[Array, Array] | None:
        if value is None or value is False:
            return None
        if value is True:
            return limits.lower, limits.upper
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            raise ArgumentError(f"position: expected True or (lower, upper), found {value!r}")
        low, high = (
            _per_joint(f"position ({side})", x, nv) for side, x in zip(("lower", "upper"), value, strict=True)
        )
        if not (low < high).all():
            j = int(np.argmax(~(low < high)))
            raise ArgumentError(
                f"position: expected lower < upper, found {low[j]:g} and {high[j]:g} (joint {j})"
            )
        return low, high

    @staticmethod
    def share(value: Any, has_own: bool) -> float | None:
        """What share of the robot's own limits a caller asked for; None if he gave numbers of his own."""
        if value is True:
            return 1.0
        single = has_own and not isinstance(value, (tuple, list)) and np.ndim(value) == 0
        return float(value) if single else None

    @staticmethod
    def magnitude(name: str, value: Any, own: Array | None, nv: int) -> Array | None:
        """(nv,) largest magnitudes, or None."""
        if value is None or value is False:
            return None
        single = np.ndim(value) == 0 and value is not True
        if value is True or (single and own is not None):
            if own is None:
                raise ArgumentError(f"{name}: the robot's description has no such limit: give numbers")
            share = 1.0 if value is True else number(name, value)
            if share <= 0.0:
                raise ArgumentError(f"{name}: expected True, a share above 0 or magnitudes, found {value!r}")
            most = own * share
        else:
            most = _per_joint(name, value, nv)
        if (most <= 0.0).any():
            j = int(np.argmax(most <= 0.0))
            raise ArgumentError(
                f"{name}: expected limits above 0, found {most[j]:g} (joint {j}): lock that joint"
            )
        if not np.isfinite(most).any():
            if value is True:
                return None
            raise ArgumentError(
                f"{name}: expected a finite limit of at least one joint, found none: give numbers"
            )
        return np.asarray(most)

    @staticmethod
    def masses(robot: Robot) -> None:
        if not any(body.inertia.mass > 0.0 for body in robot.model.bodies):
            raise ArgumentError(f"torque: robot {robot.name!r} has no masses, so torques are all zero")


def _per_joint(name: str, value: Any, nv: int) -> Array:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}: expected a number or {nv} numbers, found {value!r}") from None
    if array.shape not in ((), (nv,)):
        raise ArgumentError(f"{name}: expected a number or {nv} numbers, found shape {array.shape}")
    if np.isnan(array).any():
        raise ArgumentError(f"{name}: expected numbers, found NaN")
    return np.array(np.broadcast_to(array, (nv,)))
