"""Plans of humanoids checked by Pinocchio on the original files: nothing of ours is used but q(t), qd(t)."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio

from robomorph.given.named_robot import NamedRobot
from robomorph.model.robots import builtin_urdf
from robomorph.planning import Plan

Array = npt.NDArray[Any]


@cache
def original(source: str) -> Any:
    """Pinocchio's model of a file, from the file's own root, which is free: its mass counts."""
    text, free = builtin_urdf(source), pinocchio.JointModelFreeFlyer()
    if text is not None:
        return pinocchio.buildModelFromXML(text.decode() if isinstance(text, bytes) else text, free)
    return pinocchio.buildModelFromUrdf(source, free)


class Oracle:
    """What a plan does at times t, seen from the link that stands."""

    def __init__(self, plan: Plan, robot: NamedRobot, rate: float = 1e4) -> None:
        self.model = original(robot.source)
        self.data = self.model.createData()
        self.root = self.model.getFrameId(robot.options["root"])
        self.t = np.linspace(0.0, plan.seconds, round(plan.seconds * rate) + 1)
        self.plan, self.robot = plan, robot
        places = [self.model.joints[self.model.getJointId(n)].idx_q for n in plan.robot.velocity_names]
        self.q = np.tile(pinocchio.neutral(self.model), (len(self.t), 1))
        self.q[:, places] = plan.q(self.t)
        for name, value in robot.options["locked"].items():
            self.q[:, self.model.joints[self.model.getJointId(name)].idx_q] = value

    def poses(self, frames: tuple[str, ...]) -> tuple[dict[str, Array], Array]:
        """Poses (n, 4, 4) of frames and the centre of mass (n, 3), in the standing link's frame."""
        ids = {name: self.model.getFrameId(name) for name in frames}
        poses = {name: np.empty((len(self.t), 4, 4)) for name in frames}
        mass = np.empty((len(self.t), 3))
        for i, q in enumerate(self.q):
            pinocchio.framesForwardKinematics(self.model, self.data, q)
            back = self.data.oMf[self.root].inverse()
            for name, index in ids.items():
                poses[name][i] = (back * self.data.oMf[index]).homogeneous
            mass[i] = back.act(pinocchio.centerOfMass(self.model, self.data, q, False))
        return poses, mass


def excess(values: Array, lower: Array | float, upper: Array | float) -> float:
    """By how much values leave their bounds; 0 or less: not at all."""
    return float(np.maximum(np.max(lower - values), np.max(values - upper)))
