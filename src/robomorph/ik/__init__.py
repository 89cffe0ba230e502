"""Inverse kinematics: targets, methods and the search, on traced kernels."""

from robomorph.ik.methods import METHODS, Method
from robomorph.ik.options import IKOptions
from robomorph.ik.result import IKResult
from robomorph.ik.solve import inverse_kinematics
from robomorph.ik.targets import (
    AxisTarget,
    CenterOfMassTarget,
    OrientationTarget,
    PoseTarget,
    PositionTarget,
    Target,
    TaskTarget,
)

__all__ = [
    "METHODS",
    "AxisTarget",
    "CenterOfMassTarget",
    "IKOptions",
    "IKResult",
    "Method",
    "OrientationTarget",
    "PoseTarget",
    "PositionTarget",
    "Target",
    "TaskTarget",
    "inverse_kinematics",
]
