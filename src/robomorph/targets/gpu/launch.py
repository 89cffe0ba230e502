"""A kernel ready to be built: its source, its tables and the shape of its launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.ir.program import Port

Array = npt.NDArray[Any]

SHARED_LIMIT = 48 * 1024  # bytes that every CUDA device and nearly every OpenCL one gives a block


@dataclass(frozen=True)
class LaunchPlan:
    """One generated kernel.

    Its arguments are the input arrays, the output arrays, the `tables` in order, and the batch size as a
    32-bit unsigned number. Arrays are row-major (batch, port.size).
    """

    mapping: str
    symbol: str
    source: str
    dtype: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    tables: tuple[tuple[str, Array], ...]
    block_threads: int
    evaluations: int  # per block
    shared_bytes: int
    barriers: int
    instructions: int  # that one thread steps through
    flops: int  # per evaluation, as the program defines it
    threads: int  # per evaluation

    def blocks(self, batch: int) -> int:
        return -(-batch // self.evaluations)

    @property
    def itemsize(self) -> int:
        return int(np.dtype(self.dtype).itemsize)

    @property
    def bytes_in(self) -> int:
        """Bytes to the device per evaluation."""
        return sum(port.size for port in self.inputs) * self.itemsize

    @property
    def bytes_out(self) -> int:
        """Bytes from the device per evaluation."""
        return sum(port.size for port in self.outputs) * self.itemsize

    @property
    def table_bytes(self) -> int:
        """Bytes of tables, sent once."""
        return sum(array.nbytes for _, array in self.tables)
