"""CUDA devices: building with NVRTC, memory, streams and launches."""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError, TargetError
from robomorph.targets.gpu.cuda import interop
from robomorph.targets.gpu.cuda.dialect import CUDA
from robomorph.targets.gpu.cuda.driver import Driver, Pointer, system_driver
from robomorph.targets.gpu.cuda.interop import CudaArray, adopt
from robomorph.targets.gpu.cuda.nvrtc import nvrtc
from robomorph.targets.gpu.device import DeviceArray
from robomorph.targets.gpu.dialect import GpuDialect
from robomorph.targets.gpu.launch import LaunchPlan
from robomorph.targets.gpu.transfer import LANES, BlockLayout, run_batch

Array = npt.NDArray[Any]
Compile = Callable[[LaunchPlan, int], bytes]  # machine code of a plan for an architecture


def compile_with_nvrtc(plan: LaunchPlan, architecture: int) -> bytes:
    return nvrtc().compile(plan.source, architecture, plan.symbol).code


@cache
def open_device(index: int | None = None) -> CudaDevice:
    """A device by number; the first by default."""
    driver = system_driver()
    count = driver.device_count()
    if not count:
        raise TargetError(
            'target "cuda": the driver is there, but no CUDA device: target="cpu" works without'
        )
    if index is not None and not 0 <= index < count:
        raise ArgumentError(f"device: expected a number from 0 to {count - 1}, found {index!r}")
    return CudaDevice(driver, index or 0)


class CudaDevice:
    """One GPU, in the context that other libraries share. `compile_plan` turns plans into machine code."""

    def __init__(self, driver: Driver, index: int, compile_plan: Compile = compile_with_nvrtc) -> None:
        self.driver, self.compile_plan = driver, compile_plan
        self.index, self.device = index, driver.device(index)
        self.context = driver.primary_context(self.device)
        self.name = driver.device_name(self.device)
        self.architecture = driver.architecture(self.device)

    @property
    def dialect(self) -> GpuDialect:
        return CUDA

    @property
    def resident_threads(self) -> int:
        return self.driver.resident_threads(self.device)

    @property
    def shared_limit(self) -> int:
        return self.driver.max_shared(self.device)

    def supports(self, dtype: str) -> bool:
        return dtype in ("float32", "float64")

    def activate(self) -> None:
        """Make the context current for this thread."""
        self.driver("cuCtxSetCurrent", self.context)

    def build(self, plan: LaunchPlan) -> CudaExecutable:
        if plan.shared_bytes > self.shared_limit:
            raise TargetError(
                f"{plan.symbol}: a block needs {plan.shared_bytes} bytes of shared memory, {self.name} has "
                f"{self.shared_limit}: use the other mapping or target"
            )
        self.activate()
        return CudaExecutable(self, plan)

    def adopt(self, value: Any, stream: Any) -> CudaArray | None:
        return value.array if isinstance(value, DeviceBuffer) else adopt(value, stream_handle(stream))

    def allocate(self, shape: tuple[int, ...], dtype: str, stream: Any) -> tuple[CudaArray, DeviceBuffer]:
        self.activate()
        buffer = DeviceBuffer(self, shape, dtype, stream)
        return buffer.array, buffer

    def block(self, size: int) -> CudaBlock:
        self.activate()
        return CudaBlock(self, size)


class CudaBlock:
    """Memory on the device, and as much page-locked memory of the host."""

    def __init__(self, device: CudaDevice, size: int) -> None:
        self.device, self._stream = device, ctypes.c_void_p(named_stream(None))
        self._pointer = device.driver.allocate(size)
        weakref.finalize(self, _release, device, self._pointer)
        pinned = device.driver.allocate_host(size)
        weakref.finalize(self, _release_host, device, pinned)
        self.host = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(pinned.value or 0))

    def array(self, offset: int, shape: tuple[int, ...], dtype: str) -> CudaArray:
        return CudaArray((self._pointer.value or 0) + offset, shape, dtype)

    def send(self, size: int) -> None:
        self.device.activate()
        host = ctypes.c_void_p(self.host.ctypes.data)
        self.device.driver.copy_in(self._pointer, host, size, self._stream)

    def fetch(self, size: int) -> None:
        self.device.activate()
        host = ctypes.c_void_p(self.host.ctypes.data)
        self.device.driver.copy_out(host, self._pointer, size, self._stream)
        self.device.driver.wait(self._stream)


