"""Running compiled kernels: the native launcher (`_native`) and the kernel cache on disk (`cache`)."""

from __future__ import annotations

from robomorph.errors import ArgumentError
from robomorph.runtime._native import (
    NativeKernel,
    get_default_threads,
    pool_size,
    shutdown_pool,
)
from robomorph.runtime._native import set_default_threads as _set_default_threads
from robomorph.runtime.cache import KernelCache, default_cache


def set_default_threads(threads: int) -> None:
    """Threads a call uses when its kernel does not say. At import: ROBOMORPH_NUM_THREADS, else the number of
    CPUs this process may use."""
    try:
        _set_default_threads(threads)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(
            f"threads: expected a positive whole number, found {threads!r}: {error}"
        ) from None


__all__ = [
    "KernelCache",
    "NativeKernel",
    "default_cache",
    "get_default_threads",
    "pool_size",
    "set_default_threads",
    "shutdown_pool",
]
