"""The definition of what a group of threads computes: instruction tables carried out in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.ir.program import Program
from robomorph.targets.gpu.tables import (
    KIND_SHIFT,
    MAX_SLOTS,
    NEGATE_ADDEND,
    NEGATE_PRODUCT,
    STORE,
    USE_ACCUMULATOR,
    GroupTables,
)

Array = npt.NDArray[Any]


def emulate(tables: GroupTables, inputs: Array) -> Array:
    """What a group computes, thread by thread: inputs (batch, input_size) to outputs (batch, output_size)."""
    batch = inputs.shape[0]
    slots = np.full((tables.slots, batch), np.nan)
    first = len(tables.constants)
    slots[:first] = tables.constants[:, None]
    slots[first : first + inputs.shape[1]] = inputs.T
    for begin, end in zip(tables.bounds[:-1], tables.bounds[1:], strict=True):
        for t in range(tables.schedule.threads):
            accumulator = np.zeros(batch)
            for a, b, c, d in tables.steps[begin:end, t].astype(int):
                accumulator = _execute(slots, accumulator, a, b, c)
                if d & STORE:
                    slots[d & (MAX_SLOTS - 1)] = accumulator
    return np.ascontiguousarray(slots[tables.places.astype(int)].T)


def _execute(slots: Array, accumulator: Array, a: int, b: int, c: int) -> Array:
    mask = MAX_SLOTS - 1
    product = slots[a & mask] * slots[b & mask]
    addend = accumulator if c & USE_ACCUMULATOR else slots[c & mask]
    value = (-product if a & NEGATE_PRODUCT else product) + (-addend if c & NEGATE_ADDEND else addend)
    kind = b >> KIND_SHIFT
    with np.errstate(divide="ignore"):
        return np.asarray((value, 1.0 / value if kind == 1 else value, np.sin(value), np.cos(value))[kind])


def program_order_inputs(program: Program, arguments: dict[str, Array]) -> Array:
    """Arguments (batch, *shape) by name, side by side as (batch, input_size)."""
    return np.concatenate([np.asarray(arguments[p.name]).reshape(-1, p.size) for p in program.inputs], axis=1)
