"""Plots of a motion: joint angles, speeds and torques over time, each against its limits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.tree import coordinate_starts
from robomorph.model.joints import JOINT_TYPES
from robomorph.model.model import WORLD, Model

if TYPE_CHECKING:
    from robomorph.robot import Robot
    from robomorph.viewer.trajectory import Trajectory

Array = npt.NDArray[np.float64]
MOST_LINES = 8  # of one plot
_DIGITS = 6  # that a plot can show
_DIFFERENCES = "by differences"
_OF_MOTION = "by inverse dynamics, accelerations by differences"
# What is plotted: unit of turning and of sliding entries.
_UNITS = {"q": ("rad", "m"), "qd": ("rad/s", "m/s"), "tau": ("N m", "N")}
_WORDS = {
    "q": ("joint angles", "joint positions"),
    "qd": ("joint speeds", "joint speeds"),
    "tau": ("joint torques", "joint forces"),
}


@dataclass(frozen=True)
class Entry:
    """One entry of q, or of qd and tau: what it is called, and whether it turns; part: of a quaternion or
    (cos, sin) pair, which is neither angle nor length. limb: joints of one limb share it."""

    index: int
    name: str
    turns: bool
    part: bool
    limb: int


def plots(
    robot: Robot, motion: Trajectory, keep: npt.NDArray[np.int64], note: str = ""
) -> list[dict[str, Any]]:
    """Plots of the samples `keep` (k,) of a motion, in the page's form; `note` ends every title."""
    limits = robot.limits
    speeds, how = speeds_of(robot, motion)
    torques, by = torques_of(robot, motion)
    out = _plots("q", _coordinates(robot), motion.q, (limits.lower, limits.upper), note)
    if speeds is not None:
        out += _plots("qd", _freedoms(robot), speeds, _both(limits.velocity), _joined(how, note))
    if torques is not None:
        out += _plots("tau", _freedoms(robot), torques, _both(limits.effort), _joined(by, note))
    for plot in out:
        for line in plot["lines"]:
            line["values"] = _short(line["values"][keep])
    return out


def speeds_of(robot: Robot, motion: Trajectory) -> tuple[Array | None, str]:
    """(T, nv) as given, or by differences on the manifold; and how, in words."""
    if motion.qd is not None:
        return motion.qd, ""
    if len(motion.times) < 2:
        return None, ""
    steps = robot.difference(motion.q[:-1], motion.q[1:])
    return _per_second(motion.times, steps), _DIFFERENCES


def torques_of(robot: Robot, motion: Trajectory) -> tuple[Array | None, str]:
    """(T, nv) as given, or what the motion takes where its speeds are known; and how, in words."""
    if motion.tau is not None:
        return motion.tau, ""
    if (
        motion.qd is None
        or len(motion.times) < 2
        or not any(b.inertia.mass > 0.0 for b in robot.model.bodies)
    ):
        return None, ""
    accelerations = _per_second(motion.times, np.diff(motion.qd, axis=0))
    return robot.inverse_dynamics(motion.q, motion.qd, accelerations), _OF_MOTION


def _per_second(times: Array, steps: Array) -> Array:
    """(T, n) rates from steps (T - 1, n) between samples: over both neighbours, at the ends over one."""
    seconds = np.diff(times)[:, None]
    rates = np.empty((len(times), steps.shape[1]))
    rates[0], rates[-1] = steps[0] / seconds[0], steps[-1] / seconds[-1]
    rates[1:-1] = (steps[1:] + steps[:-1]) / (seconds[1:] + seconds[:-1])
    return rates


def _both(limit: Array) -> tuple[Array, Array]:
    return -limit, limit


def _joined(*notes: str) -> str:
    return ", ".join(note for note in notes if note)


# --- which lines stand together -----------------------------------------------------------------------


def _plots(
    what: str, entries: list[Entry], values: Array, limits: tuple[Array, Array], note: str
) -> list[dict[str, Any]]:
    lower, upper = limits
    out = []
    for group in _groups(entries):
        lines = [
            {
                "name": entry.name,
                "values": values[:, entry.index],
                "lower": _limit(lower[entry.index]),
                "upper": _limit(upper[entry.index]),
            }
            for entry in group
        ]
        unit = "" if group[0].part else _UNITS[what][0 if group[0].turns else 1]
        out.append({"title": _title(what, group, len(entries), note), "unit": unit, "lines": lines})
    return out


def _title(what: str, group: list[Entry], count: int, note: str) -> str:
    words = "orientation" if group[0].part else _WORDS[what][0 if group[0].turns else 1]
    if len(group) < count:
        span = group[0].name if len(group) == 1 else f"{group[0].name} to {group[-1].name}"
        words = f"{words}, {span}"
    return f"{words} ({note})" if note else words


def _groups(entries: list[Entry]) -> Iterator[list[Entry]]:
    """Entries of one unit, limb by limb, small limbs together, at most so many lines."""
    for kind in dict.fromkeys((entry.turns, entry.part) for entry in entries):
        group: list[Entry] = []
        for limb in _limbs([entry for entry in entries if (entry.turns, entry.part) == kind]):
            if group and len(group) + len(limb) > MOST_LINES:
                yield group
                group = []
            group += limb
            while len(group) > MOST_LINES:
                yield group[:MOST_LINES]
                group = group[MOST_LINES:]
        if group:
            yield group


def _limbs(entries: list[Entry]) -> Iterator[list[Entry]]:
    for limb in dict.fromkeys(entry.limb for entry in entries):
        yield [entry for entry in entries if entry.limb == limb]


def limbs(model: Model) -> list[int]:
    """Per body: the first body of its limb. A limb begins at the world and where a body carries several."""
    parents = [body.parent for body in model.bodies]
    first: list[int] = []
    for i, parent in enumerate(parents):
        begins = parent == WORLD or parents.count(parent) > 1
        first.append(i if begins else first[parent])
    return first


def _coordinates(robot: Robot) -> list[Entry]:
    first, out = limbs(robot.model), []
    for i, (iq, _) in coordinate_starts(robot.model).items():
        joint = JOINT_TYPES[robot.model.bodies[i].kind]
        parts = range(joint.nq)[joint.unit_part]
        for k in range(joint.nq):
            turns = joint.nq == joint.nv and any(joint.subspace[k].ang)
            out.append(Entry(iq + k, robot.coordinate_names[iq + k], turns, k in parts, first[i]))
    return out


def _freedoms(robot: Robot) -> list[Entry]:
    first, out = limbs(robot.model), []
    for i, (_, iv) in coordinate_starts(robot.model).items():
        joint = JOINT_TYPES[robot.model.bodies[i].kind]
        for k in range(joint.nv):
            turns = bool(any(joint.subspace[k].ang))
            out.append(Entry(iv + k, robot.velocity_names[iv + k], turns, False, first[i]))
    return out


def _limit(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _short(values: Array) -> list[float]:
    """As many digits as a plot can show, for the file's sake."""
    largest = float(np.abs(values).max(initial=0.0))
    digits = _DIGITS - (math.ceil(math.log10(largest)) if largest > 0.0 else 0)
    return [float(x) for x in np.round(values, max(0, digits))]
