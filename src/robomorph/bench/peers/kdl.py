"""KDL as a contestant, in a process of its own: Debian's python3-pykdl, or any importable PyKDL.

PyKDL's old bindings crash beside a recent NumPy, so it never shares our interpreter.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robomorph.bench.arms import PoseProblems
from robomorph.bench.peers.ik_peer import Answers, Array, IkPeer
from robomorph.errors import TargetError
from robomorph.model.joints import JOINT_TYPES

if TYPE_CHECKING:
    from robomorph.model import Pose
    from robomorph.robot import Robot

INTERPRETER = "ROBOMORPH_KDL_PYTHON"
RESTARTS = 200
_PROBE = (
    "import numpy, PyKDL; c = PyKDL.Chain(); c.addSegment(PyKDL.Segment(PyKDL.Joint(PyKDL.Joint.RotZ), "
    "PyKDL.Frame(PyKDL.Vector(1, 0, 0)))); PyKDL.ChainIkSolverPos_LMA(c, numpy.ones(6), 1e-5, 500, 1e-15)"
)


@cache
def kdl_interpreter() -> str | None:
    """An interpreter whose PyKDL works, or None."""
    for python in (os.environ.get(INTERPRETER), sys.executable, "/usr/bin/python3"):
        if not python:
            continue
        try:
            done = subprocess.run([python, "-c", _PROBE], capture_output=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return python
    return None


class Kdl(IkPeer):
    """KDL's Levenberg-Marquardt, with as many random restarts as ours."""

    name = "kdl"
    package = "python3-pykdl"
    modules = ("PyKDL",)
    title = "KDL LMA, restarts"

    @classmethod
    def absence(cls) -> str | None:
        return None if kdl_interpreter() else f"install python3-pykdl and python3-numpy, or set {INTERPRETER}"

    @classmethod
    def version(cls) -> str:
        return f"in {kdl_interpreter()}"

    @classmethod
    def solve(cls, problems: PoseProblems) -> Answers:
        return solve_poses(problems, restarts=RESTARTS)


@dataclass(frozen=True, eq=False)
class KdlChain:
    """A serial chain of a robot from the world to a frame; `coordinates` are its joints' places in q."""

    base: Array
    slides: Array
    axes: Array
    tips: Array
    coordinates: list[int]


def serial_chain(robot: Robot, frame: str) -> KdlChain:
    """The joints that carry `frame`, with the transform that follows each."""
    model = robot.model
    last = model.frames[model.frame_index(frame)]
    path: list[int] = []
    body = last.body
    while body >= 0:
        path.insert(0, body)
        body = model.bodies[body].parent
    follow = [model.bodies[i].placement for i in path[1:]] + [last.placement]
    kinds = [JOINT_TYPES[model.bodies[i].kind] for i in path]
    return KdlChain(
        _numbers(model.bodies[path[0]].placement),
        np.array([not any(kind.subspace[0].ang) for kind in kinds], int),
        np.array([model.bodies[i].axis for i in path]),
        np.array([_numbers(pose) for pose in follow]),
        [robot.coordinates(model.bodies[i].joint_name)[0].start for i in path],
    )


def _numbers(pose: Pose) -> Array:
    return np.concatenate([pose.translation, np.ravel(pose.rotation)])


def solve_with_kdl(
    robot: Robot,
    frame: str,
    targets: Array,
    starts: Array,
    *,
    solver: str = "lma",
    tolerance: float = 1e-5,
    position_only: bool = False,
    restarts: int = 1,
    best_of: bool = False,
    repeats: int = 1,
    iterations: int = 500,
    seed: int = 0,
) -> Answers:
    """KDL's answers to targets (n, 12: position, rotation row by row) from starts (n, nq), every one asked
    `repeats` times; joints outside of the chain keep their start. `solver`: "lma", "nr" (Newton with SVD,
    whole poses only) or "svd" (Newton's steps by the weighted SVD)."""
    chain = serial_chain(robot, frame)
    places = chain.coordinates
    found = _ask_worker(
        base=chain.base,
        slides=chain.slides,
        axes=chain.axes,
        tips=chain.tips,
        lower=robot.limits.lower[places],
        upper=robot.limits.upper[places],
        targets=targets,
        starts=starts[:, places],
        weights=np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]) if position_only else np.ones(6),
        solver=solver,
        tolerance=tolerance,
        iterations=iterations,
        restarts=restarts,
        best_of=best_of,
        repeats=repeats,
        seed=seed,
    )
    q: Array = starts.copy()
    q[:, places] = found["q"]
    return Answers(q, found["seconds"])


def _ask_worker(**task: Any) -> dict[str, Array]:
    """What kdl_worker.py answers, in the interpreter that has PyKDL."""
    python = kdl_interpreter()
    if python is None:
        raise TargetError(f"PyKDL works in no interpreter: {Kdl.absence()}")
    worker = Path(__file__).with_name("kdl_worker.py")
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder) / "task.npz", Path(folder) / "result.npz"
        np.savez(asked, **task)
        done = subprocess.run(
            [python, str(worker), str(asked), str(answered)], capture_output=True, text=True
        )
        if done.returncode != 0:
            raise TargetError(f"KDL failed ({done.returncode}): {done.stderr.strip()[-500:]}")
        with np.load(answered) as found:
            return dict(found)


def solve_poses(problems: PoseProblems, *, restarts: int, best_of: bool = False) -> Answers:
    """Whole poses; with `best_of` the nearest to the start of all restarts' answers, else the first."""
    poses = problems.poses
    return solve_with_kdl(
        problems.robot,
        problems.frame,
        np.concatenate([poses[:, :3, 3], poses[:, :3, :3].reshape(-1, 9)], axis=1),
        problems.starts,
        tolerance=problems.tolerance,
        restarts=restarts,
        best_of=best_of,
    )
