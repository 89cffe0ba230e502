"""OpenCL devices through pyopencl: building, buffers, queues."""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError, TargetError
from robomorph.targets.gpu.device import DeviceArray
from robomorph.targets.gpu.dialect import GpuDialect
from robomorph.targets.gpu.launch import LaunchPlan
from robomorph.targets.gpu.opencl.dialect import OPENCL
from robomorph.targets.gpu.opencl.pocl import name_the_cpu
from robomorph.targets.gpu.transfer import LANES, BlockLayout, run_batch

Array = npt.NDArray[Any]

# A work-group size at which a GPU is well filled; only used to choose a mapping.
_THREADS_PER_UNIT = 128

_INSTALL = "install it with `pip install robomorph[opencl]`, which also brings PoCL, an OpenCL for the CPU"


def _pyopencl() -> Any:
    try:
        import pyopencl
    except ImportError as error:
        raise TargetError(
            f'target "opencl" needs the package pyopencl ({error}): {_INSTALL}; target="cpu" works without it'
        ) from error
    return pyopencl


@contextlib.contextmanager
def _surfaced(doing: str) -> Iterator[None]:
    """The device's errors as ours."""
    cl = _pyopencl()
    try:
        yield
    except cl.Error as error:
        raise TargetError(f"OpenCL failed while {doing}: {error}") from error


@cache
def open_device(index: int | None = None) -> OpenClDevice:
    """A device by number in the order of `list_devices`, or the first GPU, or else the first of all."""
    devices = list_devices()
    if not devices:
        raise TargetError(
            'target "opencl": no OpenCL device found; a GPU needs its vendor\'s driver, for a CPU '
            f'{_INSTALL}; target="cpu" works without either'
        )
    if index is None:
        cl = _pyopencl()
        gpus = [d for d in devices if d.type & cl.device_type.GPU]
        return OpenClDevice((gpus or devices)[0])
    if not 0 <= index < len(devices):
        names = ", ".join(f"{k}: {d.name}" for k, d in enumerate(devices))
        raise ArgumentError(f"device: expected one of [{names}], found {index!r}")
    return OpenClDevice(devices[index])


def list_devices() -> list[Any]:
    """Every OpenCL device of every platform."""
    cl = _pyopencl()
    try:
        return [device for platform in cl.get_platforms() for device in platform.get_devices()]
    except cl.Error:  # the loader reports "no platform" as an error
        return []


@dataclass(frozen=True)
class OpenClArray:
    """A pyopencl array, checked to be usable as it is."""

    handle: Any
    shape: tuple[int, ...]
    dtype: str
    stream: Any = None

    @property
    def span(self) -> tuple[Any, int, int]:
        info = _pyopencl().mem_info
        size = math.prod(self.shape) * np.dtype(self.dtype).itemsize
        if not hasattr(self.handle, "get_info"):  # shared virtual memory
            return id(self.handle), 0, size
        whole = self.handle.get_info(info.ASSOCIATED_MEMOBJECT)  # of a part of a buffer
        first = self.handle.get_info(info.OFFSET) if whole is not None else 0
        return (whole or self.handle).int_ptr, first, first + size


class OpenClDevice:
    """A device with its context and queues."""

    def __init__(self, device: Any) -> None:
        cl = _pyopencl()
        self.cl, self.device = cl, device
        name_the_cpu(device)
        with _surfaced(f"opening {device.name}"):
            self.context = cl.Context([device])
            self.queues = [cl.CommandQueue(self.context) for _ in range(LANES)]

    @property
    def name(self) -> str:
        return f"{self.device.name.strip()} ({self.device.platform.name.strip()})"

    @property
    def dialect(self) -> GpuDialect:
        return OPENCL

    @property
    def resident_threads(self) -> int:
        if self.device.type & self.cl.device_type.CPU:
            return 0
        return int(self.device.max_compute_units) * _THREADS_PER_UNIT

    @property
    def shared_limit(self) -> int:
        return int(self.device.local_mem_size)

    def supports(self, dtype: str) -> bool:
        return dtype == "float32" or bool(self.device.double_fp_config)

    def build(self, plan: LaunchPlan) -> OpenClExecutable:
        if plan.shared_bytes > self.shared_limit:
            raise TargetError(
                f"{plan.symbol}: a work group needs {plan.shared_bytes} bytes of local memory, {self.name} "
                f"has {self.shared_limit}: use the other mapping or target"
            )
        with _surfaced(f"building {plan.symbol} for {self.name}"):
            # pyopencl keeps built programs on disk, by source, device and driver.
            program = self.cl.Program(self.context, plan.source).build()
            return OpenClExecutable(self, plan, program)

    def adopt(self, value: Any, stream: Any) -> OpenClArray | None:
        import pyopencl.array

        if not isinstance(value, pyopencl.array.Array):
            return None
        if value.context != self.context:
            raise ArgumentError(
                f"a device array belongs to another OpenCL context: make it in the kernel's, "
                f"kernel.device.context ({self.name})"
            )
        if not value.flags.c_contiguous or value.offset:
            raise ArgumentError("a device array must be C-contiguous and start at its buffer: copy it first")
        return OpenClArray(value.base_data, tuple(value.shape), str(value.dtype), value.queue)

    def allocate(self, shape: tuple[int, ...], dtype: str, stream: Any) -> tuple[OpenClArray, Any]:
        import pyopencl.array

        queue = self.queue(stream)
        with _surfaced("allocating results"):
            array = pyopencl.array.empty(queue, shape, dtype)
        return OpenClArray(array.base_data, shape, dtype, queue), array

    def block(self, size: int) -> OpenClBlock:
        with _surfaced(f"allocating {size} bytes on {self.name}"):
            return OpenClBlock(self, size)

    def queue(self, stream: Any) -> Any:
        """The queue that a call's `stream` means."""
        if stream is None:
            return self.queues[0]
        if not isinstance(stream, self.cl.CommandQueue):
            raise ArgumentError(f"stream: expected a pyopencl.CommandQueue, found {type(stream).__name__}")
        if stream.context != self.context:
            raise ArgumentError("stream: expected a queue of the kernel's context, kernel.device.context")
        return stream


