"""The stacked residual of a problem: which tasks it has, and where each keeps its numbers.

Everything that decides what is traced is in a `Layout`, which can be hashed; the numbers of a call
(references, weights, tolerances) are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from robomorph.tasks import Size, Task


@dataclass(frozen=True)
class Layout:
    """All tasks of a problem; `weighted` when any row's weight is not one."""

    tasks: tuple[Task, ...]
    weighted: bool = False

    @cached_property
    def size(self) -> Size:
        """Of all tasks together."""
        return Size(*(sum(task.size[k] for task in self.tasks) for k in range(3)))

    @property
    def rows(self) -> int:
        return self.size.rows

    @cached_property
    def starts(self) -> tuple[Size, ...]:
        """Where each task begins among references, raw errors and rows."""
        columns = [[0, *accumulate(task.size[k] for task in self.tasks)][:-1] for k in range(3)]
        return tuple(Size(*triple) for triple in zip(*columns, strict=True))

    @cached_property
    def bends(self) -> tuple[int, ...]:
        """For each task, its place among the rotations whose exact derivative is wanted, or -1."""
        out, count = [], 0
        for task in self.tasks:
            out.append(count if task.bends else -1)
            count += task.bends
        return tuple(out)

    @property
    def bend_count(self) -> int:
        return sum(task.bends for task in self.tasks)

    @cached_property
    def coordinates(self) -> frozenset[int]:
        """Coordinates that count by themselves: a full turn further is not the same."""
        return frozenset().union(*(task.coordinates for task in self.tasks))

    def native_blocks(self) -> list[tuple[int, int, int, int, int]]:
        """(kind, raw start, row start, rows, place among bends) of each task, as native code takes them."""
        return [
            (task.kind.native, start.raw, start.rows, task.size.rows, bend)
            for task, start, bend in zip(self.tasks, self.starts, self.bends, strict=True)
        ]
