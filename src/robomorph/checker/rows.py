"""What must hold, from the problem alone: rows, each a value between two numbers during a window."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from robomorph.checker import document as read
from robomorph.checker.balls import Ball, ball, dot, flint, mul, product, rate, sub, times, total, transposed
from robomorph.checker.document import Refused
from robomorph.checker.mechanics import State
from robomorph.checker.robot import Robot

_ORDERS = {"position": 0, "velocity": 1, "acceleration": 2, "jerk": 3}
_AXES = ("x", "y", "z")
_DIGITS = Fraction(1, 10**12)  # of directions and rotations, which were rounded


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


def read_rows(robot: Robot, constraints: Any, stop: Fraction, unit: Fraction) -> list[Row]:
    """unit: what windows are written in (s): shares of the duration if that is free."""
    whole = (Fraction(0), stop)
    out: list[Row] = []
    for i, data in enumerate(read.items(constraints, "constraints")):
        kind = data.get("kind") if isinstance(data, Mapping) else None
        if kind == "limits":
            out += _limits(robot, i, data, whole)
        elif kind == "task":
            out += _task(robot, i, data, whole, unit)
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


def _task(robot: Robot, index: int, data: Any, whole: tuple[Fraction, Fraction], unit: Fraction) -> list[Row]:
    where = f"constraints[{index}]"
    keys = ("kind", "task", "reference", "lower", "upper", "rate", "during")
    fields = read.record(data, where, keys)
    edges = read.items(fields["during"], f"{where}.during")
    if len(edges) != 2:
        raise Refused(f"{where}: expected a window from one time to another")
    begin, end = (unit * read.fraction(t, f"{where}.during") for t in edges)
    if not whole[0] <= begin <= end <= whole[1]:
        raise Refused(f"{where}: expected a window within the motion, found {float(begin)} to {float(end)} s")
    rate_ = read.whole(fields["rate"], f"{where}.rate", 0, 2)
    reference = read.numbers(fields["reference"], f"{where}.reference")
    bounds = tuple(read.numbers(fields[key], f"{where}.{key}", infinite=True) for key in ("lower", "upper"))
    made = _kind(robot, where, fields["task"], reference, bounds, rate_)
    before = ("", "speed of ", "acceleration of ")[rate_]
    return [
        Row(index, k, f"{before}{name}", lower, upper, (begin, end), joint, rate_, value)
        for k, (name, (lower, upper), value, joint) in enumerate(made)
    ]


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
    if name not in ("position", "orientation", "axis", "tilt", "pose"):
        raise Refused(f"{where}: this program knows no task called {name!r}")
    keys = ("name", "frame", "axis") if name in ("axis", "tilt") else ("name", "frame")
    fields = read.record(data, f"{where}.task", keys)
    frame = read.name(fields["frame"], f"{where}.frame")
    if frame not in robot.frames:
        raise Refused(f"{where}: the robot has no frame called {frame!r}")
    title = f"{name} of {frame!r}"
    if name == "position":
        return _differences(where, title, lambda s: s.frame(frame).origin, reference, bounds, order)
    if order:
        raise Refused(f"{where}: only positions and centres of mass have rates here")
    if name in ("axis", "tilt"):
        return _direction(where, title, frame, fields, reference, bounds)
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


def _direction(
    where: str, title: str, frame: str, data: Any, reference: list[float], bounds: tuple[Any, ...]
) -> _Made:
    """Where an axis of a frame points: by the cosine of the angle to a direction (axis), or by sines along
    two normals of it too (tilt). The reference has the two normals, then the direction."""
    tilt = data["name"] == "tilt"
    _need(where, (reference, *bounds), (9, 2, 2) if tilt else (9, 1, 1))
    axis = read.numbers(data["axis"], f"{where}.axis", 3)
    if abs(Fraction(1) - sum(Fraction(x) ** 2 for x in axis)) > _DIGITS:
        raise Refused(f"{where}.axis: expected length one, found {axis}")
    _must_be_rotation(f"{where}.reference", reference)
    own = [ball(x) for x in axis]
    first, second, wanted = ([ball(x) for x in reference[3 * i : 3 * i + 3]] for i in range(3))

    def along(direction: Any, sign: int) -> Callable[[State], Ball]:
        return lambda s: mul(sign, dot(times(s.frame(frame).rotation, own), direction))

    if tilt:
        sides, floor = _through_sines(where, bounds)
        return [
            (f"{title}, first", sides[0], along(second, -1), None),
            (f"{title}, second", sides[1], along(first, 1), None),
            (f"{title}, angle", (floor, math.inf), along(wanted, 1), None),
        ]
    low, high = max(0.0, bounds[0][0]), min(math.pi, bounds[1][0])
    least: Any = -math.inf if high >= math.pi else flint().arb(high).cos()
    most: Any = math.inf if low <= 0.0 else flint().arb(low).cos()
    return [(f"{title}, angle", (least, most), along(wanted, 1), None)]


def _orientation(
    where: str, title: str, frame: str, reference: list[float], bounds: tuple[Any, ...]
) -> _Made:
    """Angles about the reference's own axes, held through E = Rt^T R: half its antisymmetric part, which is
    sin(a) / a times the rotation vector, and its cosine."""
    _need(where, (reference, *bounds), (9, 3, 3))
    _must_be_rotation(f"{where}.reference", reference)
    wanted = [[ball(x) for x in reference[3 * i : 3 * i + 3]] for i in range(3)]
    sides, floor = _through_sines(where, bounds)
    half = flint().arb(0.5)

    def relative(state: State) -> Any:
        return product(transposed(wanted), state.frame(frame).rotation)

    def sine(i: int, j: int) -> Callable[[State], Ball]:
        return lambda s: (lambda e: mul(half, sub(e[i][j], e[j][i])))(relative(s))

    def cosine(state: State) -> Ball:
        e = relative(state)
        return mul(half, sub(total([e[i][i] for i in range(3)]), 1))

    out: _Made = [
        (f"{title}, {_AXES[k]}", sides[k], sine(i, j), None)
        for k, (i, j) in enumerate(((2, 1), (0, 2), (1, 0)))
    ]
    return [*out, (f"{title}, angle", (floor, math.inf), cosine, None)]


def _must_be_rotation(where: str, numbers: list[float]) -> None:
    """Rows normal to each other, of length one, right-handed: else sines and cosines are none of angles."""
    a, b, c = ([Fraction(x) for x in numbers[3 * i : 3 * i + 3]] for i in range(3))
    across = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    off = [sum((x * x for x in row), Fraction(-1)) for row in (a, b, c)]
    off += [x - y for x, y in zip(across, c, strict=True)]
    if any(abs(x) > _DIGITS for x in off):
        raise Refused(f"{where}: expected a rotation, found {numbers}")


def _through_sines(where: str, bounds: tuple[Any, ...]) -> tuple[list[tuple[Any, Any]], Any]:
    """Bounds on sin(a) / a times a vector of angles, and on cos(a), that imply bounds on the angles: with A
    the largest size that these allow, sin(A) / A times them, and min(0, cos(A))."""
    arb = flint().arb
    largest = total([arb(max(abs(a), abs(b))) ** 2 for a, b in zip(*bounds, strict=True)]).sqrt()
    if not largest < arb.pi():
        raise Refused(f"{where}: expected angles that together stay below half a turn")
    shrink, cosine = largest.sinc(), largest.cos()
    sides = [
        (arb(low) * shrink if low <= 0.0 else arb(low), arb(high) * shrink if high >= 0.0 else arb(high))
        for low, high in zip(*bounds, strict=True)
    ]
    return sides, cosine if cosine < 0 else arb(0)
