"""What can be asked of a robot: tasks, shared by everything that solves for motions.

A task gives residual rows with their Jacobian and, where it has them, rows that can be bounded, over a
generic scalar. A new one is one file and one entry here; docs/add-a-task.md shows how.
"""

from robomorph.tasks.axis import Axis
from robomorph.tasks.base import AnyTask, CombinedTask, FrameTask, Size, Task, Words
from robomorph.tasks.center_of_mass import CenterOfMass
from robomorph.tasks.orientation import Orientation
from robomorph.tasks.pose import Pose
from robomorph.tasks.position import Position
from robomorph.tasks.posture import Posture
from robomorph.tasks.scene import Matrix, Scene
from robomorph.tasks.tilt import Tilt

TASKS: dict[str, type[AnyTask]] = {
    task.name: task
    for task in (
        Position,
        Orientation,
        Pose,
        Axis,
        Tilt,
        CenterOfMass,
        Posture,
    )
}

__all__ = [
    "TASKS",
    "AnyTask",
    "Axis",
    "CenterOfMass",
    "CombinedTask",
    "FrameTask",
    "Matrix",
    "Orientation",
    "Pose",
    "Position",
    "Posture",
    "Scene",
    "Size",
    "Task",
    "Tilt",
    "Words",
]
