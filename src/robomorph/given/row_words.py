"""What rows of tasks are called in messages."""

from __future__ import annotations

from robomorph.tasks import AnyTask

_AXES = ("x", "y", "z")


def unit_of(task: AnyTask) -> str:
    """Of the rows."""
    units = {part.unit for part in task.parts}
    return units.pop() if len(units) == 1 else "m or rad"


def bound_row_names(task: AnyTask) -> tuple[str, ...]:
    """Of the bound rows."""
    names: list[str] = []
    for part in task.parts:
        rows, alone = part.bound_size.rows, "angle" if part.kind.turning else "value"
        given = _AXES[: part.bound_size.given] if part.bound_size.given <= 3 else map(str, range(rows))
        names += (alone,) if rows == 1 else (*given, "angle")[:rows]
    return tuple(names)


def row_names(task: AnyTask) -> tuple[str, ...]:
    """Of the residual's rows."""
    names: list[str] = []
    for part in task.parts:
        rows = part.size.rows
        names += _AXES[:rows] if rows <= 3 else map(str, range(rows))
    return tuple(names)
