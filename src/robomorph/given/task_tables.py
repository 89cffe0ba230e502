"""Tasks of TOML tables, by the names that files use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from robomorph.errors import ArgumentError
from robomorph.given.named_robot import Array, NamedRobot
from robomorph.given.toml_files import needed_name
from robomorph.naming import hint
from robomorph.tasks import AnyTask, Axis, CenterOfMass, Orientation, Pose, Position, Posture, Tilt

Table = Mapping[str, Any]
# From a robot, the start configuration (nv,) or None, and the table.
Make = Callable[[NamedRobot, Array | None, Table], AnyTask]
TASK_KEYS = {"task", "frame", "axis", "joints"}


def _axis(robot: NamedRobot, start: Array | None, table: Table, kind: type[Axis] = Axis) -> AnyTask:
    axis, frame = table.get("axis"), robot.frame(needed_name(table, "frame"))
    if axis == "up":
        if start is None:
            raise ArgumentError("axis: 'up' is what points up at the start, and there is no start")
        turn = robot.robot.forward_kinematics(start, frame)[:3, :3]
        axis = turn.T @ robot.up()
    if axis is None:
        raise ArgumentError("axis: expected three numbers or 'up', found none")
    return kind(frame, axis)


# A task's name in a file -> how it is made.
MAKERS: dict[str, Make] = {
    "position": lambda robot, start, table: Position(robot.frame(needed_name(table, "frame"))),
    "orientation": lambda robot, start, table: Orientation(robot.frame(needed_name(table, "frame"))),
    "pose": lambda robot, start, table: Pose(robot.frame(needed_name(table, "frame"))),
    "axis": _axis,
    "tilt": lambda robot, start, table: _axis(robot, start, table, Tilt),
    "center of mass": lambda robot, start, table: CenterOfMass(),
    "posture": lambda robot, start, table: Posture.of(robot.robot.model, table.get("joints")),
}


def read_task(robot: NamedRobot, start: Array | None, table: Table) -> AnyTask:
    """The task of a table."""
    name = needed_name(table, "task")
    if name not in MAKERS:
        raise ArgumentError(f"task: unknown name {name!r}: {hint(str(name), list(MAKERS))}")
    return MAKERS[name](robot, start, table)
