"""[[keep]] of a scenario: a task, its bounds and its window."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from robomorph.errors import ArgumentError
from robomorph.naming import hint
from robomorph.planning.motion import Motion
from robomorph.planning.scenario_robot import ScenarioRobot
from robomorph.tasks import AnyTask, Axis, CenterOfMass, Orientation, Pose, Position, Posture, Tilt

_KEYS = {"task", "frame", "axis", "joints", "sole", "lower", "upper", "reference", "during", "rate"}
Make = Callable[[Motion, ScenarioRobot, Mapping[str, Any]], AnyTask]


def _axis(motion: Motion, robot: ScenarioRobot, table: Mapping[str, Any], kind: type[Axis] = Axis) -> AnyTask:
    axis, frame = table.get("axis"), robot.frame(_needed(table, "frame"))
    if axis == "up":
        if motion.start is None:
            raise ArgumentError("axis: 'up' is what points up at the start, and the motion has no start")
        turn = motion.robot.forward_kinematics(motion.start[0], frame)[:3, :3]
        axis = turn.T @ robot.up()
    if axis is None:
        raise ArgumentError("axis: expected three numbers or 'up', found none")
    return kind(frame, axis)


# A task's name in a file -> how it is made.
MAKERS: dict[str, Make] = {
    "position": lambda motion, robot, table: Position(robot.frame(_needed(table, "frame"))),
    "orientation": lambda motion, robot, table: Orientation(robot.frame(_needed(table, "frame"))),
    "pose": lambda motion, robot, table: Pose(robot.frame(_needed(table, "frame"))),
    "axis": _axis,
    "tilt": lambda motion, robot, table: _axis(motion, robot, table, Tilt),
    "center of mass": lambda motion, robot, table: CenterOfMass(),
    "posture": lambda motion, robot, table: Posture.of(motion.robot.model, table.get("joints")),
}


def read_keep(motion: Motion, robot: ScenarioRobot, table: Mapping[str, Any]) -> None:
    """One [[keep]] table."""
    if not isinstance(table, Mapping):
        raise ArgumentError(f"expected a table, found {table!r}: write [[keep]] and its keys below")
    known_keys("keep", table, _KEYS)
    name = _needed(table, "task")
    if name not in MAKERS:
        raise ArgumentError(f"task: unknown name {name!r}: {hint(str(name), list(MAKERS))}")
    task = MAKERS[name](motion, robot, table)
    lower, upper, reference = table.get("lower"), table.get("upper"), table.get("reference")
    if "sole" in table:
        if (
            not isinstance(task, CenterOfMass)
            or reference is not None
            or lower is not None
            or upper is not None
        ):
            raise ArgumentError(
                "sole: stands alone with the task 'center of mass', without bounds or reference"
            )
        lower, upper = robot.above_sole(table["sole"], motion.start)
    during, rate = table.get("during"), table.get("rate", 0)
    motion.keep(task, lower, upper, reference=reference, during=during, rate=rate)


def _needed(table: Mapping[str, Any], key: str) -> str:
    if not isinstance(table.get(key), str):
        raise ArgumentError(f"{key}: expected a name, found {table.get(key)!r}")
    return str(table[key])


def known_keys(where: str, table: Mapping[str, Any], known: set[str]) -> None:
    for key in table:
        if key not in known:
            raise ArgumentError(f"unknown key {key!r} of [{where}]: {hint(key, sorted(known))}")
