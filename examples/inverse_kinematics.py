"""Poses solved, one of them in several ways; a target that cannot be reached, and why."""

import numpy as np

import robomorph
from robomorph.ik import AxisTarget, PositionTarget

robot = robomorph.load("iiwa14")
tool = "lbr_iiwa_link_7"

pose = robot.forward_kinematics(np.array([0.3, 0.6, -0.2, -1.3, 0.1, 0.9, 0.0]), tool)
answer = robot.inverse_kinematics(pose, tool)
print(f"a pose: {answer.reason}, {answer.position_error:.0e} m and {answer.rotation_error:.0e} rad away")

several = robot.inverse_kinematics(pose, tool, solutions=4)
print(f"the same pose in {several.success.sum()} ways:")
print(np.round(several.q[several.success], 2))
assert answer.success and several.success.sum() > 1

# A position, and the tool pointing down; how it is turned about its own axis is free.
down = robot.inverse_kinematics(
    [PositionTarget(tool, [0.4, 0.2, 0.5]), AxisTarget(tool, axis=[0, 0, 1], direction=[0, 0, -1])]
)
print("tool downwards:", down.reason)

# A batch of positions is one call. The last one is too far, and the answer says so.
points = np.array([[0.4, 0.1, 0.6], [0.5, -0.3, 0.4], [-0.3, 0.4, 0.8], [1.0, 0.4, 0.9]])
batch = robot.inverse_kinematics(points, tool)
for point, success, reason in zip(points, batch.success, batch.reason, strict=True):
    print(point, "reached" if success else "NOT reached:", "" if success else reason)
assert list(batch.success) == [True, True, True, False]