class OpenClBlock:
    """Memory on the device, and host memory that the driver can copy from directly."""

    def __init__(self, device: OpenClDevice, size: int) -> None:
        self.device, self._buffer = (
            device,
            device.cl.Buffer(device.context, device.cl.mem_flags.READ_WRITE, size),
        )
        self.host = mapped(device.cl, device.context, device.queues[0], size)

    def array(self, offset: int, shape: tuple[int, ...], dtype: str) -> OpenClArray:
        size = max(1, math.prod(shape) * np.dtype(dtype).itemsize)
        return OpenClArray(self._buffer.get_sub_region(offset, size), shape, dtype)

    def send(self, size: int) -> None:
        with _surfaced(f"copying to {self.device.name}"):
            queue = self.device.queues[0]
            self.device.cl.enqueue_copy(queue, self._buffer, self.host[:size], is_blocking=False)

    def fetch(self, size: int) -> None:
        with _surfaced(f"copying from {self.device.name}"):
            queue = self.device.queues[0]
            self.device.cl.enqueue_copy(queue, self.host[:size], self._buffer, is_blocking=False)
            queue.finish()


def mapped(cl: Any, context: Any, queue: Any, size: int) -> Array:
    """Bytes of host memory that the driver can copy from and to directly."""
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR, size)
    flags = cl.map_flags.READ | cl.map_flags.WRITE
    array, _ = cl.enqueue_map_buffer(queue, buffer, flags, 0, (size,), np.uint8)
    return np.asarray(array)


class OpenClExecutable:
    """A built kernel with its tables on the device."""

    def __init__(self, device: OpenClDevice, plan: LaunchPlan, program: Any) -> None:
        self.device, self.plan, self.program = device, plan, program
        flags = device.cl.mem_flags
        self.tables = [
            device.cl.Buffer(device.context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=table)
            for _, table in plan.tables
        ]
        # A kernel object holds its arguments, so every lane has one of its own.
        self.lanes = [_Lane(self, queue) for queue in device.queues]
        self.direct = device.cl.Kernel(program, plan.symbol)
        self._lock = threading.Lock()

    def run(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        with self._lock, _surfaced(f"running {self.plan.symbol} on {self.device.name}"):
            run_batch(self.plan, self.lanes, inputs, outputs)

    def run_on_device(
        self, inputs: Sequence[DeviceArray], outputs: Sequence[DeviceArray], batch: int, stream: Any
    ) -> None:
        queue = self.device.queue(stream)
        arrays = (*inputs, *outputs)
        others = [a.stream for a in arrays if a.stream is not None and a.stream != queue]
        with self._lock, _surfaced(f"launching {self.plan.symbol} on {self.device.name}"):
            before = [self.device.cl.enqueue_marker(other) for other in others]
            for other in others:
                other.flush()  # or the device may never begin what is waited for
            done = self.launch(self.direct, queue, [a.handle for a in arrays], batch, before)
            queue.flush()
            for other in others:
                self.device.cl.enqueue_barrier(other, wait_for=[done])

    def launch(
        self, kernel: Any, queue: Any, arrays: Sequence[Any], batch: int, after: Sequence[Any] = ()
    ) -> Any:
        """Queue the kernel to start when the events `after` have come; the event of its end."""
        size = self.plan.block_threads
        kernel.set_args(*arrays, *self.tables, np.uint32(batch))
        blocks = self.plan.blocks(batch)
        grid = (blocks * size,), (size,)
        return self.device.cl.enqueue_nd_range_kernel(queue, kernel, *grid, wait_for=list(after))


class _Lane:
    """A queue, host memory the driver can copy from directly, and the buffers of one piece."""

    def __init__(self, executable: OpenClExecutable, queue: Any) -> None:
        self.executable, self.queue = executable, queue
        self.cl = executable.device.cl
        self.kernel = self.cl.Kernel(executable.program, executable.plan.symbol)
        self.capacity = (0, 0)

    @property
    def staged_in(self) -> Array:
        return self._host[0]

    @property
    def staged_out(self) -> Array:
        return self._host[1]

    def reserve(self, bytes_in: int, bytes_out: int) -> None:
        if bytes_in <= self.capacity[0] and bytes_out <= self.capacity[1]:
            return
        self.capacity = (max(bytes_in, self.capacity[0]), max(bytes_out, self.capacity[1]))
        context, flags = self.executable.device.context, self.cl.mem_flags
        self._host = [mapped(self.cl, context, self.queue, size) for size in self.capacity]
        self._blocks = [self.cl.Buffer(context, flags.READ_WRITE, size) for size in self.capacity]

    def submit(self, batch: int, ins: BlockLayout, outs: BlockLayout) -> None:
        queue = self.queue
        self.cl.enqueue_copy(queue, self._blocks[0], self.staged_in[: ins.total], is_blocking=False)
        arrays = [
            block.get_sub_region(at, size)
            for block, layout in zip(self._blocks, (ins, outs), strict=True)
            for at, size in zip(layout.offsets, layout.sizes, strict=True)
        ]
        self.executable.launch(self.kernel, queue, arrays, batch)
        self.cl.enqueue_copy(queue, self.staged_out[: outs.total], self._blocks[1], is_blocking=False)
        queue.flush()

    def wait(self) -> None:
        self.queue.finish()
