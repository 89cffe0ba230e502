"""What planning evaluates, as programs made for one robot: see MotionKernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from robomorph.ir.program import Program
from robomorph.planning.kernels.motion_kernels import MotionKernels
from robomorph.tasks import AnyTask

if TYPE_CHECKING:
    from robomorph.robot import Robot


def channel_program(robot: Robot, tasks: Sequence[AnyTask]) -> Program:
    """(q, references) -> values (C,), gradients (C, nv) of the bound rows of all tasks."""
    return MotionKernels(robot, tasks).program("channels")


def channel_hessian_program(robot: Robot, tasks: Sequence[AnyTask]) -> Program:
    """(q, references, multipliers (C,)) -> hessian (nv, nv) of multipliers . values."""
    return MotionKernels(robot, tasks).program("channel_hessian")


def torque_program(robot: Robot, *, wrench: bool = False) -> Program:
    """(q, qd, qdd) -> tau, dtau_dq, dtau_dqd, mass; with `wrench` the root's wrench and its derivatives."""
    return MotionKernels(robot, torque=True, wrench=wrench).program("torque")


def torque_adjoint_program(robot: Robot, *, wrench: bool = False) -> Program:
    """(q, qd, qdd, multipliers) -> dq, dqd, dqdd, the gradient of multipliers . (tau, wrench)."""
    return MotionKernels(robot, torque=True, wrench=wrench).program("torque_adjoint")


def torque_hessian_program(robot: Robot, *, wrench: bool = False) -> Program:
    """(q, qd, qdd, multipliers) -> qq, q_qd, qd_qd, q_qdd: those of multipliers . (tau, wrench)."""
    return MotionKernels(robot, torque=True, wrench=wrench).program("torque_hessian")


__all__ = [
    "MotionKernels",
    "channel_hessian_program",
    "channel_program",
    "torque_adjoint_program",
    "torque_hessian_program",
    "torque_program",
]
