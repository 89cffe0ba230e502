"""Everything that `import robomorph` offers by name."""

from robomorph.errors import (
    ArgumentError,
    DerivativeError,
    FallbackWarning,
    MeshError,
    MissingPackageError,
    ModelError,
    ModelWarning,
    OverflowWarning,
    ProgramError,
    RobomorphError,
    TargetError,
)
from robomorph.loading import load
from robomorph.model import Inertia, Passive, Pose, builtin_robots
from robomorph.robot import Robot
from robomorph.runtime import get_default_threads, set_default_threads
from robomorph.runtime.kernel import KernelStats
from robomorph.runtime.results import JointLimits
from robomorph.targets.cpu.kernel import Kernel
from robomorph.viewer.view import view

__all__ = [
    "ArgumentError",
    "DerivativeError",
    "FallbackWarning",
    "Inertia",
    "JointLimits",
    "Kernel",
    "KernelStats",
    "MeshError",
    "MissingPackageError",
    "ModelError",
    "ModelWarning",
    "OverflowWarning",
    "Passive",
    "Pose",
    "ProgramError",
    "RobomorphError",
    "Robot",
    "TargetError",
    "builtin_robots",
    "get_default_threads",
    "load",
    "set_default_threads",
    "view",
]
