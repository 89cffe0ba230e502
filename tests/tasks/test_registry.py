"""Every task is registered under its name and has its test."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from robomorph import ArgumentError
from robomorph.tasks import (
    TASKS,
    AnyTask,
    Axis,
    CenterOfMass,
    Orientation,
    Pose,
    Position,
    Posture,
    Size,
    Task,
)
from robomorph.tasks.kinds import DIRECTION


@pytest.mark.parametrize("name", TASKS)
def test_every_task_has_a_name_and_a_test(name: str) -> None:
    assert TASKS[name].name == name and issubclass(TASKS[name], AnyTask)
    file = TASKS[name].__module__.rpartition(".")[2]
    assert file == name.replace(" ", "_")
    assert (Path(__file__).parent / f"test_{file}.py").exists(), f"tests/tasks/test_{file}.py is missing"


@pytest.mark.parametrize(
    "task",
    [
        Position("a"),
        Orientation("a", own_axes=True),
        Pose("a"),
        Axis("a", (0, 3, 4)),
        CenterOfMass(),
        Posture(("j",), ((0, 0),)),
    ],
    ids=lambda task: task.name,
)
def test_tasks_can_be_keys_and_be_pickled(task: AnyTask) -> None:
    same = pickle.loads(pickle.dumps(task))
    assert same == task and hash(same) == hash(task) and repr(same) == repr(task)
    assert len({task, same, Position("b")}) == 2


class Bare(Task):
    """Says as little as a task may."""

    name, kind, size = "bare", DIRECTION, Size(1, 3, 2)

    def read(self, reference):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    def residual(self, scene, reference):  # type: ignore[no-untyped-def]
        raise NotImplementedError


def test_what_a_task_does_not_have_is_refused_by_name() -> None:
    task = Bare()
    assert task.bound_size == (0, 0) and task.parts == (task,)
    for ask in (lambda: task.row_bounds(0, 1), lambda: task.bound_rows(None, ())):  # type: ignore[arg-type]
        with pytest.raises(ArgumentError, match="bare: expected a task with rows that can be bounded"):
            ask()
    with pytest.raises(ArgumentError, match="bare: Bare has no bound on its Jacobian"):
        task.column_bounds(None)  # type: ignore[arg-type]
