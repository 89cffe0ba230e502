"""From requirements to the rows of a problem: Bernstein coefficients, or values on a grid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robomorph.planning import nodes
from robomorph.planning.channels import Channels
from robomorph.planning.pieces import NODES, Piece, ends_at, starts_at, within
from robomorph.planning.problem import Array, Rows, SplineRows
from robomorph.planning.requirements import OfJoints, OfTask, OfTorques, Requirement, scale_of
from robomorph.planning.spline import WIDTH, basis, bernstein_matrix

_DEGREE = NODES - 1
_Block = tuple[Any, ...]  # columns of Rows or SplineRows


@dataclass
class Grid:
    """Values at so many equally spaced points of every piece instead of coefficients."""

    points: int


@dataclass
class Matrices:
    """Every matrix that rows need, each once."""

    matrices: list[Array] = field(default_factory=list)
    coarse: list[Array] = field(default_factory=list)
    fine: list[Array] = field(default_factory=list)
    _known: dict[Any, int] = field(default_factory=dict)

    def of_nodes(self, rate: int, seconds: float, first: bool, last: bool, grid: Grid | None) -> int:
        """Rows over a whole piece of this length, without its first or last one unless asked for."""
        key = (rate, seconds, first, last, None if grid is None else grid.points)
        if key not in self._known:
            stretch = (2.0 / seconds) ** rate
            if grid is None:
                rows = nodes.bernstein(_DEGREE, rate)
            else:
                spots = tuple(np.linspace(-1.0, 1.0, grid.points + 1).tolist())
                rows = nodes.at_points(_DEGREE, spots, rate)
            rows = rows[0 if first else 1 : None if last else -1] * stretch
            self._known[key] = self._add(rows, rate, stretch, exact=grid is not None)
        return self._known[key]

    def of_edge(self, rate: int, seconds: float, end: bool) -> int:
        """The value at the begin or end of a piece."""
        key = ("edge", rate, seconds, end)
        if key not in self._known:
            stretch = (2.0 / seconds) ** rate
            if rate == 0:
                rows = np.eye(NODES)[[-1 if end else 0]]
            else:
                rows = nodes.at_points(_DEGREE, (1.0 if end else -1.0,), rate) * stretch
            self._known[key] = self._add(rows, rate, stretch, exact=rate == 0)
        return self._known[key]

    def _add(self, rows: Array, rate: int, stretch: float, *, exact: bool) -> int:
        self.matrices.append(np.ascontiguousarray(rows))
        self.coarse.append(np.zeros((0, NODES)) if exact else nodes.coefficients(_DEGREE, rate) * stretch)
        fine = nodes.coefficients(2 * _DEGREE, rate) * stretch
        order = [*range(0, 2 * NODES - 1, 2), *range(1, 2 * NODES - 1, 2)]
        self.fine.append(np.zeros((0, 2 * NODES - 1)) if exact else np.ascontiguousarray(fine[:, order]))
        return len(self.matrices) - 1


@dataclass
class SplineMatrices:
    """Every matrix of spline rows, each once."""

    matrices: list[Array] = field(default_factory=list)
    _known: dict[Any, int] = field(default_factory=dict)

    def over(self, piece: Piece, rate: int, knot: float, grid: Grid | None, keep: tuple[bool, ...]) -> int:
        """Rows over a piece, those that `keep` marks."""
        key = (piece.begin, piece.end, rate, keep)
        if key not in self._known:
            rows = spline_rows_over(piece, rate, knot, grid)
            self._known[key] = len(self.matrices)
            self.matrices.append(np.ascontiguousarray(rows[list(keep)]))
        return self._known[key]


def spline_rows_over(piece: Piece, rate: int, knot: float, grid: Grid | None) -> Array:
    """(m, WIDTH): Bernstein coefficients over a piece, or values on a grid."""
    if grid is None:
        return bernstein_matrix(piece.begin, piece.end, rate) / knot**rate
    if rate == 3:
        return basis(np.array([piece.begin]), rate) / knot**rate
    return basis(np.linspace(piece.begin, piece.end, grid.points + 1), rate) / knot**rate


class RowMaker:
    """Makes the rows of requirements over pieces. `fixed` (P,): control points that do not vary."""

    def __init__(
        self,
        pieces: list[Piece],
        knot: float,
        fixed: list[bool],
        channels: Channels,
        grid: Grid | None = None,
        whole: bool = False,
    ) -> None:
        """whole: keep all rows of every piece, those that neighbours share or nothing changes too."""
        self.pieces, self.knot, self.fixed, self.grid, self.whole = pieces, knot, fixed, grid, whole
        self._channels = channels
        self.tables, self.spline_tables = Matrices(), SplineMatrices()
        self._rows: list[_Block] = []
        self._spline_rows: list[_Block] = []

    def add(self, source: int, requirement: Requirement) -> None:
        live = requirement.live
        if isinstance(requirement, OfJoints):
            found = [(piece.interval, matrix) for piece, matrix in self._spline_matrices_over(requirement)]
            joints = [requirement.joints[k] for k in live]
            self._spline_rows += _block(source, requirement, found, joints, [0.0] * len(live))
        elif isinstance(requirement, OfTorques):
            functions = [self._channels.count + requirement.joints[k] for k in live]
            found = list(self._matrices_over(requirement))
            self._rows += _block(source, requirement, found, functions, [0.0] * len(live))
        elif isinstance(requirement, OfTask):
            places = [self._channels.place(source, k) for k in live]
            shift = [offset if requirement.rate == 0 else 0.0 for _, offset in places]
            found = list(self._matrices_over(requirement))
            self._rows += _block(source, requirement, found, [channel for channel, _ in places], shift)

    # --- functions at nodes --------------------------------------------------------------------------

    def _matrices_over(self, requirement: Requirement) -> Iterator[tuple[int, int]]:
        """(piece, matrix) for all that a window covers; values that neighbours share are held once, and
        those that no variable changes are left to `ends.py`."""
        begin, end = (t / self.knot for t in requirement.window)
        rate = requirement.rate
        if requirement.instant:
            e, at_end = self._edge(begin)
            if not (rate == 0 and self._settled(self.pieces[e], at_end)):
                yield e, self.tables.of_edge(rate, self._seconds(e), at_end)
            return
        before = False
        for e, piece in enumerate(self.pieces):
            inside = within(piece, begin, end)
            if inside:
                # The derivative of an interpolant jumps a little at its ends: it is held on both sides.
                first = self.whole or rate > 0 or not (before or self._settled(piece, False))
                last = self.whole or rate > 0 or not self._settled(piece, True)
                yield e, self.tables.of_nodes(rate, self._seconds(e), first, last, self.grid)
            before = inside

    def _seconds(self, e: int) -> float:
        return (self.pieces[e].end - self.pieces[e].begin) * self.knot

    def _edge(self, time: float) -> tuple[int, bool]:
        """The piece that begins at this time (in intervals), or at the end of the motion the last one."""
        for e, piece in enumerate(self.pieces):
            if starts_at(piece, time):
                return e, False
        return next((e, True) for e, piece in enumerate(self.pieces) if ends_at(piece, time))

    def _settled(self, piece: Piece, at_end: bool) -> bool:
        """Is the state at an edge of a piece decided by fixed control points alone?"""
        place = piece.end if at_end else piece.begin
        if place not in (0.0, 1.0):
            return False
        first = piece.interval + int(place)
        return all(self.fixed[first : first + WIDTH - 1])

    # --- joints --------------------------------------------------------------------------------------

    def _spline_matrices_over(self, requirement: Requirement) -> Iterator[tuple[Piece, int]]:
        begin, end = (t / self.knot for t in requirement.window)
        rate, before = requirement.rate, False
        if requirement.instant:
            e, at_end = self._edge(begin)
            rows = spline_rows_over(self.pieces[e], rate, self.knot, self.grid)
            keep = tuple(i == (len(rows) - 1 if at_end else 0) for i in range(len(rows)))
            yield from self._kept(self.pieces[e], rate, keep)
            return
        for piece in self.pieces:
            inside = within(piece, begin, end)
            if inside:
                count = len(spline_rows_over(piece, rate, self.knot, self.grid))
                # Neighbours share the value at the knot, but for the jerk, which jumps.
                keep = tuple(i > 0 or rate == 3 or self.whole or not before for i in range(count))
                yield from self._kept(piece, rate, keep)
            before = inside

    def _kept(self, piece: Piece, rate: int, keep: tuple[bool, ...]) -> Iterator[tuple[Piece, int]]:
        rows = spline_rows_over(piece, rate, self.knot, self.grid)
        free = ~np.array(self.fixed[piece.interval : piece.interval + WIDTH])
        live = (rows[:, free] != 0.0).any(axis=1)
        live |= self.whole and live.any()
        wanted = tuple(bool(a and b) for a, b in zip(keep, live, strict=True))
        if any(wanted):
            yield piece, self.spline_tables.over(piece, rate, self.knot, self.grid, wanted)

    # --- what came of it -----------------------------------------------------------------------------

    def rows(self) -> Rows:
        return Rows(*_joined(self._rows))

    def spline_rows(self) -> SplineRows:
        return SplineRows(*_joined(self._spline_rows))


def _block(
    source: int,
    requirement: Requirement,
    found: list[tuple[int, int]],
    what: list[int],
    shift: list[float],
) -> list[_Block]:
    """Entries of one requirement: for every place and matrix that were found, one of each of `what`."""
    live = requirement.live
    lower, upper = requirement.lower[live] + shift, requirement.upper[live] + shift
    scale = np.array([scale_of(requirement, k) for k in live])
    count, width = len(found), len(what)
    if not count:
        return []
    places, matrices = (np.repeat(np.array(x, np.int32), width) for x in zip(*found, strict=True))
    rate, own = (np.full(count * width, x, np.int32) for x in (requirement.rate, source))
    numbers = (np.tile(x, count) for x in (lower, upper, scale))
    return [(places, np.tile(np.array(what, np.int32), count), matrices, rate, *numbers, own)]


def _joined(blocks: list[_Block]) -> list[Any]:
    types = [np.int32] * 4 + [np.float64] * 3 + [np.int32]
    return [
        np.concatenate([np.zeros(0, kind), *(block[k] for block in blocks)]).astype(kind)
        for k, kind in enumerate(types)
    ]
