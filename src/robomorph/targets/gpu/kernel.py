"""A kernel on a GPU, with the same call as the CPU's."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError, TargetError
from robomorph.ir.program import Port
from robomorph.passes.fuse import fuse
from robomorph.runtime.kernel import Call, HostKernel, KernelStats, Recipe, Settings
from robomorph.runtime.outputs import output_list, refuse_overlap
from robomorph.targets.gpu.device import Device, DeviceArray, Executable
from robomorph.targets.gpu.devices import open_gpu
from robomorph.targets.gpu.dialect import GpuDialect
from robomorph.targets.gpu.group_source import BLOCK_THREADS, OPT_IN_SHARED, group_plan
from robomorph.targets.gpu.launch import LaunchPlan
from robomorph.targets.gpu.thread_source import thread_plan

Array = npt.NDArray[Any]

MAPPINGS = ("thread", "group")
OPTIONS = ("device", "group_threads", "mapping", "partitioning")


def make_launch_plan(
    recipe: Recipe,
    dialect: GpuDialect,
    mapping: str,
    group_threads: int | None = None,
    shared_limit: int = OPT_IN_SHARED,
) -> LaunchPlan:
    """Source and tables of one mapping; no device is needed. shared_limit: bytes a block may have."""
    program = fuse(recipe.program())
    if mapping == "thread":
        return thread_plan(program, dialect, recipe.dtype, shared_limit=shared_limit)
    return group_plan(
        program,
        dialect,
        recipe.dtype,
        threads=group_threads,
        max_barriers=recipe.max_barriers,
        shared_limit=shared_limit,
    )


class GpuKernel(HostKernel):
    """One algorithm for one robot on one GPU: ``kernel(q, qd, ..., out=None, stream=None)``.

    Arguments are NumPy arrays (..., n), or device arrays, which are used where they are. `mapping` is
    "thread" (one thread per evaluation), "group" (a group of threads per evaluation), or None: groups while
    the batch is too small to fill the device with single threads. With device arrays the call returns
    when the work is queued on `stream` (None: that of the first argument that names one). The work starts
    after what the arguments' own streams have queued.
    """

    def __init__(
        self,
        recipe: Recipe,
        device: Device,
        *,
        mapping: str | None = None,
        group_threads: int | None = None,
        check_finite: bool = True,
    ) -> None:
        _check_options(mapping, group_threads)
        if not device.supports(recipe.dtype):
            raise TargetError(
                f'{device.name} has no double precision: compile with dtype="float32" or use target="cpu"'
            )
        super().__init__(recipe, check_finite=check_finite)
        self.device, self.mapping, self.group_threads = device, mapping, group_threads
        self._plans: dict[str, LaunchPlan] = {}
        self._groups: bool | None = None
        self._built: dict[str, Executable] = {}
        self._seconds: dict[str, float] = {}
        self._lock = threading.RLock()

    # --- what it is --------------------------------------------------------------------------------

    @property
    def stats(self) -> KernelStats:
        """Operations, depth, nonzeros, formulation, and the build times so far (seconds)."""
        return replace(self.recipe.stats(), compile_seconds=dict(self._seconds))

    def _code(self) -> str:
        """The generated source of the mappings in use."""
        names = MAPPINGS if self.mapping is None else (self.mapping,)
        if self.mapping is None and not self._has_groups():
            names = ("thread",)
        return "\n".join(self.plan(name).source for name in names)

    def _has_groups(self) -> bool:
        """Not where an evaluation is too large for this device's shared memory, or has roots or choices."""
        if self._groups is None:  # found out once: to find that there are none takes a whole plan
            try:
                self._groups = bool(self.plan("group"))
            except TargetError:
                self._groups = False
        return self._groups

    def plan(self, mapping: str) -> LaunchPlan:
        """Source, tables and launch shape of one mapping."""
        with self._lock:
            if mapping not in self._plans:
                self._plans[mapping] = make_launch_plan(
                    self.recipe,
                    self.device.dialect,
                    mapping,
                    self.group_threads,
                    self.device.shared_limit,
                )
            return self._plans[mapping]

    def mapping_for(self, batch: int) -> str:
        """The mapping that a call with this batch size uses."""
        if self.mapping is not None:
            return self.mapping
        if batch >= self.device.resident_threads:
            return "thread"
        return "group" if self._has_groups() else "thread"

    def prepare(self, batch: int = 1) -> GpuKernel:
        """Build now what a call with this batch size needs."""
        self._executable(self.mapping_for(batch))
        return self

    def _executable(self, mapping: str) -> Executable:
        with self._lock:
            if mapping not in self._built:
                start = time.perf_counter()
                self._built[mapping] = self.device.build(self.plan(mapping))
                self._seconds[mapping] = time.perf_counter() - start
            return self._built[mapping]

    # --- calls -------------------------------------------------------------------------------------

    def __call__(self, *args: Any, out: Any = None, stream: Any = None) -> Any:
        adopted = [self.device.adopt(value, stream) for value in args]
        arrays = [array for array in adopted if array is not None]
        if not arrays:
            refuse_stream(stream)
            call = self._begin(args, out)
            return self._finish(call, self._from_host(call))
        if len(arrays) != len(args):
            raise ArgumentError("arguments: pass all of them on the device, or all of them on the host")
        return self._from_device(arrays, out, stream)

    def _from_host(self, call: Call) -> list[Array]:
        lead = call.lead
        batch = int(np.prod(lead, dtype=np.int64))
        results = [np.empty((batch, port.size), self.dtype) for port in self.outputs]
        if batch:
            rows = [a.reshape(batch, port.size) for a, port in zip(call.arguments, self.inputs, strict=True)]
            self._executable(self.mapping_for(batch)).run(rows, results)
        return [r.reshape((*lead, *p.shape)) for r, p in zip(results, self.outputs, strict=True)]

    def _from_device(self, arrays: Sequence[DeviceArray], out: Any, stream: Any) -> Any:
        recipe = self.recipe
        if stream is None:
            stream = next((array.stream for array in arrays if array.stream is not None), None)
        lead = _device_lead(recipe.inputs, arrays, recipe.dtype)
        batch = int(np.prod(lead, dtype=np.int64))
        shapes = [(*lead, *port.shape) for port in recipe.outputs]
        if out is None:
            made = [self.device.allocate(shape, recipe.dtype, stream) for shape in shapes]
            handles, results = [m[0] for m in made], [m[1] for m in made]
        else:
            results = output_list(recipe.outputs, out)
            handles = self._checked_outputs(results, shapes, stream)
            _refuse_shared(recipe, arrays, handles)
        if batch:
            executable = self._executable(self.mapping_for(batch))
            executable.run_on_device(arrays, handles, batch, stream)
        return self._bundle(results) if out is None else out

    def launch(self, inputs: Sequence[DeviceArray], outputs: Sequence[DeviceArray], batch: int) -> None:
        """Queue one launch on arrays of the device's own blocks, which are taken as they are."""
        self._executable(self.mapping_for(batch)).run_on_device(inputs, outputs, batch, None)

    def _checked_outputs(
        self, results: Sequence[Any], shapes: Sequence[tuple[int, ...]], stream: Any
    ) -> list[DeviceArray]:
        handles: list[DeviceArray] = []
        for port, value, shape in zip(self.outputs, results, shapes, strict=True):
            array = self.device.adopt(value, stream)
            if array is None:
                raise ArgumentError(f"out {port.name}: expected a device array, found {type(value).__name__}")
            if array.shape != shape or array.dtype != self.dtype:
                raise ArgumentError(
                    f"out {port.name}: expected {self.dtype} {shape}, found {array.dtype} {array.shape}"
                )
            handles.append(array)
        return handles

    def __repr__(self) -> str:
        ports = ", ".join(f"{p.name}{list(p.shape)}" for p in self.inputs)
        results = ", ".join(f"{p.name}{list(p.shape)}" for p in self.outputs)
        mapping = self.mapping or "thread or group"
        return f"<GpuKernel {self.name}({ports}) -> {results}, {self.dtype}, {mapping}, {self.device.name}>"


