"""Accelerations as controls, torques by inverse dynamics: Gauss-Newton steps along a double integrator."""

from __future__ import annotations

from typing import Any

from robomorph.mpc.methods.base import Method, Work
from robomorph.runtime import _native


class InverseDynamics(Method):
    """The native solver (native/mpc)."""

    name = "id"

    def __init__(self, work: Work) -> None:
        handles = work.kernels.handles
        kernels = {name: (handle.address, handle.workspace) for name, handle in handles.items()}
        self._solver = _native.mpc_solver(
            numbers_of(work), kernels, dict(work.arrays), tuple(handles.values())
        )

    def step(self, deadline: float, elapsed: float, iterations: int, warm: bool) -> None:
        _native.mpc_step(self._solver, deadline, elapsed, iterations, warm)


def numbers_of(work: Work) -> dict[str, Any]:
    """Sizes and settings as native code reads them."""
    layout, settings = work.layout, work.settings
    return {
        "nv": layout.nv,
        "horizon": layout.horizon,
        "dt": layout.dt,
        "rows": layout.rows,
        "row_velocity": layout.row_velocity,
        "references": layout.references,
        "jerk": layout.jerk,
        "problems": work.problems,
        "threads": settings.threads,
        "tolerance": settings.tolerance,
        "optimal": settings.optimal,
        "cap": settings.cap,
    }
