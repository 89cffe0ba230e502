"""Batches through a device: one contiguous block each way, and pieces of a large batch overlapped.

A lane is a queue of the device with staging memory of its own. While one lane computes, the next piece is
packed and sent by another.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from robomorph.ir.program import Port
from robomorph.targets.gpu.launch import LaunchPlan

Array = npt.NDArray[Any]

# Bytes at which every array of a block starts. Devices ask for up to 512 (CL_DEVICE_MEM_BASE_ADDR_ALIGN).
ALIGNMENT = 1024
LANES = 2
# Bytes of results per piece: large enough to hide the cost of a launch, small enough to overlap.
PIECE_BYTES = 8 << 20


@dataclass(frozen=True)
class BlockLayout:
    """Where the arrays of one side start in their common block, in bytes, and how long it is."""

    offsets: tuple[int, ...]
    sizes: tuple[int, ...]
    total: int


def block_layout(ports: Sequence[Port], batch: int, itemsize: int) -> BlockLayout:
    offsets, sizes, at = [], [], 0
    for port in ports:
        offsets.append(at)
        sizes.append(batch * port.size * itemsize)
        at += -(-sizes[-1] // ALIGNMENT) * ALIGNMENT
    return BlockLayout(tuple(offsets), tuple(sizes), max(at, ALIGNMENT))


class Lane(Protocol):
    """One queue with its staging memory; the arrays are bytes of at least the size last reserved."""

    def reserve(self, bytes_in: int, bytes_out: int) -> None: ...

    @property
    def staged_in(self) -> Array: ...

    @property
    def staged_out(self) -> Array: ...

    def submit(self, batch: int, ins: BlockLayout, outs: BlockLayout) -> None:
        """Start the copy in, the kernel and the copy out, and return at once."""

    def wait(self) -> None:
        """Until everything submitted is done; raises if any of it failed."""


def piece_size(plan: LaunchPlan) -> int:
    """Evaluations per piece of a large batch, in whole blocks."""
    wanted = max(1, PIECE_BYTES // max(1, plan.bytes_in + plan.bytes_out))
    return plan.blocks(wanted) * plan.evaluations


def run_batch(
    plan: LaunchPlan, lanes: Sequence[Lane], inputs: Sequence[Array], outputs: Sequence[Array]
) -> None:
    """Compute outputs (batch, size) from inputs (batch, size), all C-contiguous and of the plan's dtype."""
    batch, step = inputs[0].shape[0], piece_size(plan)
    waiting: deque[tuple[Lane, slice]] = deque()
    try:
        for k, start in enumerate(range(0, batch, step)):
            if len(waiting) == len(lanes):
                _collect(plan, *waiting.popleft(), outputs)
            rows = slice(start, min(batch, start + step))
            lane = lanes[k % len(lanes)]
            _start(plan, lane, rows, inputs)
            waiting.append((lane, rows))
        while waiting:
            _collect(plan, *waiting.popleft(), outputs)
    finally:  # after an error: no copy may still write into staging memory
        for lane, _ in waiting:
            lane.wait()


def _start(plan: LaunchPlan, lane: Lane, rows: slice, inputs: Sequence[Array]) -> None:
    batch = rows.stop - rows.start
    ins = block_layout(plan.inputs, batch, plan.itemsize)
    outs = block_layout(plan.outputs, batch, plan.itemsize)
    lane.reserve(ins.total, outs.total)
    for array, at, size in zip(inputs, ins.offsets, ins.sizes, strict=True):
        lane.staged_in[at : at + size] = array[rows].reshape(-1).view(np.uint8)
    lane.submit(batch, ins, outs)


def _collect(plan: LaunchPlan, lane: Lane, rows: slice, outputs: Sequence[Array]) -> None:
    lane.wait()
    outs = block_layout(plan.outputs, rows.stop - rows.start, plan.itemsize)
    for array, at, size in zip(outputs, outs.offsets, outs.sizes, strict=True):
        array[rows].reshape(-1).view(np.uint8)[:] = lane.staged_out[at : at + size]
