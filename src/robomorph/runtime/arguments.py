"""Checking and converting what users pass: every error names the argument, what was expected and found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robomorph.errors import ArgumentError
from robomorph.ir.program import Port
from robomorph.runtime.array_kinds import FLOAT32, FLOAT64, Array, as_numpy, as_real
from robomorph.runtime.array_kinds import as_array as as_array  # what users pass is read by one name


def common_dtype(arrays: Sequence[Array]) -> str:
    """float32 if every array is, else float64."""
    return "float32" if all(a.dtype == np.float32 for a in arrays) else "float64"


def typed_arguments(names: tuple[str, ...], args: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The dtype that a call's arguments ask for, and the arguments, as arrays where only that could tell.
    After those named comes `f_ext`."""
    for value in args:
        if type(value) is not np.ndarray:
            break
        dtype = value.dtype
        if dtype is FLOAT32:
            continue
        if dtype == FLOAT64:
            return "float64", args
        if dtype != FLOAT32:
            break
    else:
        return "float32", args
    arrays = tuple(as_array(name, value) for name, value in zip((*names, "f_ext"), args, strict=False))
    return common_dtype(arrays), arrays


def check_shape(name: str, array: Array, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The batch dimensions of an array that must end in `shape`."""
    lead = array.ndim - len(shape)
    if lead < 0 or array.shape[lead:] != shape:
        wanted = ", ".join(["...", *map(str, shape)])
        raise ArgumentError(f"{name}: expected shape ({wanted}), found {array.shape}")
    return array.shape[:lead]


def broadcast(
    names: Sequence[str], arrays: Sequence[Array], shapes: Sequence[tuple[int, ...]]
) -> tuple[int, ...]:
    """The common batch shape of arrays that end in the given shapes."""
    leads = [check_shape(n, a, s) for n, a, s in zip(names, arrays, shapes, strict=True)]
    if all(lead == leads[0] for lead in leads):
        return leads[0]
    try:
        return np.broadcast_shapes(*leads)
    except ValueError:
        found = ", ".join(f"{n} {lead}" for n, lead in zip(names, leads, strict=True))
        raise ArgumentError(f"batch dimensions do not broadcast together: {found}") from None


def fit_arguments(ports: Sequence[Port], args: Sequence[Any], dtype: str) -> list[Array]:
    """Arguments as C-contiguous, aligned arrays of one batch shape and of the kernel's dtype."""
    if len(args) != len(ports):
        wanted = ", ".join(port.name for port in ports)
        raise ArgumentError(f"expected {len(ports)} arguments ({wanted}), found {len(args)}")
    names = [port.name for port in ports]
    arrays = [_cast(port.name, value, dtype) for port, value in zip(ports, args, strict=True)]
    lead = broadcast(names, arrays, [port.shape for port in ports])
    return [_spread(a, (*lead, *port.shape)) for a, port in zip(arrays, ports, strict=True)]


def _spread(array: Array, shape: tuple[int, ...]) -> Array:
    whole = array if array.shape == shape else np.broadcast_to(array, shape)
    return np.asarray(whole, order="C")  # unlike ascontiguousarray, () stays ()


def _cast(name: str, value: Any, dtype: str) -> Array:
    given = as_numpy(name, value)
    array = as_real(name, given)
    if array.dtype == dtype:
        return array
    if dtype == "float64":
        return array.astype(np.float64)
    # Python's own numbers have no precision to lose; what came as float64 was meant so.
    if given.dtype.kind == "f" and not isinstance(value, (list, tuple)):
        raise ArgumentError(
            f"{name}: expected float32 (the kernel's dtype), found float64: "
            'convert it with .astype(np.float32) or compile with dtype="float64"'
        )
    with np.errstate(over="ignore"):
        narrowed = array.astype(np.float32)
    if not np.all(np.isfinite(narrowed) | ~np.isfinite(array)):
        raise ArgumentError(f"{name}: a number is too large for float32, the kernel's dtype")
    return narrowed
