"""TRAC-IK by the package pytracik."""

from __future__ import annotations

import time

import numpy as np

from robomorph.bench.arms import PoseProblems
from robomorph.bench.peers.ik_peer import Answers, Array, IkPeer
from robomorph.bench.peers.kdl import serial_chain
from robomorph.bench.peers.peer import module

_SECONDS = 0.005  # for each pose, as in its own protocol


class TracIk(IkPeer):
    """TRAC-IK's own protocol: 5 ms for each pose, solve type Speed."""

    name = "trac-ik"
    package = "pytracik"
    modules = ("pytracik", "pinocchio")
    title = "TRAC-IK (5 ms)"
    slack = 3**0.5

    @classmethod
    def solve(cls, problems: PoseProblems) -> Answers:
        pytracik, robot, frame = module("pytracik"), problems.robot, problems.frame
        solver = pytracik.TRAC_IK(
            robot.link_names[0], frame, problems.urdf, _SECONDS, problems.tolerance, pytracik.SolveType.Speed
        )
        places = serial_chain(robot, frame).coordinates
        # Its reader takes soft limits (<safety_controller>) for 0 where there are none: say what holds.
        limits = robot.limits
        pytracik.set_joint_limits(solver, limits.lower[places].tolist(), limits.upper[places].tolist())
        q, seconds = np.full_like(problems.starts, np.nan), np.empty(len(problems.poses))
        for k, (pose, start) in enumerate(zip(problems.poses, problems.starts, strict=True)):
            numbers = [*pose[:3, 3].tolist(), *_quaternion(pose[:3, :3])]
            seed = start[places]
            begin = time.perf_counter()
            answer = pytracik.ik(solver, seed, *numbers)
            seconds[k] = time.perf_counter() - begin
            if len(answer) > 1 and answer[0] >= 0:  # the code comes first
                q[k] = start
                q[k, places] = answer[1:]
        return Answers(q, seconds)


def _quaternion(turn: Array) -> list[float]:
    """(x, y, z, w) of a rotation matrix."""
    return [float(x) for x in module("pinocchio").Quaternion(np.ascontiguousarray(turn)).coeffs()]
