"""From a motion in words to a problem in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from robomorph.errors import ArgumentError
from robomorph.given.numbers import number, whole_number
from robomorph.planning.channels import Channels, pattern
from robomorph.planning.evaluate import Evaluator
from robomorph.planning.functions import Functions
from robomorph.planning.paper import PaperEvaluator
from robomorph.planning.pieces import Piece, cut, make_pieces
from robomorph.planning.problem import Array, Cost, Ints, Problem
from robomorph.planning.requirements import Requirement
from robomorph.planning.rows import Grid, RowMaker
from robomorph.planning.spline import DEGREE, WIDTH, end_points, smoothness

if TYPE_CHECKING:
    from robomorph.planning.motion import Motion

COSTS = ("jerk", "energy", "time")
_BESIDE = 0.1  # rad or m
# The Hessian's condition grows as the sixth power of the intervals: at 400 the least jerk is off by 0.4%.
MOST_WITH_JERK = 300
METHODS = ("bernstein", "grid", "paper")


@dataclass(eq=False)
class Assembled:
    """A problem and what it was made of."""

    problem: Problem
    channels: Channels
    pieces: list[Piece]
    requirements: tuple[Requirement, ...]
    functions: Functions
    method: str
    impossible: str | None = (
        None  # why nothing can be found, "" if nothing is known against it; None: not asked
    )

    @cached_property
    def evaluator(self) -> Evaluator:
        if self.method == "paper":
            return PaperEvaluator(self.problem, self.functions, self.pieces)
        return Evaluator(self.problem, self.functions)


def assemble(motion: Motion, cost: Any, method: str, points: int) -> Assembled:
    if method not in METHODS:
        raise ArgumentError(f"method: expected one of {', '.join(METHODS)}, found {method!r}")
    grid = Grid(whole_number("points", points, 1, 1000)) if method == "grid" else None
    weights = read_cost(cost, motion.duration.free)
    edges = {t / motion.knot for r in motion.requirements for t in r.window}
    pieces = cut(motion.intervals, motion.refine, edges)
    control, block_of = _control(motion)
    channels = Channels(motion.requirements)
    fixed = (block_of < 0).tolist()
    maker = RowMaker(pieces, motion.knot, fixed, channels, grid, whole=method == "paper")
    for source, requirement in enumerate(motion.requirements):
        maker.add(source, requirement)
    rows = maker.rows()
    torque = bool((rows.function >= channels.count).any()) or weights["energy"] > 0.0
    functions = Functions(motion.robot, channels.tasks, torque)
    bounds = motion.duration.bounds
    nominal = motion.duration.nominal
    problem = Problem(
        nv=motion.robot.nv,
        width=WIDTH,
        channels=channels.count,
        references=channels.references,
        torque=torque,
        control=control,
        block_of=block_of,
        seconds=nominal,
        duration=None if bounds is None else (bounds[0] / nominal, bounds[1] / nominal),
        pieces=make_pieces(pieces, motion.knot),
        matrices=tuple(maker.tables.matrices),
        coarse=tuple(maker.tables.coarse),
        fine=tuple(maker.tables.fine),
        rows=rows,
        spline_matrices=tuple(maker.spline_tables.matrices),
        spline_rows=maker.spline_rows(),
        cost=_cost(motion, weights),
        pattern=pattern(motion.robot.specialiser.tree(regroup=False), channels, torque),
    )
    return Assembled(problem, channels, pieces, tuple(motion.requirements), functions, method)


def read_cost(cost: Any, free: bool) -> dict[str, float]:
    """Weights of all costs."""
    if isinstance(cost, str):
        cost = {cost: 1.0}
    if cost is not None and not isinstance(cost, Mapping):
        raise ArgumentError(
            f"cost: expected one of {', '.join(COSTS)}, weights of them or None, found {cost!r}"
        )
    out = dict.fromkeys(COSTS, 0.0)
    for name, weight in (cost or {}).items():
        if name not in COSTS:
            raise ArgumentError(f"cost: expected one of {', '.join(COSTS)}, found {name!r}")
        out[name] = number(f"cost {name!r}", weight)
        if out[name] < 0.0:
            raise ArgumentError(f"cost {name!r}: expected a weight of 0 or more, found {weight!r}")
    if out["time"] and not free:
        raise ArgumentError(
            "cost 'time': the duration is fixed: give seconds=(shortest, longest) for one that is free"
        )
    return out


def _cost(motion: Motion, weights: dict[str, float]) -> Cost:
    if weights["jerk"] and motion.intervals > MOST_WITH_JERK:
        raise ArgumentError(
            f"cost 'jerk': expected at most {MOST_WITH_JERK} intervals, found {motion.intervals}: the "
            "least jerk of more cannot be told in float64; take fewer, and refine= for tighter constraints"
        )
    effort = motion.robot.limits.effort
    finite = effort[np.isfinite(effort) & (effort > 0.0)]
    usual = float(np.median(finite)) if len(finite) else 1.0
    return Cost(
        jerk=weights["jerk"],
        energy=weights["energy"],
        time=weights["time"],
        smoothness=smoothness(motion.intervals + DEGREE, motion.knot),
        joint_weight=np.ones(motion.robot.nv),
        torque_scale=np.where(np.isfinite(effort) & (effort > 0.0), effort, usual),
    )


def _control(motion: Motion) -> tuple[Array, Ints]:
    """Control points, free ones on the straight line between the ends, and their blocks."""
    count, nv = motion.intervals + DEGREE, motion.robot.nv
    block_of = np.full(count, -1, np.int32)
    if motion.periodic:
        block_of[:] = folded(motion.intervals)[np.arange(count) % motion.intervals]
        return np.tile(resting(motion), (count, 1)), block_of
    ends = [None if s is None else end_points(s, motion.knot) for s in (motion.start, motion.end)]
    first = 0 if ends[0] is None else DEGREE
    last = count if ends[1] is None else count - DEGREE
    block_of[first:last] = np.arange(last - first)
    if ends[0] is None and ends[1] is None:
        return np.tile(resting(motion), (count, 1)), block_of
    begin, end = (ends[0] if ends[0] is not None else ends[1]), (ends[1] if ends[1] is not None else ends[0])
    assert begin is not None and end is not None
    share = np.clip((np.arange(count) - 1.0) / (count - 3.0), 0.0, 1.0)[:, None]
    control = begin[1] * (1.0 - share) + end[1] * share
    if ends[0] is not None:
        control[:DEGREE] = ends[0]
    if ends[1] is not None:
        control[-DEGREE:] = ends[1]
    assert control.shape == (count, nv)
    return control, block_of


def resting(motion: Motion) -> Array:
    """(nv,) a little beside the middle of the limits, or as near to zero as they allow where one is missing:
    an arm stretched out in line is a place where many things have no slope."""
    limits = motion.robot.limits
    bounded = np.isfinite(limits.lower) & np.isfinite(limits.upper)
    with np.errstate(invalid="ignore"):
        middle = np.where(bounded, (limits.lower + limits.upper) / 2.0, 0.0)
    middle = middle + _BESIDE * (-1.0) ** np.arange(len(middle))
    return np.asarray(np.clip(middle, limits.lower, limits.upper))


def folded(count: int) -> Ints:
    """(count,) places in the order 0, N - 1, 1, N - 2 ...: neighbours on a ring stay near each other."""
    order = [k // 2 if k % 2 == 0 else count - 1 - k // 2 for k in range(count)]
    places = np.empty(count, np.int32)
    places[order] = np.arange(count)
    return places
