"""Other solvers in our own process: TRAC-IK (pytracik) and pink, where they are installed."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.bench.peers.kdl import serial_chain
from robomorph.model.sources import read_source

if TYPE_CHECKING:
    from robomorph.robot import Robot

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class PeerAnswers:
    """q (n, nq), NaN where there is none; seconds (n,)."""

    q: Array
    seconds: Array


# (robot, source, frame, poses (n, 4, 4), starts (n, nq), tolerance) -> answers
Solve = Callable[["Robot", str, str, Array, Array, float], PeerAnswers]


@dataclass(frozen=True)
class Peer:
    """A solver. `slack`: its tolerance is per axis, so its answers may be this many times farther off."""

    title: str
    module: str
    solve: Solve
    slack: float = 1.0


def present_peers() -> list[Peer]:
    """Those that can be imported here."""
    found = []
    for peer in (
        Peer("TRAC-IK (5 ms)", "pytracik", _trac_ik, 3**0.5),
        Peer("pink (QP steps)", "pink", _pink),
    ):
        try:
            importlib.import_module(peer.module)
        except Exception:  # a broken installation is as good as none
            continue
        found.append(peer)
    return found


def _trac_ik(
    robot: Robot, source: str, frame: str, poses: Array, starts: Array, tolerance: float
) -> PeerAnswers:
    """TRAC-IK's own protocol: 5 ms for each pose, solve type Speed."""
    pytracik: Any = importlib.import_module("pytracik")
    text = read_source(source).data.decode()
    base = robot.link_names[0]
    solver = pytracik.TRAC_IK(base, frame, text, 0.005, tolerance, pytracik.SolveType.Speed)
    places = serial_chain(robot, frame).coordinates
    # Its reader takes the soft limits of a <safety_controller> for 0 where there are none: say what holds.
    limits = robot.limits
    pytracik.set_joint_limits(solver, limits.lower[places].tolist(), limits.upper[places].tolist())
    q, seconds = np.full_like(starts, np.nan), np.empty(len(poses))
    for k, (pose, start) in enumerate(zip(poses, starts, strict=True)):
        numbers = [*pose[:3, 3].tolist(), *quaternion(pose[:3, :3])]
        seed = start[places]
        begin = time.perf_counter()
        answer = pytracik.ik(solver, seed, *numbers)
        seconds[k] = time.perf_counter() - begin
        if len(answer) > 1 and answer[0] >= 0:  # the code comes first
            q[k] = start
            q[k, places] = answer[1:]
    return PeerAnswers(q, seconds)


def quaternion(turn: Array) -> list[float]:
    """(x, y, z, w) of a rotation matrix."""
    import pinocchio

    return [float(x) for x in pinocchio.Quaternion(np.ascontiguousarray(turn)).coeffs()]


def _pink(
    robot: Robot, source: str, frame: str, poses: Array, starts: Array, tolerance: float
) -> PeerAnswers:
    """Differential IK with limits, repeated until it converges: at most 200 steps of one second each."""
    pink: Any = importlib.import_module("pink")
    pin: Any = importlib.import_module("pinocchio")
    model = pin.buildModelFromXML(read_source(source).data.decode())
    data = model.createData()
    order = _order(robot, model)
    q, seconds = np.full_like(starts, np.nan), np.empty(len(poses))
    for k, (pose, start) in enumerate(zip(poses, starts, strict=True)):
        begin = time.perf_counter()
        configuration = pink.Configuration(model, data, start[order])
        task = pink.tasks.FrameTask(frame, position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6)
        task.set_target(pin.SE3(pose[:3, :3], pose[:3, 3]))
        for _ in range(200):
            try:
                velocity = pink.solve_ik(configuration, [task], 1.0, solver="quadprog", safety_break=False)
            except Exception:  # its solver found no step
                break
            configuration.integrate_inplace(velocity, 1.0)
            error = task.compute_error(configuration)
            if max(np.linalg.norm(error[:3]), np.linalg.norm(error[3:])) <= 0.5 * tolerance:
                q[k, order] = configuration.q
                break
        seconds[k] = time.perf_counter() - begin
    return PeerAnswers(q, seconds)


def _order(robot: Robot, model: Any) -> list[int]:
    """For each of Pinocchio's coordinates, ours."""
    out = [0] * model.nq
    for name in robot.joint_names:
        joint = model.joints[model.getJointId(name)]
        if joint.nq != 1:
            raise ValueError(f"joint {name!r} has {joint.nq} coordinates in Pinocchio")
        out[joint.idx_q] = robot.coordinates(name)[0].start
    return out
