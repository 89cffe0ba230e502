"""References of tasks: numbers, or where a task is in the start configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.tasks import AnyTask, Axis, Orientation, Pose, Scene
from robomorph.tasks.kinds import LINEAR

if TYPE_CHECKING:
    from robomorph.robot import Robot

Array = npt.NDArray[np.float64]


def reference_at(robot: Robot, task: AnyTask, reference: Any, start: Array | None) -> Array:
    """The numbers of a reference; "start": where the task is in the start configuration."""
    if isinstance(reference, str):
        if reference != "start" or start is None:
            raise ArgumentError(
                f"reference of {task.title}: expected numbers, or 'start' for a motion with a start state, "
                f"found {reference!r}"
            )
        return task.read(value_at(robot, task, start[0]))
    if reference is None:
        if not all(part.kind is LINEAR for part in task.parts):
            raise ArgumentError(
                f"reference of {task.title}: expected what it is measured from, found None: give it, or "
                "'start' for where it is at the start"
            )
        return np.zeros(task.size.reference)
    return task.read(reference)


def value_at(robot: Robot, task: AnyTask, q: Array) -> Array:
    """Where a task is at q: the reference from which it is zero."""
    scene = Scene(robot.specialiser.tree(regroup=False), [float(x) for x in q])
    if isinstance(task, (Orientation, Axis, Pose)):
        pose = scene.pose(task.frame)
        turn: Array = np.array([[float(x) for x in axis] for axis in pose.axes]).T
        if isinstance(task, Orientation):
            return turn
        if isinstance(task, Axis):
            return np.asarray(turn @ np.array(task.axis))
        out: Array = np.eye(4)
        out[:3, :3], out[:3, 3] = turn, [float(x) for x in pose.origin]
        return out
    if not all(part.kind is LINEAR for part in task.parts):
        raise ArgumentError(f"reference of {task.title}: 'start' is not known for this task: give numbers")
    raw, _ = task.residual(scene, [0.0] * task.size.reference)
    return np.array([float(x) for x in raw])