class DeviceBuffer:
    """A result in device memory, for other libraries to use without a copy: CuPy by ``cupy.asarray``, those
    that know DLPack by ``from_dlpack``. Both are told the stream on which it is written."""

    def __init__(self, device: CudaDevice, shape: tuple[int, ...], dtype: str, stream: Any = None) -> None:
        size = max(1, int(np.prod(shape, dtype=np.int64))) * np.dtype(dtype).itemsize
        pointer = device.driver.allocate(size)
        self._free = weakref.finalize(self, _release, device, pointer)
        self.device, self._stream = device, stream  # kept: the stream must outlive what it writes
        self.array = CudaArray(pointer.value, shape, dtype, named_stream(stream_handle(stream)))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        kind = "<f4" if self.array.dtype == "float32" else "<f8"
        return {
            "shape": self.shape,
            "typestr": kind,
            "data": (self.array.handle, False),
            "stream": self.array.stream,
            "version": 3,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return interop.DL_CUDA, self.device.index

    def __dlpack__(
        self, *, stream: int | None = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
    ) -> Any:
        """A DLPack capsule of this memory, safe to use on the consumer's `stream` (-1: it sees to that)."""
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError(
                "a result in device memory is shared where it is: copy it with the other library"
            )
        if stream != -1:
            self.device.activate()
            self.device.driver.order(self.array.stream, named_stream(stream))
        return interop.capsule(self, self.array, self.device.index)


def _release(device: CudaDevice, pointer: Pointer) -> None:
    device.activate()
    device.driver.free(pointer)


class CudaExecutable:
    """A loaded kernel with its tables on the device."""

    def __init__(self, device: CudaDevice, plan: LaunchPlan) -> None:
        self.device, self.plan, self.driver = device, plan, device.driver
        code = device.compile_plan(plan, device.architecture)
        self.function = self.driver.load_function(code, plan.symbol, plan.shared_bytes)
        self.lanes = [_Lane(self) for _ in range(LANES)]
        self.tables = [self._upload(table) for _, table in plan.tables]
        self._lock = threading.Lock()

    def _upload(self, table: Array) -> Pointer:
        pointer = self.driver.allocate(max(1, table.nbytes))
        weakref.finalize(self, _release, self.device, pointer)
        stream = self.lanes[0].stream
        self.driver.copy_in(pointer, ctypes.c_void_p(table.ctypes.data), table.nbytes, stream)
        self.driver.wait(stream)
        return pointer

    def run(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        with self._lock:
            self.device.activate()
            run_batch(self.plan, self.lanes, inputs, outputs)

    def run_on_device(
        self, inputs: Sequence[DeviceArray], outputs: Sequence[DeviceArray], batch: int, stream: Any
    ) -> None:
        self.device.activate()
        arrays = (*inputs, *outputs)
        own = named_stream(stream_handle(stream))
        others = sorted({named_stream(a.stream) for a in arrays if a.stream is not None} - {own})
        for other in others:
            self.driver.order(other, own)
        self.launch([Pointer(a.handle) for a in arrays], batch, ctypes.c_void_p(own))
        for other in others:
            self.driver.order(own, other)

    def launch(self, arrays: Sequence[Pointer], batch: int, stream: Any) -> None:
        plan = self.plan
        args = [*arrays, *self.tables, ctypes.c_uint32(batch)]
        self.driver.launch(
            self.function, plan.blocks(batch), plan.block_threads, plan.shared_bytes, stream, args
        )


def named_stream(handle: int | None) -> int:
    """A stream as the exchange protocols number them: the default one is 1, never 0 or None."""
    return handle or 1


def stream_handle(stream: Any) -> int | None:
    """The driver's handle of a stream: a number, or an object of CuPy (`ptr`) or Torch (`cuda_stream`)."""
    if stream is None or isinstance(stream, int):
        return stream
    for name in ("cuda_stream", "ptr", "handle"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    raise ArgumentError(f"stream: expected a CUDA stream or its handle, found {type(stream).__name__}")


class _Lane:
    """A stream, page-locked staging memory and the device's blocks for one piece of a batch."""

    def __init__(self, executable: CudaExecutable) -> None:
        self.executable = weakref.proxy(executable)
        self.driver, self.device = executable.driver, executable.device
        self.stream = self.driver.stream()
        self.capacity = (0, 0)
        self._free: list[Any] = []

    @property
    def staged_in(self) -> Array:
        return self._host[0]

    @property
    def staged_out(self) -> Array:
        return self._host[1]

    def reserve(self, bytes_in: int, bytes_out: int) -> None:
        if bytes_in <= self.capacity[0] and bytes_out <= self.capacity[1]:
            return
        for free in self._free:
            free()
        self.capacity = (max(bytes_in, self.capacity[0]), max(bytes_out, self.capacity[1]))
        pinned = [self.driver.allocate_host(size) for size in self.capacity]
        self._blocks = [self.driver.allocate(size) for size in self.capacity]
        self._free = [weakref.finalize(self, _release_host, self.device, p) for p in pinned]
        self._free += [weakref.finalize(self, _release, self.device, p) for p in self._blocks]
        self._host = [
            np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(p.value or 0))
            for p, size in zip(pinned, self.capacity, strict=True)
        ]

    def submit(self, batch: int, ins: BlockLayout, outs: BlockLayout) -> None:
        block_in, block_out = self._blocks
        self.driver.copy_in(block_in, ctypes.c_void_p(self.staged_in.ctypes.data), ins.total, self.stream)
        arrays = [Pointer(block_in.value + at) for at in ins.offsets]
        arrays += [Pointer(block_out.value + at) for at in outs.offsets]
        self.executable.launch(arrays, batch, self.stream)
        self.driver.copy_out(ctypes.c_void_p(self.staged_out.ctypes.data), block_out, outs.total, self.stream)

    def wait(self) -> None:
        self.driver.wait(self.stream)


def _release_host(device: CudaDevice, pointer: ctypes.c_void_p) -> None:
    device.activate()
    device.driver.free_host(pointer)
