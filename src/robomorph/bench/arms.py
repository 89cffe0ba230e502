"""Arms of TRAC-IK's protocol, and the poses that solvers are asked for."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ModelWarning
from robomorph.ik.problem import default_start
from robomorph.loading import load
from robomorph.model.sources import urdf_text

if TYPE_CHECKING:
    from robomorph.robot import Robot

Array = npt.NDArray[Any]
TOLERANCE = 1e-5  # m and rad
_SEED = 2015


@dataclass(frozen=True)
class Arm:
    """A robot of the protocol: how to load it, and the frame that is moved."""

    name: str
    source: str
    frame: str

    @property
    def path(self) -> str | None:
        """Where its file is; a built-in name stays as it is; None if its package is not installed."""
        if not self.source.endswith(".urdf"):
            return self.source
        try:
            files = metadata.files("example-robot-data") or []
        except metadata.PackageNotFoundError:
            return None
        found = [Path(str(f.locate())) for f in files if str(f).endswith(self.source)]
        return str(found[0]) if found else None

    @property
    def absence(self) -> str:
        """What a note says where it is not installed."""
        return f"{self.name} is absent: pip install example-robot-data"


def installed_arms(arms: Sequence[Arm], note: Callable[[str], None]) -> list[tuple[Arm, str]]:
    """Those arms that are here, and where; `note` is told of the others."""
    found = [(arm, arm.path) for arm in arms]
    for arm, path in found:
        if path is None:
            note(arm.absence)
    return [(arm, path) for arm, path in found if path is not None]


# Files of the package example-robot-data, found by the end of their path.
ARMS: tuple[Arm, ...] = (
    Arm("iiwa14", "iiwa14", "lbr_iiwa_link_7"),
    Arm("Panda", "panda_description/urdf/panda.urdf", "panda_hand"),
    Arm("UR5", "ur_description/urdf/ur5_robot.urdf", "tool0"),
    Arm("xArm7", "xarm_description/urdf/xarm7.urdf", "link7"),
    Arm("Z1", "z1_description/urdf/z1.urdf", "link06"),
    Arm("Talos arm", "talos_data/robots/talos_left_arm.urdf", "wrist_left_ft_tool_link"),
)


@dataclass(frozen=True, eq=False)
class PoseProblems:
    """Bring `frame` to poses (n, 4, 4) from starts (n, nq), to `tolerance` in metres and radians."""

    robot: Robot
    source: str
    frame: str
    poses: Array
    starts: Array
    tolerance: float = TOLERANCE

    @property
    def urdf(self) -> str:
        return urdf_text(self.source)

    def first(self, count: int) -> PoseProblems:
        return replace(self, poses=self.poses[:count], starts=self.starts[:count])


def pose_problems(source: str, frame: str, count: int) -> PoseProblems:
    """Poses of random configurations inside the limits, starts at mid-range; the same in every run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = load(source)
    poses = np.ascontiguousarray(robot.forward_kinematics(robot.random_state(_SEED, count).q, frame))
    return PoseProblems(robot, source, frame, poses, np.tile(default_start(robot), (count, 1)))
