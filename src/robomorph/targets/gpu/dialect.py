"""How a GPU language spells what surrounds the arithmetic: kernels, address spaces, barriers, indices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from robomorph.targets.c_family import Dialect


@dataclass(frozen=True)
class GpuDialect:
    """One device language. `arithmetic` gives the printer's dialect for a dtype; the other fields are words
    of the language. {n} in `kernel` is the number of threads of a block; {size} in `shared` the number of
    values of the pool that the threads of a block share."""

    name: str
    suffix: str  # of source files
    arithmetic: Callable[[str], Dialect]
    prologue: Callable[[str], str]  # what a source of this dtype starts with
    kernel: str
    function: str  # a function that is called once and should not be merged into its caller
    read: str  # pointer to device memory that is only read
    write: str
    private: str  # pointer to memory of one thread
    share_read: str  # pointer to shared memory that is only read
    share_write: str
    shared: str
    dynamic_shared: bool  # does the launch, not the source, say how large the pool is?
    barrier: str
    thread: str
    block: str
    pair: str  # two unsigned 32-bit words
    math: Callable[[str, str], str]  # the name of a function such as "sin" for a dtype
