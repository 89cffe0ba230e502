"""Where the costs and bounds of a problem are among the numbers that a solver works on.

A number of each joint (q, v, a, torque, jerk) is costed and bounded as it is; everything else is rows of one
kernel, piece by piece, with the references of the pieces one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.mpc.kernels.pieces import Piece
from robomorph.mpc.kernels.rows import any_moving, reference_count, row_count
from robomorph.mpc.quantities import Effort
from robomorph.mpc.terms import GRAVITY, Bound, Cost

if TYPE_CHECKING:
    from robomorph.mpc.problem import Problem
    from robomorph.robot import Robot

Array = npt.NDArray[np.float64]
Index = slice | npt.NDArray[np.intp]
SYMBOLS = ("torque", "q", "v", "a")  # of what every joint has; in native code rows are the fifth
ROWS = "rows"


@dataclass(frozen=True)
class Place:
    """Which rows and references of the kernel a term has."""

    rows: slice
    references: slice


@dataclass(frozen=True, eq=False)
class Layout:
    """A problem, laid out. places: of the terms that are rows, by name. Everything here stays the same from
    step to step."""

    robot: Robot
    horizon: int
    dt: float
    costs: dict[str, Cost]
    bounds: dict[str, Bound]
    pieces: tuple[Piece, ...]
    places: dict[str, Place]

    @property
    def nv(self) -> int:
        return self.robot.nv

    @property
    def nodes(self) -> int:
        return self.horizon + 1

    @property
    def terms(self) -> list[Cost | Bound]:
        return [*self.costs.values(), *self.bounds.values()]

    @property
    def rows(self) -> int:
        return row_count(self.pieces)

    @property
    def references(self) -> int:
        return reference_count(self.pieces)

    @property
    def row_velocity(self) -> bool:
        return any_moving(self.pieces)

    @property
    def jerk(self) -> bool:
        return any(True for _ in self.costs_of("jerk"))

    def nodes_of(self, symbol: str) -> int:
        """At how many nodes a quantity is: torques and accelerations not at the last."""
        return self.horizon if symbol in ("torque", "a") else self.nodes

    def costs_of(self, symbol: str) -> Iterator[Cost]:
        return (cost for cost in self.costs.values() if cost.subject.symbol == symbol)

    def bounds_of(self, symbol: str) -> Iterator[Bound]:
        return (bound for bound in self.bounds.values() if bound.subject.symbol == symbol)

    def moves(self, symbol: str) -> bool:
        """Do bounds of a quantity depend on references?"""
        return any(bound.moves for bound in self.bounds_of(symbol))

    def index(self, joints: tuple[int, ...]) -> Index:
        """Joints as an index; all of them without a copy."""
        return slice(None) if joints == tuple(range(self.nv)) else np.array(joints, dtype=np.intp)

    @property
    def gravity(self) -> list[Cost]:
        """Costs of efforts beyond what holds the robot still."""
        return [cost for cost in self.costs.values() if _wants_gravity(cost)]

    @property
    def posture(self) -> bool:
        """Has the posture of all joints a running cost, so that it is known where the robot is to be?"""
        joints = {j for cost in self.costs_of("q") if cost.running is not None for j in cost.subject.joints}
        return len(joints) == self.nv


def lay_out(problem: Problem) -> Layout:
    """A problem as it is now; what is asked of it later does not change the layout."""
    if not problem.costs:
        raise ArgumentError("problem: expected a cost, found none: add one with problem.cost(...)")
    pieces: list[Piece] = []
    places: dict[str, Place] = {}
    terms: list[Cost | Bound] = [*problem.costs.values(), *problem.bounds.values()]
    for term in terms:
        if term.subject.symbol == ROWS:
            row, number = row_count(pieces), reference_count(pieces)
            pieces += term.subject.pieces
            rows = slice(row, row_count(pieces))
            places[term.name] = Place(rows, slice(number, reference_count(pieces)))
    _check_bounds(problem)
    costs, bounds = dict(problem.costs), dict(problem.bounds)
    return Layout(problem.robot, problem.horizon, problem.dt, costs, bounds, tuple(pieces), places)


def _wants_gravity(cost: Cost) -> bool:
    return isinstance(cost.what, Effort) and isinstance(cost.reference, str) and cost.reference == GRAVITY


def _check_bounds(problem: Problem) -> None:
    """Bounds on the same joint that leave nothing between them, as far as it can be told now."""
    for symbol in SYMBOLS:
        low, high = np.full(problem.robot.nv, -np.inf), np.full(problem.robot.nv, np.inf)
        for bound in problem.bounds.values():
            shift = bound.reference
            if bound.subject.symbol == symbol and shift is not None and shift.ndim == 1:
                joints = list(bound.subject.joints)
                low[joints] = np.maximum(low[joints], bound.lower + shift)
                high[joints] = np.minimum(high[joints], bound.upper + shift)
        if not (low < high).all():
            j = int(np.argmax(~(low < high)))
            raise ArgumentError(
                f"bounds: those on {symbol!r} of joint {problem.robot.velocity_names[j]!r} leave nothing "
                f"between them: at least {low[j]:g} and at most {high[j]:g}"
            )
