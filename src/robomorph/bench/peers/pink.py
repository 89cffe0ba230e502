"""pink: differential inverse kinematics by quadratic programs, on Pinocchio."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from robomorph.bench.arms import PoseProblems
from robomorph.bench.peers.ik_peer import Answers, Array, IkPeer
from robomorph.bench.peers.peer import PeerError, module

if TYPE_CHECKING:
    from robomorph.robot import Robot

_STEPS = 200


class Pink(IkPeer):
    """Differential IK with limits, repeated until it converges: at most 200 steps of one second each."""

    name = "pink"
    package = "pin-pink"
    modules = ("pink", "quadprog", "pinocchio")
    title = "pink (QP steps)"

    @classmethod
    def solve(cls, problems: PoseProblems) -> Answers:
        pin = module("pinocchio")
        model = pin.buildModelFromXML(problems.urdf)
        data = model.createData()
        order = _order(problems.robot, model)
        q, seconds = np.full_like(problems.starts, np.nan), np.empty(len(problems.poses))
        for k, (pose, start) in enumerate(zip(problems.poses, problems.starts, strict=True)):
            begin = time.perf_counter()
            found = _one(model, data, problems, pose, start[order])
            if found is not None:
                q[k, order] = found
            seconds[k] = time.perf_counter() - begin
        return Answers(q, seconds)


def _one(model: Any, data: Any, problems: PoseProblems, pose: Array, start: Array) -> Array | None:
    """The configuration in Pinocchio's order, or None."""
    pink, pin = module("pink"), module("pinocchio")
    configuration = pink.Configuration(model, data, start)
    task = pink.tasks.FrameTask(problems.frame, position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6)
    task.set_target(pin.SE3(pose[:3, :3], pose[:3, 3]))
    for _ in range(_STEPS):
        try:
            velocity = pink.solve_ik(configuration, [task], 1.0, solver="quadprog", safety_break=False)
        except Exception:  # its solver found no step
            return None
        configuration.integrate_inplace(velocity, 1.0)
        error = task.compute_error(configuration)
        if max(np.linalg.norm(error[:3]), np.linalg.norm(error[3:])) <= 0.5 * problems.tolerance:
            return np.asarray(configuration.q)
    return None


def _order(robot: Robot, model: Any) -> list[int]:
    """For each of Pinocchio's coordinates, ours."""
    out = [0] * model.nq
    for name in robot.joint_names:
        joint = model.joints[model.getJointId(name)]
        if joint.nq != 1:
            raise PeerError(f"joint {name!r} has {joint.nq} coordinates in Pinocchio")
        out[joint.idx_q] = robot.coordinates(name)[0].start
    return out
