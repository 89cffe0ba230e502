"""Which channels of tasks a motion needs, each once: requirements on the same thing share them.

A combined task is taken apart. What is measured as a difference is measured from zero, its reference moved
into the bounds, so that windows with other references need no other channel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from robomorph.algorithms.sweep import WORLD
from robomorph.planning.problem import Array, Bools
from robomorph.planning.requirements import OfTask, Requirement
from robomorph.tasks import FrameTask, Task
from robomorph.tasks.kinds import LINEAR

if TYPE_CHECKING:
    from robomorph.algorithms.tree import Tree

_Part = tuple[Task, tuple[float, ...]]


class Channels:
    """tasks: one after the other, each with all its bound rows. references: their numbers (at least one)."""

    def __init__(self, requirements: Sequence[Requirement]) -> None:
        parts: dict[_Part, int] = {}
        self._places: dict[int, list[tuple[int, float]]] = {}
        count = 0
        for index, requirement in enumerate(requirements):
            if isinstance(requirement, OfTask):
                places: list[tuple[int, float]] = []
                for key, offsets in _taken_apart(requirement):
                    if key not in parts:
                        parts[key] = count
                        count += key[0].bound_size.rows
                    places += [(parts[key] + k, offset) for k, offset in enumerate(offsets)]
                self._places[index] = places
        self.count = count
        self.tasks = tuple(task for task, _ in parts)
        self.references: Array = np.array([x for _, numbers in parts for x in numbers])

    def place(self, index: int, row: int) -> tuple[int, float]:
        """The channel of a row of a requirement, and what is subtracted from it."""
        return self._places[index][row]


def _taken_apart(requirement: OfTask) -> list[tuple[_Part, list[float]]]:
    """Parts with their references, and per row what the reference takes off."""
    out: list[tuple[_Part, list[float]]] = []
    first = 0
    for part in requirement.task.parts:
        own = requirement.reference[first : first + part.size.reference]
        first += part.size.reference
        if part.kind is LINEAR and len(own) == part.bound_size.rows:
            out.append(((part, (0.0,) * len(own)), list(own)))
        else:
            out.append(((part, own), [0.0] * part.bound_size.rows))
    return out


def pattern(tree: Tree, channels: Channels, torque: bool) -> Bools:
    """(C, nv), with torques (C + nv, nv): which joints can change a function, by the robot's structure."""
    rows = [_joints(tree, task) for task in channels.tasks for _ in range(task.bound_size.rows)]
    if torque:
        moves = np.zeros((tree.nv, tree.nv), bool)
        for link in tree.links:
            for above in tree.support_dofs(link.index):
                for dof in tree.link_dofs[link.index]:
                    moves[above.user, dof.user] = moves[dof.user, above.user] = True
        rows += list(moves)
    return np.array(rows, dtype=bool).reshape(-1, tree.nv)


def _joints(tree: Tree, task: Task) -> Bools:
    """(nv,): those that carry a task's frame, or all."""
    out = np.ones(tree.nv, bool)
    if isinstance(task, FrameTask):
        link, _ = tree.frames[task.frame]
        out[:] = False
        out[[dof.user for dof in tree.support_dofs(link)] if link != WORLD else []] = True
    return out