def _device_lead(ports: Sequence[Port], arrays: Sequence[DeviceArray], dtype: str) -> tuple[int, ...]:
    """The batch shape of device arrays: nothing is broadcast or converted on a device."""
    if len(arrays) != len(ports):
        wanted = ", ".join(port.name for port in ports)
        raise ArgumentError(f"expected {len(ports)} arguments ({wanted}), found {len(arrays)}")
    lead = arrays[0].shape[: max(0, len(arrays[0].shape) - len(ports[0].shape))]
    for port, array in zip(ports, arrays, strict=True):
        if array.dtype != dtype:
            raise ArgumentError(f"{port.name}: expected dtype {dtype}, found {array.dtype}")
        if array.shape != (*lead, *port.shape):
            raise ArgumentError(f"{port.name}: expected shape {(*lead, *port.shape)}, found {array.shape}")
    return lead


def _refuse_shared(recipe: Recipe, inputs: Sequence[DeviceArray], outputs: Sequence[DeviceArray]) -> None:
    """On a device results are written where they go while arguments are still read."""
    written = list(zip(recipe.outputs, outputs, strict=True))
    for (a, first), (b, second) in combinations(written, 2):
        if _meet(first, second):
            refuse_overlap(a.name, b.name)
    for (a, first), (b, second) in product(written, zip(recipe.inputs, inputs, strict=True)):
        if _meet(first, second):
            raise ArgumentError(
                f"out {a.name} shares memory with the argument {b.name}, which the device may still read: "
                "give it memory of its own"
            )


