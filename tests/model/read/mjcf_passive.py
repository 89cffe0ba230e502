"""Springs and dampers of a robot's model against the passive forces of MuJoCo."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from robomorph.robot import Robot
from tests.model.read.mujoco_oracle import Array, states


def passive_difference(robot: Robot, model: Any, seed: int) -> float:
    """The largest difference of spring and damper torques, relative to their size. A ball's damper and a free
    joint's are alike along all axes, so only hinges and slides are looked at."""
    data = mujoco.MjData(model)
    q, qd, _ = states(robot, seed, 1)[0]
    mine: dict[int, float] = {}
    friction: Array = np.array(model.dof_frictionloss)
    for body in robot.model.bodies:
        at, dof = robot.model.addresses[body.joint_name]
        place, rates = robot.coordinates(body.joint_name)
        if place.stop - place.start != 1:
            continue
        data.qpos[at], data.qvel[dof] = q[place][0], qd[rates][0]
        mine[dof] = -body.stiffness * (q[place][0] - body.rest) - body.damping * qd[rates][0]
        assert body.friction in (friction[dof], 0.0)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_comVel(model, data)
    mujoco.mj_fwdVelocity(model, data)
    theirs = np.array(data.qfrc_spring) + np.array(data.qfrc_damper)
    scale = max([1.0, *(abs(value) for value in mine.values())])
    return max((abs(theirs[dof] - value) for dof, value in mine.items()), default=0.0) / scale
