"""All nodes of all pieces of a motion on a device: one copy there, launches, one copy back."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

import numpy as np

from robomorph.errors import ArgumentError
from robomorph.planning.device.memory import Memory, Shapes
from robomorph.planning.device.states import STATES, states_kernel
from robomorph.planning.device.use import DeviceUse, Traffic
from robomorph.planning.kernels import MotionKernels
from robomorph.planning.problem import Problem
from robomorph.targets.gpu.devices import GPU_TARGETS, open_gpu
from robomorph.targets.gpu.kernel import GpuKernel

DTYPES = ("float64", "float32")
_WARM: WeakSet[GpuKernel] = WeakSet()  # have run
_BENT = ("qq", "q_qd", "qd_qd", "q_qdd")


class DeviceNodes:
    """What native code asks of a device, by name of the job: "values" and "derivatives" of all functions at
    all nodes, values at further nodes too for "margins", and second derivatives ("hessians") for
    `multipliers` (nodes of all pieces, functions) at the nodes of the last "derivatives".

    Control points (P, nv) are taken from `control`, the stretch of time from `sigma` (1,); results are left
    in `tables`, until the next job. An error is kept in `error`. For one caller at a time.
    """

    def __init__(self, problem: Problem, kernels: MotionKernels, target: str, dtype: str) -> None:
        self.problem, self.target, self.dtype = problem, target, dtype
        self.device = open_gpu(target)
        self.pieces, self.nodes = problem.pieces.count, problem.pieces.basis.shape[2]
        self.depth = 3 if problem.torque else 1
        self._kernels = {name: self._kernel(kernels, name) for name in _names(problem)}
        self._states = [self._states_of(n) for n in (self.nodes, self.nodes - 1) if n]
        self._allocate()
        self._send_constants()
        self.error: BaseException | None = None
        self._warm_up()
        self.forget()

    # --- what native code sees -----------------------------------------------------------------------

    @property
    def handed(self) -> dict[str, Any]:
        """As the native problem takes it (native/python/planning_device.h)."""
        return {
            "run": self.run,
            "single": self.dtype == "float32",
            "control": self.control,
            "sigma": self.sigma,
            "multipliers": self.multipliers,
            "tables": self.tables,
        }

    @property
    def tables(self) -> dict[str, Any]:
        return {**self._out.on_host, **self._bent.on_host}

    def run(self, job: str) -> bool:
        """Do a job; False if it failed."""
        begin = time.perf_counter()
        try:
            moved = _JOBS[job](self)
        except BaseException as error:  # must not pass through native code
            self.error = error
            return False
        self.traffic[job] = self.traffic[job].plus(time.perf_counter() - begin, *moved)
        return True

    def forget(self) -> None:
        """Count from here on."""
        self.traffic = {name: Traffic() for name in _JOBS}

    def use(self) -> DeviceUse:
        """What was asked of it."""
        return DeviceUse(self.target, self.device.name, self.dtype, self._resident, dict(self.traffic))

    # --- memory --------------------------------------------------------------------------------------

    def _allocate(self) -> None:
        problem, count = self.problem, self.pieces * self.nodes
        nv, channels = problem.nv, problem.channels
        more = self.pieces * (self.nodes - 1)
        values: Shapes = _some(problem, {"values": (count, channels)}, {"torques": (count, nv)})
        further = _some(problem, {"further_values": (more, channels)}, {"further_torques": (more, nv)})
        by = {name: (count, nv, nv) for name in ("by_q", "by_qd", "by_qdd")}
        gradients = _some(problem, {"gradients": (count, channels, nv)}, by)
        bent = {name: (count, nv, nv) for name in _BENT}
        multipliers = _some(problem, {"channel": (count, channels)}, {"torque": (count, nv)})
        motion = {"control": (self.pieces, problem.width, nv), "rate": (self.pieces, 1)}
        pieces = problem.pieces
        constants = {"basis": pieces.basis.shape, "references": (count, len(problem.references))}
        if more:
            constants["between"] = pieces.between.shape
        self._in = self._memory(motion)
        self._given = self._memory(multipliers)
        self._out = self._memory(values, further, gradients)
        self._bent = self._memory(_some(problem, {"channel_hessian": (count, nv, nv)}, bent))
        self._trial, self._kept = (
            self._memory({name: (count, nv) for name in STATES[: self.depth]}) for _ in range(2)
        )
        self._constants = self._memory(constants)
        functions = channels + (nv if problem.torque else 0)
        self.control, self.sigma = np.zeros_like(problem.control), np.ones(1)
        self.multipliers = np.zeros((count, functions))
        self._windows = pieces.first[:, None] + np.arange(problem.width)

    def _memory(self, shapes: Shapes, *tails: Shapes) -> Memory:
        return Memory(self.device, self.dtype, shapes, *tails)

    def _send_constants(self) -> None:
        host = self._constants.on_host
        host["basis"][:] = self.problem.pieces.basis
        host["references"][:] = self.problem.references
        if "between" in host:
            host["between"][:] = self.problem.pieces.between
        self._resident = self._constants.end(tuple(host))
        self._constants.block.send(self._resident)

    def _warm_up(self) -> None:
        """Build what is to run, and run it once: drivers finish their compilation at the first launch."""
        kernels = {*self._kernels.values(), *self._states}
        if kernels <= _WARM:
            return
        self.control[:] = self.problem.control
        for job in _JOBS.values() if self._kernels else ():
            job(self)
        _WARM.update(kernels)

    # --- jobs ----------------------------------------------------------------------------------------

    def _values(self) -> tuple[int, int]:
        sent = self._send_motion()
        self._place(self._trial, further=False)
        self._evaluate("", self._trial, self.pieces * self.nodes)
        return sent, self._fetch(self._out, ("values", "torques"))

    def _margins(self) -> tuple[int, int]:
        sent = self._send_motion()
        self._place(self._trial, further=False)
        self._evaluate("", self._trial, self.pieces * self.nodes)
        if self.nodes > 1:
            self._place(self._trial, further=True)
            self._evaluate("further_", self._trial, self.pieces * (self.nodes - 1))
        return sent, self._fetch(self._out, ("values", "torques", "further_values", "further_torques"))

    def _derivatives(self) -> tuple[int, int]:
        sent = self._send_motion()
        self._place(self._kept, further=False)
        out, states = self._out.on_device, self._states_in(self._kept)
        count = self.pieces * self.nodes
        if self.problem.channels:
            given = [states[0], self._constants.on_device["references"]]
            self._kernels["channels"].launch(given, [out["values"], out["gradients"]], count)
        if self.problem.torque:
            results = [out[name] for name in ("torques", "by_q", "by_qd", "by_qdd")]
            self._kernels["torque"].launch(states, results, count)
        names = ("values", "torques", "gradients", "by_q", "by_qd", "by_qdd")
        return sent, self._fetch(self._out, names)

    def _hessians(self) -> tuple[int, int]:
        host, out, states = self._given.on_host, self._bent.on_device, self._states_in(self._kept)
        given, count = self._given.on_device, self.pieces * self.nodes
        channels = self.problem.channels
        if channels:
            host["channel"][:] = self.multipliers[:, :channels]
        if self.problem.torque:
            host["torque"][:] = self.multipliers[:, channels:]
        sent = self._given.end(tuple(host))
        self._given.block.send(sent)
        if channels:
            inputs = [states[0], self._constants.on_device["references"], given["channel"]]
            self._kernels["channel_hessian"].launch(inputs, [out["channel_hessian"]], count)
        if self.problem.torque:
            results = [out[name] for name in _BENT]
            self._kernels["torque_hessian"].launch([*states, given["torque"]], results, count)
        return sent, self._fetch(self._bent, ("channel_hessian", *_BENT))

    # --- their parts ---------------------------------------------------------------------------------

    def _send_motion(self) -> int:
        host = self._in.on_host
        host["control"][:] = self.control[self._windows]
        host["rate"][:] = 1.0 / self.sigma[0]
        size = self._in.end(("control", "rate"))
        self._in.block.send(size)
        return size

    def _place(self, to: Memory, further: bool) -> None:
        basis = self._constants.on_device["between" if further else "basis"]
        given = [self._in.on_device["control"], self._in.on_device["rate"], basis]
        self._states[further].launch(given, self._states_in(to), self.pieces)

    def _states_in(self, memory: Memory) -> list[Any]:
        return [memory.on_device[name] for name in STATES[: self.depth]]

    def _evaluate(self, prefix: str, memory: Memory, count: int) -> None:
        out, states = self._out.on_device, self._states_in(memory)
        if self.problem.channels:
            given = [states[0], self._constants.on_device["references"]]
            self._kernels["channel_values"].launch(given, [out[f"{prefix}values"]], count)
        if self.problem.torque:
            self._kernels["torque_values"].launch(states, [out[f"{prefix}torques"]], count)

    def _fetch(self, memory: Memory, names: tuple[str, ...]) -> int:
        size = memory.end(tuple(name for name in names if name in memory.offsets))
        memory.block.fetch(size)
        return size

    def _kernel(self, kernels: MotionKernels, name: str) -> GpuKernel:
        made = kernels.kernel(name, self.target, dtype=self.dtype, check_finite=False)
        assert isinstance(made, GpuKernel)
        return made

    def _states_of(self, nodes: int) -> GpuKernel:
        problem = self.problem
        return states_kernel(problem.width, nodes, problem.nv, self.depth, self.target, self.dtype)


# Each gives the bytes that it moved in and out. The one that others build on comes first.
_JOBS: dict[str, Callable[[DeviceNodes], tuple[int, int]]] = {
    "derivatives": DeviceNodes._derivatives,
    "values": DeviceNodes._values,
    "margins": DeviceNodes._margins,
    "hessians": DeviceNodes._hessians,
}


def check_place(target: str, dtype: str, solver: str) -> None:
    """Can functions be evaluated there, in this precision, for this solver?"""
    if target not in ("cpu", *GPU_TARGETS):
        raise ArgumentError(f"target: expected cpu, {' or '.join(GPU_TARGETS)}, found {target!r}")
    if dtype not in DTYPES:
        raise ArgumentError(f"dtype: expected {' or '.join(DTYPES)}, found {dtype!r}")
    if target == "cpu" and dtype != "float64":
        raise ArgumentError(f"dtype: target 'cpu' plans in float64, found {dtype!r}: a device takes both")
    if target != "cpu" and solver != "native":
        raise ArgumentError(
            f"target: {target!r} works with solver 'native', found solver {solver!r}: use target 'cpu'"
        )


def _names(problem: Problem) -> tuple[str, ...]:
    channels = ("channel_values", "channels", "channel_hessian") if problem.channels else ()
    return channels + (("torque_values", "torque", "torque_hessian") if problem.torque else ())


def _some(problem: Problem, channels: Shapes, torques: Shapes) -> Shapes:
    return {**(channels if problem.channels else {}), **(torques if problem.torque else {})}
