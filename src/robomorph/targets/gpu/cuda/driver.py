"""The CUDA driver through ctypes: only what launching kernels needs, every failure a TargetError."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from robomorph.errors import TargetError

_COMPUTE_MAJOR, _COMPUTE_MINOR, _MULTIPROCESSORS, _THREADS_PER_MULTIPROCESSOR = 75, 76, 16, 39
_MAX_SHARED_OPT_IN = 97
_FUNCTION_MAX_DYNAMIC_SHARED = 8

Pointer = ctypes.c_uint64


class Driver:
    """libcuda with its return codes turned into errors."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        self("cuInit", 0)

    def __call__(self, name: str, *args: Any) -> None:
        status = getattr(self.library, name)(*args)
        if status:
            raise TargetError(f"CUDA: {name} failed: {self._text(status)}")

    def _text(self, status: int) -> str:
        words = []
        for query in ("cuGetErrorName", "cuGetErrorString"):
            text = ctypes.c_char_p()
            if getattr(self.library, query)(status, ctypes.byref(text)) == 0 and text.value:
                words.append(text.value.decode())
        return ": ".join(words) or f"error {status}"

    # --- devices -----------------------------------------------------------------------------------

    def device_count(self) -> int:
        count = ctypes.c_int()
        self("cuDeviceGetCount", ctypes.byref(count))
        return count.value

    def device(self, index: int) -> int:
        device = ctypes.c_int()
        self("cuDeviceGet", ctypes.byref(device), index)
        return device.value

    def device_name(self, device: int) -> str:
        text = ctypes.create_string_buffer(256)
        self("cuDeviceGetName", text, len(text), device)
        return text.value.decode()

    def attribute(self, device: int, which: int) -> int:
        value = ctypes.c_int()
        self("cuDeviceGetAttribute", ctypes.byref(value), which, device)
        return value.value

    def architecture(self, device: int) -> int:
        """Compute capability as one number, such as 80."""
        return 10 * self.attribute(device, _COMPUTE_MAJOR) + self.attribute(device, _COMPUTE_MINOR)

    def resident_threads(self, device: int) -> int:
        return self.attribute(device, _MULTIPROCESSORS) * self.attribute(device, _THREADS_PER_MULTIPROCESSOR)

    def max_shared(self, device: int) -> int:
        """Bytes of shared memory that a block may ask for."""
        return self.attribute(device, _MAX_SHARED_OPT_IN)

    def primary_context(self, device: int) -> ctypes.c_void_p:
        """The context that CuPy, Torch and JAX use too, so that their arrays are valid in it."""
        context = ctypes.c_void_p()
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        return context

    # --- code --------------------------------------------------------------------------------------

    def load_function(self, cubin: bytes, symbol: str, shared_bytes: int) -> ctypes.c_void_p:
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self("cuModuleLoadData", ctypes.byref(module), cubin)
        self("cuModuleGetFunction", ctypes.byref(function), module, symbol.encode())
        if shared_bytes > 48 * 1024:
            self("cuFuncSetAttribute", function, _FUNCTION_MAX_DYNAMIC_SHARED, shared_bytes)
        return function

    def launch(
        self,
        function: ctypes.c_void_p,
        blocks: int,
        threads: int,
        shared_bytes: int,
        stream: Any,
        args: list[Any],
    ) -> None:
        values = (ctypes.c_void_p * len(args))(*(ctypes.addressof(a) for a in args))
        grid = (blocks, 1, 1, threads, 1, 1)
        self("cuLaunchKernel", function, *grid, shared_bytes, stream, values, None)

    # --- memory and streams ------------------------------------------------------------------------

    def allocate(self, size: int) -> Pointer:
        pointer = Pointer()
        self("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
        return pointer

    def free(self, pointer: Pointer) -> None:
        self("cuMemFree_v2", pointer)

    def allocate_host(self, size: int) -> ctypes.c_void_p:
        """Page-locked host memory, which copies can use while the CPU goes on."""
        pointer = ctypes.c_void_p()
        self("cuMemHostAlloc", ctypes.byref(pointer), ctypes.c_size_t(size), 0)
        return pointer

    def free_host(self, pointer: ctypes.c_void_p) -> None:
        self("cuMemFreeHost", pointer)

    def copy_in(self, to: Pointer, source: Any, size: int, stream: Any) -> None:
        self("cuMemcpyHtoDAsync_v2", to, source, ctypes.c_size_t(size), stream)

    def copy_out(self, to: Any, source: Pointer, size: int, stream: Any) -> None:
        self("cuMemcpyDtoHAsync_v2", to, source, ctypes.c_size_t(size), stream)

    def stream(self) -> ctypes.c_void_p:
        stream = ctypes.c_void_p()
        self("cuStreamCreate", ctypes.byref(stream), 1)  # 1: does not wait for the default stream
        return stream

    def order(self, first: int | None, then: int | None) -> None:
        """Work queued on `then` from now on starts when what `first` holds is done; nobody waits here."""
        event = ctypes.c_void_p()
        self("cuEventCreate", ctypes.byref(event), 2)  # 2: without a clock
        try:
            self("cuEventRecord", event, ctypes.c_void_p(first))
            self("cuStreamWaitEvent", ctypes.c_void_p(then), event, 0)
        finally:
            self("cuEventDestroy_v2", event)  # the driver keeps it for as long as it is waited for

    def wait(self, stream: Any) -> None:
        self("cuStreamSynchronize", stream)


@cache
def system_driver() -> Driver:
    """The installed driver."""
    for name in ("libcuda.so.1", "libcuda.so"):
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        return Driver(library)
    raise TargetError(
        'target "cuda" needs NVIDIA\'s driver (libcuda.so.1), which was not found: install the driver for '
        'your GPU; without one, target="opencl" runs the same kernels on other devices and target="cpu" on '
        "the CPU, and `robomorph gpu-report` compiles for GPUs that are not there"
    )