def _meet(a: DeviceArray, b: DeviceArray) -> bool:
    (memory, first, end), (other, other_first, other_end) = a.span, b.span
    return bool(memory == other) and max(first, other_first) < min(end, other_end)


def _check_options(mapping: str | None, group_threads: int | None) -> None:
    if mapping not in (None, *MAPPINGS):
        raise ArgumentError(f"mapping: expected one of {', '.join(MAPPINGS)} or None, found {mapping!r}")
    if group_threads is None:
        return
    whole = isinstance(group_threads, int) and not isinstance(group_threads, bool)
    if not (whole and 1 <= group_threads <= BLOCK_THREADS and group_threads.bit_count() == 1):
        raise ArgumentError(
            f"group_threads: expected a power of two up to {BLOCK_THREADS}, found {group_threads!r}"
        )


def refuse_stream(stream: Any) -> None:
    """A stream says where device arrays are worked on; with host arrays the call waits for its results."""
    if stream is not None:
        raise ArgumentError("stream: only with device arrays, found host arrays: move them or leave it out")


def make_kernel(recipe: Recipe, target: str, settings: Settings) -> GpuKernel:
    """A kernel on the device that the options name, or the first."""
    if not any(port.size for port in recipe.inputs):
        raise TargetError(
            f"{recipe.name}: expected numbers to compute with, found none, as no joint moves: use "
            'target="cpu"'
        )
    device, chosen = device_options(target, settings)
    return GpuKernel(recipe, device, check_finite=settings.check_finite, **chosen)


def device_options(target: str, settings: Settings) -> tuple[Device, dict[str, Any]]:
    """The device to use, and the options of a GpuKernel."""
    for name in settings.options:
        if name not in OPTIONS:
            raise ArgumentError(f"{name}: not an option of target {target!r}: it has {', '.join(OPTIONS)}")
    device = open_gpu(target, settings.options.get("device"))
    return device, {k: settings.options[k] for k in ("mapping", "group_threads") if k in settings.options}
