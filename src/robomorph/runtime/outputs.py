"""The arrays that users give for results: checked, never converted, because they are written in place."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from robomorph.errors import ArgumentError
from robomorph.ir.program import Port
from robomorph.runtime.array_kinds import Array

# Steps for the exact answer to whether two views meet; slices of arrays take a few.
_OVERLAP_WORK = 100_000


def fit_outputs(ports: Sequence[Port], out: Any, lead: tuple[int, ...], dtype: str) -> list[Array]:
    """The arrays of `out=`, each fit for its result, none sharing memory with another."""
    arrays = output_list(ports, out)
    for port, array in zip(ports, arrays, strict=True):
        _check_output(port, array, (*lead, *port.shape), dtype)
    for (a, first), (b, second) in combinations(zip(ports, arrays, strict=True), 2):
        if _overlap(first, second):
            refuse_overlap(a.name, b.name)
    return arrays


def output_list(ports: Sequence[Port], out: Any) -> list[Any]:
    """One entry of `out` for each result."""
    wanted = ", ".join(port.name for port in ports)
    if len(ports) == 1 and not isinstance(out, (tuple, list)):
        return [out]
    try:
        arrays = list(out)
    except TypeError:
        raise ArgumentError(
            f"out: expected a tuple of {len(ports)} arrays ({wanted}), found {type(out).__name__}"
        ) from None
    if len(arrays) != len(ports):
        raise ArgumentError(f"out: expected {len(ports)} arrays ({wanted}), found {len(arrays)}")
    return arrays


def refuse_overlap(first: str, second: str) -> None:
    raise ArgumentError(
        f"out {first} and out {second} share memory, so one result would overwrite the other:"
        " give each an array of its own"
    )


def _check_output(port: Port, array: Any, shape: tuple[int, ...], dtype: str) -> None:
    name = f"out {port.name}"
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        hint = ": pass its .numpy(), which shares its memory" if hasattr(array, "numpy") else ""
        raise ArgumentError(f"{name}: expected a NumPy array, found {type(array).__name__}{hint}")
    if array.dtype != np.dtype(dtype):
        raise ArgumentError(f"{name}: expected dtype {dtype}, found {array.dtype}")
    if array.shape != shape:
        raise ArgumentError(f"{name}: expected shape {shape}, found {array.shape}")
    if not array.flags.writeable:
        raise ArgumentError(f"{name}: the array is read-only")
    if _folds(array):
        raise ArgumentError(
            f"{name}: entries of this view share memory with each other (strides {array.strides}): give an"
            " array of its own memory"
        )


def _folds(array: Array) -> bool:
    """May two entries lie on each other? No slice of an ordinary array does: there each step is longer than
    all that the shorter ones reach."""
    reach = array.itemsize
    for stride, count in sorted(
        (abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1
    ):
        if stride < reach:
            return array.size > 0
        reach += stride * (count - 1)
    return False


def _overlap(first: Array, second: Array) -> bool:
    """Do they share an entry? Interleaved columns of one buffer do not. Taken for yes where only a long
    search could tell."""
    try:
        return bool(np.shares_memory(first, second, max_work=_OVERLAP_WORK))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True
