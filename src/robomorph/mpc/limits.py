"""Limits of joints: the robot's own, a share of them, magnitudes, or a lower and an upper one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.given.followers import check_positions, check_speeds
from robomorph.given.limits import per_joint
from robomorph.given.numbers import number
from robomorph.naming import listed

if TYPE_CHECKING:
    from robomorph.robot import Robot

Array = npt.NDArray[np.float64]


class Limit(NamedTuple):
    """Lower and upper (nv,) of one quantity."""

    symbol: str
    lower: Array
    upper: Array


def read_limits(robot: Robot, torque: Any, velocity: Any, position: Any, acceleration: Any) -> list[Limit]:
    """Those that were asked for. True: the robot's; one number: a share of the robot's (of accelerations: the
    magnitude); a list or array (nv,): magnitudes; a pair (lower, upper): that. None or False: none."""
    own, nothing = robot.limits, np.full(robot.nv, np.inf)
    asked = (
        ("torque", "torque", torque, (-own.effort, own.effort)),
        ("velocity", "v", velocity, (-own.velocity, own.velocity)),
        ("position", "q", position, (own.lower, own.upper)),
        ("acceleration", "a", acceleration, (-nothing, nothing)),
    )
    out: list[Limit] = []
    for name, symbol, value, pair in asked:
        value = bool(value) if isinstance(value, np.bool_) else value
        if value is None or value is False:
            continue
        lower, upper = _read(robot, name, value, pair)
        _check(robot, name, lower, upper)
        out.append(Limit(symbol, lower, upper))
    if not out:
        raise ArgumentError(
            "limits: expected torque, velocity, position or acceleration, found none: True is the robot's own"
        )
    return out


def _read(robot: Robot, name: str, value: Any, own: tuple[Array, Array]) -> tuple[Array, Array]:
    single = isinstance(value, (int, float, np.number)) or (isinstance(value, np.ndarray) and value.ndim == 0)
    if single and (value is True or name != "acceleration"):
        share = 1.0 if value is True else number(name, value)
        if not share > 0.0:
            raise ArgumentError(f"{name}: expected True, a share above 0 or numbers, found {value!r}")
        return _own(robot, name, own, share)
    if isinstance(value, tuple) or (
        isinstance(value, list) and any(isinstance(x, (list, tuple, np.ndarray)) for x in value)
    ):
        if len(value) != 2:
            raise ArgumentError(f"{name}: expected a pair (lower, upper), found {len(value)} entries")
        low, high = (
            per_joint(f"{name} ({side})", x, robot.nv)
            for side, x in zip(("lower", "upper"), value, strict=True)
        )
        return low, high
    most = per_joint(name, value, robot.nv)
    if (most < 0.0).any():
        j = int(np.argmax(most < 0.0))
        raise ArgumentError(
            f"{name}: expected magnitudes, found {most[j]:g} (joint {robot.velocity_names[j]!r}): give a "
            "pair (lower, upper)"
        )
    return -most, most


def _own(robot: Robot, name: str, own: tuple[Array, Array], share: float) -> tuple[Array, Array]:
    """A share of the robot's own; of a range of positions its middle."""
    if name == "acceleration":
        raise ArgumentError("acceleration: a robot's description has no such limit: give numbers")
    missing = np.asarray(~np.isfinite(own).any(axis=0))
    turning = [body.joint_name for body in robot.model.bodies if body.kind == "continuous"]
    lacking = [j for j, none in zip(robot.velocity_names, missing, strict=True) if none]
    if name == "position" and not missing.all():
        lacking = [joint for joint in lacking if joint not in turning]  # they have none to begin with
    if lacking:
        raise ArgumentError(
            f"{name}: the description of robot {robot.name!r} has no such limit of {listed(lacking)}: give "
            "numbers, inf for a joint without"
        )
    if name == "position":
        check_positions(robot.model, *own)
        if share == 1.0:
            return own[0], own[1]
        both = np.isfinite(own).all(axis=0)
        cut = (
            0.5
            * (1.0 - share)
            * np.where(both, np.subtract(own[1], own[0], where=both, out=np.zeros(robot.nv)), 0.0)
        )
        return own[0] + cut, own[1] - cut
    if name == "velocity":
        check_speeds(robot.model, share * own[1], share)
    return share * own[0], share * own[1]


def _check(robot: Robot, name: str, lower: Array, upper: Array) -> None:
    bad = ~(lower < upper)
    if bad.any():
        j = int(np.argmax(bad))
        joint = robot.velocity_names[j]
        raise ArgumentError(
            f"{name}: expected lower < upper, found {lower[j]:g} and {upper[j]:g} (joint {joint!r}): lock a "
            "joint that is to stand still"
        )
    if not (np.isfinite(lower) | np.isfinite(upper)).any():
        raise ArgumentError(
            f"{name}: expected a finite limit of at least one joint, found none: give numbers"
        )
