"""What a GPU target offers the host: a device that builds plans into executables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy.typing as npt

from robomorph.targets.gpu.dialect import GpuDialect
from robomorph.targets.gpu.launch import LaunchPlan

Array = npt.NDArray[Any]


class Executable(Protocol):
    """A plan built for one device."""

    def run(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Host arrays (batch, size), C-contiguous, of the plan's dtype; returns when outputs are written."""

    def run_on_device(
        self, inputs: Sequence[DeviceArray], outputs: Sequence[DeviceArray], batch: int, stream: Any
    ) -> None:
        """Device arrays as `Device.adopt` gave them; returns when the work is queued on `stream`.

        It starts after what the arrays' own streams have queued, and those go on after it.
        """


class Device(Protocol):
    """One device of one target."""

    @property
    def name(self) -> str: ...

    @property
    def dialect(self) -> GpuDialect: ...

    @property
    def resident_threads(self) -> int:
        """Threads the device runs at once; 0 for a CPU, whose threads are loops."""

    @property
    def shared_limit(self) -> int:
        """Bytes of shared memory that a block may have."""

    def supports(self, dtype: str) -> bool: ...

    def build(self, plan: LaunchPlan) -> Executable: ...

    def adopt(self, value: Any, stream: Any) -> DeviceArray | None:
        """The device array behind an argument, or None if it lives on the host; `stream` is the call's."""

    def allocate(self, shape: tuple[int, ...], dtype: str, stream: Any) -> tuple[DeviceArray, Any]:
        """A new device array, as a handle and as the object given to the user, to be written on `stream`."""

    def block(self, size: int) -> DeviceBlock:
        """Memory for arrays that stay on the device between launches, so many bytes."""


class DeviceBlock(Protocol):
    """Bytes on the device and as many on the host, for copies of both ways. All of it happens in order on the
    stream that calls without one use."""

    @property
    def host(self) -> Array:
        """(size,) bytes."""

    def array(self, offset: int, shape: tuple[int, ...], dtype: str) -> DeviceArray:
        """An array in it that starts at a multiple of `transfer.ALIGNMENT`."""

    def send(self, size: int) -> None:
        """Queue a copy of the first bytes to the device; the host's must stay until `fetch` has returned."""

    def fetch(self, size: int) -> None:
        """Copy the first bytes to the host when all that is queued is done, and wait for it."""


class DeviceArray(Protocol):
    """A C-contiguous array in device memory; `handle` is what the target launches kernels with."""

    @property
    def handle(self) -> Any: ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> str: ...

    @property
    def span(self) -> tuple[Any, int, int]:
        """The memory it is in, its first byte there, and the byte after its last."""

    @property
    def stream(self) -> Any:
        """The stream or queue its producer works on, if it says so."""
