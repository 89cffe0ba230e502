"""Torques as controls, motions by forward dynamics and an integrator: differential dynamic programming."""

from __future__ import annotations

from robomorph.errors import ArgumentError
from robomorph.mpc.layout import Layout
from robomorph.mpc.methods.base import Method, Work
from robomorph.mpc.methods.inverse_dynamics import numbers_of
from robomorph.runtime import _native

# As native code counts them; 0 are accelerations as controls.
_CODES = {"euler": 1, "midpoint": 2, "rk4": 3}


class ForwardDynamics(Method):
    """The native solver (native/mpc) with rollouts: every plan obeys its integrator, torques being held over
    a step. "euler" is the semi-implicit step of the problem's own form, so that both have the same optimum;
    "midpoint" and "rk4" are of second and fourth order in q and qd."""

    name = "ddp"
    integrators = tuple(_CODES)

    @classmethod
    def check(cls, layout: Layout) -> None:
        if layout.jerk:
            raise ArgumentError(
                "method 'ddp': a cost on jerk ties the torques of neighbouring nodes together, which it "
                "cannot do: expected method='id', or a cost on accelerations or efforts instead"
            )

    def __init__(self, work: Work) -> None:
        handles = work.kernels.forward_handles
        kernels = {name: (handle.address, handle.workspace) for name, handle in handles.items()}
        numbers = {**numbers_of(work), "method": _CODES[work.settings.integrator]}
        self._solver = _native.mpc_solver(numbers, kernels, dict(work.arrays), tuple(handles.values()))

    def step(self, deadline: float, elapsed: float, iterations: int, warm: bool) -> None:
        _native.mpc_step(self._solver, deadline, elapsed, iterations, warm)
