"""What the sections of `robomorph bench ik` share: contestants present, robots, checks and the outcome."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.bench.goals import Verdict
from robomorph.bench.sections.section import TableData
from robomorph.errors import ModelWarning, TargetError

if TYPE_CHECKING:
    from robomorph.ik import IKResult
    from robomorph.robot import Robot

Array = npt.NDArray[Any]


@dataclass
class IkOutcome:
    """Everything that was found: tables to show, goals, notes, and the figures behind them."""

    quick: bool
    refused: int = 0  # claimed solutions of ours that the independent check refuses
    tables: list[TableData] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)

    def goal(self, what: str, goal: float, unit: str, found: float | None, *, at_least: bool = True) -> None:
        self.verdicts.append(Verdict(what, goal, unit, at_least, found))


@dataclass(frozen=True)
class Arm:
    """A robot of TRAC-IK's protocol: how to load it, and the frame that is moved."""

    name: str
    source: str
    frame: str


# Files of the package example-robot-data, found by the end of their path.
ARMS: tuple[Arm, ...] = (
    Arm("iiwa14", "iiwa14", "lbr_iiwa_link_7"),
    Arm("Panda", "panda_description/urdf/panda.urdf", "panda_hand"),
    Arm("UR5", "ur_description/urdf/ur5_robot.urdf", "tool0"),
    Arm("xArm7", "xarm_description/urdf/xarm7.urdf", "link7"),
    Arm("Z1", "z1_description/urdf/z1.urdf", "link06"),
    Arm("Talos arm", "talos_data/robots/talos_left_arm.urdf", "wrist_left_ft_tool_link"),
)


def arm_path(arm: Arm) -> str | None:
    """Where the arm's file is; a built-in name stays as it is; None if its package is not installed."""
    if not arm.source.endswith(".urdf"):
        return arm.source
    try:
        files = metadata.files("example-robot-data") or []
    except metadata.PackageNotFoundError:
        return None
    found = [Path(str(f.locate())) for f in files if str(f).endswith(arm.source)]
    return str(found[0]) if found else None


def load_arm(source: str) -> Robot:
    from robomorph.loading import load

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load(source)


def least_seconds(call: Callable[[], Any], rounds: int) -> float:
    """The least wall time of a call over some rounds, after one to warm up."""
    call()
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return best


class PinocchioCheck:
    """Independent forward kinematics: does a claimed solution hold?"""

    def __init__(self, robot: Robot, source: str) -> None:
        try:
            import pinocchio
        except ImportError as error:
            raise TargetError(
                f"the check of every solution needs Pinocchio: pip install pin ({error})"
            ) from error
        from robomorph.model.sources import read_source

        self._pin: Any = pinocchio
        self.robot = robot
        self.model: Any = pinocchio.buildModelFromXML(read_source(source).data.decode())
        self.data: Any = self.model.createData()

    def poses(self, q: Array, frame: str) -> Array:
        """(n, 4, 4) of configurations (n, nq) in robomorph's order."""
        index = self.model.getFrameId(frame)
        out = np.empty((len(q), 4, 4))
        for k, row in enumerate(self._theirs(q)):
            self._pin.framesForwardKinematics(self.model, self.data, row)
            out[k] = self.data.oMf[index].homogeneous
        return out

    def _theirs(self, q: Array) -> Array:
        """(n, their nq): Pinocchio follows no mimic joint and keeps continuous ones as points of a circle."""
        out: Array = np.tile(self._pin.neutral(self.model), (len(q), 1))
        for body in self.robot.model.bodies:
            joint = self.model.joints[self.model.getJointId(body.joint_name)]
            place, _ = self.robot.coordinates(body.joint_name)
            own = q[:, place] if body.mimic is None else body.mimic[1] * q[:, place] + body.mimic[2]
            if joint.nq == 2:
                own = np.concatenate([np.cos(own), np.sin(own)], axis=1)
            out[:, joint.idx_q : joint.idx_q + joint.nq] = own
        return out

    def holds(self, q: Array, frame: str, targets: Array, tolerance: float) -> Array:
        """(n,) bool: finite, inside the limits, and at the target within the tolerance; targets are poses
        (n, 4, 4), or positions (n, 3) of the frame's origin."""
        finite: Array = np.asarray(np.isfinite(q).all(axis=-1))
        safe = np.where(finite[:, None], q, 0.0)
        limits = self.robot.limits
        inside = ((q >= limits.lower) & (q <= limits.upper)).all(axis=-1)
        poses = self.poses(safe, frame)
        places = targets if targets.ndim == 2 else targets[:, :3, 3]
        bound = tolerance * (1 + 1e-6)
        close = np.linalg.norm(poses[:, :3, 3] - places, axis=-1) <= bound
        if targets.ndim == 3:
            close &= angles(poses, targets) <= bound
        return np.asarray(finite & inside & close)

    def confirm(self, outcome: IkOutcome, where: str, result: IKResult, good: Array) -> None:
        """Notes claimed solutions that this check refuses."""
        refused = int((result.success & ~good).sum())
        outcome.refused += refused
        if refused:
            outcome.notes.append(f"{where}: {refused} claimed solutions were refused by the check")


def angles(a: Array, b: Array) -> Array:
    """(n,) the angle between the rotations of poses (n, 4, 4)."""
    turn = np.swapaxes(a[:, :3, :3], -1, -2) @ b[:, :3, :3]
    axis = np.stack(
        [turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]], axis=-1
    )
    cosine = np.trace(turn, axis1=-2, axis2=-1) - 1.0
    return np.asarray(np.arctan2(np.linalg.norm(axis, axis=-1), cosine))
