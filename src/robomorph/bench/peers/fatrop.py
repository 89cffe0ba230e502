"""fatrop inside CasADi, with code compiled by gcc: an interior point that knows the structure of control."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from robomorph.bench.peers.control_peer import ControlPeer
from robomorph.planning.kernels.motion_kernels import MotionKernels
from robomorph.runtime.cache import default_cache

if TYPE_CHECKING:
    from robomorph.bench.mpc.problem import ProblemSet
    from robomorph.ir.program import Program
    from robomorph.robot import Robot


class Fatrop(ControlPeer):
    name = "fatrop"
    package = "casadi"
    modules = ("casadi", "numpy")
    script = "fatrop_worker.py"
    solver = "fatrop"
    title = "CasADi fatrop, compiled"
    flags: ClassVar[tuple[str, ...]] = ("-O3", "-march=native")  # the fastest of what was tried

    @classmethod
    def absence(cls) -> str | None:
        if shutil.which("gcc") is None:
            return "gcc is not installed, which compiles its code"
        return super().absence()

    @classmethod
    def task(cls, problems: ProblemSet) -> dict[str, Any]:
        """With inverse dynamics as operations: its best case, as a general library's would be more."""
        program = inverse_dynamics(problems.problems[0].robot)
        return {
            **super().task(problems),
            "program": as_data(program),
            "folder": str(library_folder()),
            "flags": list(cls.flags),
        }


def inverse_dynamics(robot: Robot) -> Program:
    """(q, v, a) -> torques, simplified for this robot."""
    return MotionKernels(robot, torque=True).program("torque_values")


def as_data(program: Program) -> dict[str, Any]:
    """A program in names and numbers: per node its operation, arguments, and value or place of input."""
    nodes = program.nodes
    return {
        "ops": [node.op.name for node in nodes],
        "args": [list(node.args) for node in nodes],
        "values": [node.value for node in nodes],
        "results": list(program.results),
    }


@cache
def library_folder() -> Path:
    """Where compiled problems are kept, as they take minutes: beside the kernels, or nowhere for long."""
    folder = default_cache().directory
    return Path(tempfile.mkdtemp(prefix="robomorph-bench-")) if folder is None else folder / "fatrop"
