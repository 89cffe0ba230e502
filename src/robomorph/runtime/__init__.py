"""Running compiled kernels: the native launcher (`_native`) and the kernel cache on disk (`cache`)."""

from __future__ import annotations

from robomorph.runtime._native import (
    NativeKernel,
    get_default_threads,
    pool_size,
    set_default_threads,
    shutdown_pool,
)
from robomorph.runtime.cache import KernelCache, default_cache

__all__ = [
    "KernelCache",
    "NativeKernel",
    "default_cache",
    "get_default_threads",
    "pool_size",
    "set_default_threads",
    "shutdown_pool",
]
