"""What a task is.

A task is a frozen dataclass: everything that decides what is traced, so that it can be hashed and a program
be made of it once. The numbers of the moment, its reference, weights and bounds, are data of a call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.tree import Tree
from robomorph.errors import ArgumentError
from robomorph.model import Model
from robomorph.naming import hint
from robomorph.spatial import Scalar
from robomorph.tasks.kinds import LINEAR, ROTATION, Kind
from robomorph.tasks.numbers import Array, read_bounds
from robomorph.tasks.reach import frame_column_bounds
from robomorph.tasks.scene import Matrix, Scene
from robomorph.tasks.slopes import rotation_slopes


class Size(NamedTuple):
    """How many numbers a task takes as its reference, and how many raw errors and rows it makes of them."""

    reference: int
    raw: int
    rows: int


class BoundSize(NamedTuple):
    """How many bounds a caller gives on each side, and how many rows hold them; none if both are 0."""

    given: int
    rows: int


class Words(NamedTuple):
    """A task in the table of docs/add-a-task.md: how it is made, and what its reference, residual, bounds and
    the rows that hold those are."""

    made: str
    reference: str
    residual: str
    bounds: str = "the same"
    held: str = "the same"


class AnyTask(ABC):
    """What every task answers, combined or not. `name` is its name in `TASKS` and in messages."""

    name: ClassVar[str]
    words: ClassVar[Words | None] = None  # for the docs; those in `TASKS` need them

    @property
    @abstractmethod
    def size(self) -> Size: ...

    @property
    @abstractmethod
    def bound_size(self) -> BoundSize: ...

    @property
    @abstractmethod
    def parts(self) -> tuple[Task, ...]:
        """The tasks that this one is made of: itself, if it is not combined."""

    @property
    def title(self) -> str:
        """How messages name it."""
        return self.name

    def check(self, model: Model) -> None:
        """Raise ArgumentError if the robot lacks what the task is about."""
        del model  # most tasks are about something that every robot has

    @abstractmethod
    def read(self, reference: npt.ArrayLike) -> Array:
        """A caller's reference, checked: (..., size.reference), float64."""

    @abstractmethod
    def residual(self, scene: Scene, reference: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        """Raw errors (size.raw,) and the Jacobian (size.rows, nv) of the rows e that `rows` makes of them.
        J^T e is the gradient of |e|^2 / 2 at any distance; J itself is exact where e vanishes, and for
        tasks that do not turn everywhere."""

    @abstractmethod
    def rows(self, raw: Sequence[Scalar]) -> list[Scalar]:
        """The rows of the residual (size.rows,) from raw errors, in metres or radians."""

    @abstractmethod
    def exact_rows(self, scene: Scene, reference: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        """The rows of the residual (size.rows,) and their Jacobian (size.rows, nv), exact at any distance."""

    @abstractmethod
    def bound_rows(self, scene: Scene, reference: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        """Values (bound_size.rows,) that are polynomial in the entries of poses (and in q), and their
        Jacobian (bound_size.rows, nv). Held between `row_bounds`, they hold the caller's bounds."""

    @abstractmethod
    def row_bounds(self, lower: Any, upper: Any) -> tuple[Array, Array]:
        """Lower and upper bounds (..., bound_size.rows) of the rows from a caller's (..., bound_size.given);
        one number holds for all, None for no bound."""


class Task(AnyTask):
    """A task of one kind. What is measured as a difference (`kind` LINEAR) can be bounded as it is; other
    kinds give rows of their own, or have none."""

    kind: Kind = LINEAR
    unit = "m"  # of its rows, in messages

    @property
    def parts(self) -> tuple[Task, ...]:
        return (self,)

    @property
    def bends(self) -> bool:
        """Are rows a rotation vector whose exact derivative is wanted, row by row (see `apart`)?"""
        return False

    @property
    def coordinates(self) -> frozenset[int]:
        """Coordinates of q that it reads by themselves: there a full turn further is not the same."""
        return frozenset()

    @property
    def bound_size(self) -> BoundSize:
        count = self.size.rows if self.kind is LINEAR else 0
        return BoundSize(count, count)

    def rows(self, raw: Sequence[Scalar]) -> list[Scalar]:
        return self.kind.rows(raw)

    def exact_rows(self, scene: Scene, reference: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        """Right for raw errors that are a rotation E, if the Jacobian has angular velocities w with
        dE = [w]x E; a task whose raw errors are something else that turns says more, as `Axis` does."""
        raw, jacobian = self.residual(scene, reference)
        rows = self.rows(raw)
        if self.kind is ROTATION:
            return rows, rotation_slopes(raw, rows, jacobian)
        if self.kind.turning:
            raise ArgumentError(
                f"{self.title}: {type(self).__name__} has no exact Jacobian of its rows (exact_rows), which "
                "is needed here: write it, as tasks/axis.py does"
            )
        return rows, jacobian

    def bound_rows(self, scene: Scene, reference: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        self._must_be_bounded()
        return self.residual(scene, reference)

    def row_bounds(self, lower: Any, upper: Any) -> tuple[Array, Array]:
        self._must_be_bounded()
        return read_bounds(self.title, self.size.rows, lower, upper)

    def _must_be_bounded(self) -> None:
        if self.bound_size.rows == 0:
            raise ArgumentError(f"{self.title}: expected a task with rows that can be bounded, found none")

    def apart(self) -> Task:
        """The same task with rows that can be weighed and judged one by one."""
        return self

    def column_bounds(self, tree: Tree) -> dict[int, float]:
        """Per degree of freedom that matters, a bound on the length of its column of the Jacobian over all
        configurations. Methods with a step of fixed length ask for it."""
        raise ArgumentError(
            f"{self.title}: {type(self).__name__} has no bound on its Jacobian (column_bounds), which this "
            "method needs: use another method"
        )

    def out_of_reach(self, tree: Tree, reference: Array, travel: list[float], slack: float) -> str | None:
        """A proof in words that the reference cannot be met to within `slack`, or None. `travel`: per link,
        the farthest its joint can slide (m)."""
        return None


@dataclass(frozen=True)
class FrameTask(Task):
    """A task of one frame."""

    frame: str

    @property
    def title(self) -> str:
        return f"{self.name} of {self.frame!r}"

    def check(self, model: Model) -> None:
        check_frame(model, self.frame)

    def column_bounds(self, tree: Tree) -> dict[int, float]:
        """Right for what moves no faster than the frame's origin, or turns no faster than the frame."""
        return frame_column_bounds(tree, self.frame, self.kind.turning)


class CombinedTask(AnyTask):
    """Several tasks as one: everything stacked in the order of `parts`."""

    @property
    def size(self) -> Size:
        return Size(*(sum(column) for column in zip(*(part.size for part in self.parts), strict=True)))

    @property
    def bound_size(self) -> BoundSize:
        return BoundSize(
            *(sum(column) for column in zip(*(part.bound_size for part in self.parts), strict=True))
        )

    def check(self, model: Model) -> None:
        for part in self.parts:
            part.check(model)

    def residual(self, scene: Scene, reference: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        owns = split(reference, [part.size.reference for part in self.parts])
        return _stacked(part.residual(scene, own) for part, own in zip(self.parts, owns, strict=True))

    def rows(self, raw: Sequence[Scalar]) -> list[Scalar]:
        owns = split(raw, [part.size.raw for part in self.parts])
        return [row for part, own in zip(self.parts, owns, strict=True) for row in part.rows(own)]

    def exact_rows(self, scene: Scene, reference: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        owns = split(reference, [part.size.reference for part in self.parts])
        return _stacked(part.exact_rows(scene, own) for part, own in zip(self.parts, owns, strict=True))

    def bound_rows(self, scene: Scene, reference: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        owns = split(reference, [part.size.reference for part in self.parts])
        return _stacked(part.bound_rows(scene, own) for part, own in zip(self.parts, owns, strict=True))

    def row_bounds(self, lower: Any, upper: Any) -> tuple[Array, Array]:
        low, high = read_bounds(self.title, self.bound_size.given, lower, upper)
        first, pairs = 0, []
        for part in self.parts:
            own = slice(first, first + part.bound_size.given)
            pairs.append(part.row_bounds(low[..., own], high[..., own]))
            first = own.stop
        lows, highs = zip(*pairs, strict=True)
        return np.concatenate(lows, axis=-1), np.concatenate(highs, axis=-1)


def split(values: Sequence[Any], sizes: Sequence[int]) -> list[list[Any]]:
    """Values in pieces of the given sizes."""
    out, first = [], 0
    for size in sizes:
        out.append(list(values[first : first + size]))
        first += size
    return out


def _stacked(pairs: Any) -> tuple[list[Scalar], Matrix]:
    values: list[Scalar] = []
    jacobian: Matrix = []
    for value, rows in pairs:
        values += value
        jacobian += rows
    return values, jacobian


def check_frame(model: Model, name: Any) -> None:
    """Raise ArgumentError unless the robot has a frame of this name."""
    if not isinstance(name, str):
        raise ArgumentError(f"frame: expected the name of a frame, found {type(name).__name__} {name!r}")
    if name not in model._frame_indices:
        raise ArgumentError(f"frame: unknown name {name!r}: {hint(name, list(model.frame_names))}")
