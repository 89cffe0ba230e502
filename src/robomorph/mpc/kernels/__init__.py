"""What a control problem evaluates of a robot: torques, and rows of tasks, as kernels and as native code."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from robomorph.compiler.program import Deferred
from robomorph.mpc.kernels.forward import forward_programs
from robomorph.mpc.kernels.pieces import Piece
from robomorph.mpc.kernels.rows import row_inputs, row_outputs, trace_rows
from robomorph.planning.kernels import MotionKernels
from robomorph.runtime.kernel import AnyKernel, Settings

if TYPE_CHECKING:
    from robomorph.robot import Robot

LANES = 8  # nodes, or problems, that one call of native code evaluates


class Code(Protocol):
    """What native code calls: see NativeHandle. It lives as long as this object."""

    @property
    def address(self) -> int: ...

    @property
    def workspace(self) -> int: ...


class ControlKernels:
    """Of one robot and a list of pieces; nothing is traced or compiled before it is asked for.

    - `torque`: q, qd, qdd -> tau, dtau_dq, dtau_dqd, mass, the same code as planning's;
    - `rows`: q, [qd,] references -> values (rows,), dq, [dqd] (rows, nv); none without pieces.
    """

    def __init__(self, robot: Robot, pieces: Sequence[Piece]) -> None:
        self.robot, self.pieces = robot, tuple(pieces)
        self.motion = MotionKernels(robot, torque=True, hessian=False)

    @cached_property
    def deferred(self) -> Deferred:
        """The rows, before they are traced."""
        nv, pieces, specialiser = self.robot.nv, self.pieces, self.robot.specialiser
        # What a caller wrote may change while its name stays: it is known by its program alone.
        own = all(piece.built_in for piece in pieces)
        key = f"control rows|{self.robot.model.digest}|{pieces!r}" if own else None
        return Deferred(
            "control_rows",
            row_inputs(nv, pieces),
            row_outputs(nv, pieces),
            lambda: trace_rows(specialiser.tree(regroup=False), pieces),
            key,
        )

    @cached_property
    def rows(self) -> AnyKernel:
        """The rows' kernel, called with arrays."""
        return self.deferred.kernel("cpu", "float64", Settings(0, False, {}))

    @cached_property
    def forward_handles(self) -> dict[str, Code]:
        """The same for motions by forward dynamics: torques alone, accelerations of one state (one lane), and
        with their derivatives; and the rows."""
        programs = forward_programs(self.robot)
        out: dict[str, Code] = {
            "torque_values": self.motion.handle("torque_values", lanes=LANES),
            "acceleration": programs["acceleration"].lanes(1),
            "acceleration_gradient": programs["acceleration_gradient"].lanes(LANES),
        }
        if self.pieces:
            out["rows"] = self.deferred.lanes(LANES)
        return out

    @cached_property
    def handles(self) -> dict[str, Code]:
        """Code for native drivers with LANES lanes, in lane order, by name."""
        out: dict[str, Code] = {"torque": self.motion.handle("torque", lanes=LANES)}
        if self.pieces:
            out["rows"] = self.deferred.lanes(LANES)
        return out
