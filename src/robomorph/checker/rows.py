"""What must hold, from the problem alone: rows, each a value between two numbers during a window."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from robomorph.checker import document as read
from robomorph.checker.balls import Ball, ball, dot, flint, product, rate, sub, times, total, transposed
from robomorph.checker.document import Refused
from robomorph.checker.mechanics import State
from robomorph.checker.robot import Robot

_ORDERS = {"position": 0, "velocity": 1, "acceleration": 2, "jerk": 3}
_AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Row:
    """lower <= value <= upper. The value is the `order`-th derivative of joint `joint`, exactly a polynomial,
    or what `value` makes of a state. Bounds are numbers, or balls on whose strict side the value must be."""

    constraint: int
    row: int
    name: str
    lower: Any
    upper: Any
    window: tuple[Fraction, Fraction]
    joint: int | None = None
    order: int = 0
    value: Callable[[State], Ball] | None = None

    @property
    def bounded(self) -> bool:
        return any(not (isinstance(b, float) and math.isinf(b)) for b in (self.lower, self.upper))


def read_rows(robot: Robot, constraints: Any, start: Fraction, stop: Fraction) -> list[Row]:
    out: list[Row] = []
    for i, data in enumerate(read.items(constraints, "constraints")):
        kind = data.get("kind") if isinstance(data, Mapping) else None
        if kind == "limits":
            out += _limits(robot, i, data, (start, stop))
        elif kind == "task":
            out += _task(robot, i, data, (start, stop))
        else:
            raise Refused(f"constraints[{i}]: expected 'limits' or 'task', found {kind!r}")
    return [row for row in out if row.bounded]


def _limits(robot: Robot, index: int, data: Any, whole: tuple[Fraction, Fraction]) -> list[Row]:
    where = f"constraints[{index}]"
    fields = read.record(data, where, ("kind", "what", "share", "lower", "upper"))
    what = read.name(fields["what"], f"{where}.what")
    if what not in (*_ORDERS, "torque"):
        raise Refused(f"{where}: no limits are called {what!r}")
    count = len(robot.joints)
    if fields["share"] is not None:
        lower, upper = _own_limits(robot, what, read.number(fields["share"], f"{where}.share"), where)
    else:
        lower = read.numbers(fields["lower"], f"{where}.lower", count, infinite=True)
        upper = read.numbers(fields["upper"], f"{where}.upper", count, infinite=True)
    rows = []
    for j, joint in enumerate(robot.joints):
        bounds = (lower[j], upper[j])
        name = f"{'speed' if what == 'velocity' else what} of {joint.name}"
        if what == "torque":
            rows.append(Row(index, j, name, *bounds, whole, value=_torque(j)))
        else:
            rows.append(Row(index, j, name, *bounds, whole, joint=j, order=_ORDERS[what]))
    return rows


def _own_limits(robot: Robot, what: str, share: float, where: str) -> tuple[list[float], list[float]]:
    if what == "position":
        return [share * x for x in robot.limits(0)], [share * x for x in robot.limits(1)]
    if what not in ("velocity", "torque"):
        raise Refused(f"{where}: a robot's file has no {what} limits to take a share of")
    most = [share * x for x in robot.limits(2 if what == "velocity" else 3)]
    return [-x for x in most], most


def _torque(j: int) -> Callable[[State], Ball]:
    return lambda state: state.torques[j]


def _task(robot: Robot, index: int, data: Any, whole: tuple[Fraction, Fraction]) -> list[Row]:
    where = f"constraints[{index}]"
    keys = ("kind", "task", "reference", "lower", "upper", "rate", "during")
    fields = read.record(data, where, keys)
    begin, end = (
        read.fraction(t, f"{where}.during") for t in read.items(fields["during"], f"{where}.during")
    )
    if not whole[0] <= begin <= end <= whole[1]:
        raise Refused(f"{where}: expected a window within the motion, found {float(begin)} to {float(end)} s")
    rate_ = read.whole(fields["rate"], f"{where}.rate", 0, 2)
    reference = read.numbers(fields["reference"], f"{where}.reference")
    bounds = tuple(read.numbers(fields[key], f"{where}.{key}", infinite=True) for key in ("lower", "upper"))
    made = _kind(robot, where, fields["task"], reference, bounds, rate_)
    before = ("", "speed of ", "acceleration of ")[rate_]
    out = []
    for k, (name, (lower, upper), value, joint) in enumerate(made):
        bound = Row(index, k, f"{before}{name}", lower, upper, (begin, end), joint, rate_, value)
        out.append(bound)
    return out


_Made = list[tuple[str, tuple[Any, Any], Callable[[State], Ball] | None, int | None]]


def _kind(
    robot: Robot, where: str, data: Any, reference: list[float], bounds: tuple[Any, ...], order: int
) -> _Made:
    """Rows of a task: name, bounds, value, joint."""
    name = data.get("name") if isinstance(data, Mapping) else None
    if name == "posture":
        return _posture(robot, where, data, reference, bounds, order)
    if name == "center of mass":
        read.record(data, f"{where}.task", ("name",))
        return _differences(where, "center of mass", lambda s: s.center_of_mass, reference, bounds, order)
    if name not in ("position", "orientation", "axis", "pose"):
        raise Refused(f"{where}: this program knows no task called {name!r}")
    keys = ("name", "frame", "axis") if name == "axis" else ("name", "frame")
    fields = read.record(data, f"{where}.task", keys)
    frame = read.name(fields["frame"], f"{where}.frame")
    if frame not in robot.frames:
        raise Refused(f"{where}: the robot has no frame called {frame!r}")
    title = f"{name} of {frame!r}"
    if name == "position":
        return _differences(where, title, lambda s: s.frame(frame).origin, reference, bounds, order)
    if order:
        raise Refused(f"{where}: only positions and centres of mass have rates here")
    if name == "axis":
        axis = read.numbers(fields["axis"], f"{where}.axis", 3)
        return _axis(where, title, frame, axis, reference, bounds)
    if name == "orientation":
        return _orientation(where, title, frame, reference, bounds)
    _need(where, (reference, *bounds), (12, 6, 6))
    first = _differences(
        where, title, lambda s: s.frame(frame).origin, reference[:3], tuple(b[:3] for b in bounds), 0
    )
    return [*first, *_orientation(where, title, frame, reference[3:], tuple(b[3:] for b in bounds))]


def _need(where: str, lists: tuple[Any, ...], sizes: tuple[int, ...]) -> None:
    for values, size in zip(lists, sizes, strict=True):
        if len(values) != size:
            raise Refused(f"{where}: expected {size} numbers, found {len(values)}")


def _differences(
    where: str,
    title: str,
    value: Callable[[State], list[Ball]],
    reference: list[float],
    bounds: tuple[Any, ...],
    order: int,
) -> _Made:
    _need(where, (reference, *bounds), (3, 3, 3))

    def entry(k: int) -> Callable[[State], Ball]:
        def found(state: State) -> Ball:
            x = sub(value(state)[k], ball(reference[k]))
            for _ in range(order):
                x = rate(x)
            return x

        return found

    return [(f"{title}, {_AXES[k]}", (bounds[0][k], bounds[1][k]), entry(k), None) for k in range(3)]


def _posture(
    robot: Robot, where: str, data: Any, reference: list[float], bounds: tuple[Any, ...], order: int
) -> _Made:
    fields = read.record(data, f"{where}.task", ("name", "joints"))
    names = [read.name(x, f"{where}.joints") for x in read.items(fields["joints"], f"{where}.joints")]
    known = [joint.name for joint in robot.joints]
    _need(where, (reference, *bounds), (len(names),) * 3)
    out: _Made = []
    for k, name in enumerate(names):
        if name not in known:
            raise Refused(f"{where}: no joint with a coordinate of its own is called {name!r}")
        shift = Fraction(reference[k]) if order == 0 else Fraction(0)
        own = tuple(b if math.isinf(b) else Fraction(b) + shift for b in (bounds[0][k], bounds[1][k]))
        out.append((f"posture, {name}", (own[0], own[1]), None, known.index(name)))
    return out


def _axis(
    where: str,
    title: str,
    frame: str,
    axis: list[float],
    reference: list[float],
    bounds: tuple[Any, ...],
) -> _Made:
    """The cosine of the angle between an axis of a frame and a direction of the world."""
    _need(where, (reference, *bounds), (9, 1, 1))
    own, wanted = [ball(x) for x in axis], [ball(x) for x in reference[6:]]
    low, high = max(0.0, bounds[0][0]), min(math.pi, bounds[1][0])
    least: Any = -math.inf if high >= math.pi else flint().arb(high).cos()
    most: Any = math.inf if low <= 0.0 else flint().arb(low).cos()
    return [
        (f"{title}, angle", (least, most), lambda s: dot(times(s.frame(frame).rotation, own), wanted), None)
    ]


def _orientation(
    where: str, title: str, frame: str, reference: list[float], bounds: tuple[Any, ...]
) -> _Made:
    """Angles about the reference's own axes, held through E = Rt^T R: half its antisymmetric part, which is
    sin(a) / a times the rotation vector, and its cosine. With A the largest angle that the bounds allow,
    values between sin(A) / A times the bounds and cos(a) >= min(0, cos(A)) imply them."""
    _need(where, (reference, *bounds), (9, 3, 3))
    wanted = [[ball(x) for x in reference[3 * i : 3 * i + 3]] for i in range(3)]
    arb = flint().arb
    largest = total([arb(max(abs(a), abs(b))) ** 2 for a, b in zip(*bounds, strict=True)]).sqrt()
    if not largest < arb.pi():
        raise Refused(f"{where}: expected angles that together stay below half a turn")
    shrink = largest.sinc()

    def relative(state: State) -> Any:
        return product(transposed(wanted), state.frame(frame).rotation)

    def sine(i: int, j: int) -> Callable[[State], Ball]:
        return lambda s: (lambda e: sub(e[i][j], e[j][i]) * arb(0.5))(relative(s))

    out: _Made = []
    for k, (i, j) in enumerate(((2, 1), (0, 2), (1, 0))):
        low, high = bounds[0][k], bounds[1][k]
        least = arb(low) * shrink if low <= 0.0 else arb(low)
        most = arb(high) * shrink if high >= 0.0 else arb(high)
        out.append((f"{title}, {_AXES[k]}", (least, most), sine(i, j), None))
    cosine = largest.cos()
    floor = cosine if cosine < 0 else arb(0)
    out.append(
        (
            f"{title}, angle",
            (floor, math.inf),
            lambda s: (lambda e: (e[0][0] + e[1][1] + e[2][2] - 1) * arb(0.5))(relative(s)),
            None,
        )
    )
    return out
