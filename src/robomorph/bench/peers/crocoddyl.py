"""crocoddyl: differential dynamic programming, with and without bounds on torques."""

from __future__ import annotations

from typing import ClassVar

from robomorph.bench.peers.control_peer import ControlPeer


class Crocoddyl(ControlPeer):
    """Feasibility-driven DDP."""

    name = "crocoddyl"
    package = "crocoddyl"
    modules: ClassVar[tuple[str, ...]] = ("crocoddyl", "pinocchio")
    script = "crocoddyl_worker.py"
    solver = "fddp"
    title = "crocoddyl FDDP"
    needs: ClassVar[dict[str, str]] = {"pin": "4.0.0", "libpinocchio": "4.0.0"}


class CrocoddylBox(Crocoddyl):
    """The same with bounds on torques."""

    solver = "boxfddp"
    title = "crocoddyl BoxFDDP"


class MimSolvers(Crocoddyl):
    """mim-solvers: sequential quadratic programming over crocoddyl's problems."""

    name = "mim-solvers"
    package = "mim-solvers"
    modules = ("crocoddyl", "mim_solvers", "pinocchio")
    solver = "sqp"
    title = "mim-solvers SQP"
