"""Checking and converting what users pass: every error names the argument, what was expected and found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.ir.program import Port
from robomorph.model.naming import hint

Array = npt.NDArray[Any]


def as_array(name: str, value: Any) -> Array:
    """A real array of float32 or float64 (integers and Python numbers become float64)."""
    if isinstance(value, Mapping):
        raise ArgumentError(f"{name}: expected an array of numbers, found a mapping")
    if isinstance(value, np.ma.MaskedArray):
        raise ArgumentError(f"{name}: masked arrays are not understood: fill it with .filled(...) first")
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise ArgumentError(f"{name}: expected an array of numbers: {error}") from error
    if array.dtype.kind in "iu":
        return array.astype(np.float64)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ArgumentError(
            f"{name}: expected float32 or float64, found dtype {array.dtype}: convert it with .astype(float)"
        )
    return array


def common_dtype(arrays: Sequence[Array]) -> str:
    """float32 if every array is, else float64."""
    return "float32" if all(a.dtype == np.float32 for a in arrays) else "float64"


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
    try:
        return np.broadcast_shapes(*leads)
    except ValueError:
        found = ", ".join(f"{n} {lead}" for n, lead in zip(names, leads, strict=True))
        raise ArgumentError(f"batch dimensions do not broadcast together: {found}") from None


def fit_arguments(ports: Sequence[Port], args: Sequence[Any], dtype: str) -> list[Array]:
    """Arguments as C-contiguous arrays of one batch shape and of the kernel's dtype."""
    if len(args) != len(ports):
        wanted = ", ".join(port.name for port in ports)
        raise ArgumentError(f"expected {len(ports)} arguments ({wanted}), found {len(args)}")
    names = [port.name for port in ports]
    arrays = [_cast(port.name, value, dtype) for port, value in zip(ports, args, strict=True)]
    lead = broadcast(names, arrays, [port.shape for port in ports])
    return [
        np.asarray(np.broadcast_to(a, (*lead, *port.shape)), order="C")  # () stays ()
        for a, port in zip(arrays, ports, strict=True)
    ]


def _cast(name: str, value: Any, dtype: str) -> Array:
    array = as_array(name, value)
    narrows = dtype == "float32" and array.dtype == np.float64
    if narrows and isinstance(value, np.ndarray) and value.dtype.kind == "f":
        raise ArgumentError(
            f"{name}: expected float32 (the kernel's dtype), found float64: "
            'convert it with .astype(np.float32) or compile with dtype="float64"'
        )
    with np.errstate(over="ignore"):
        cast = array.astype(dtype, copy=False)
    if narrows and not np.all(np.isfinite(cast) | ~np.isfinite(array)):
        raise ArgumentError(f"{name}: a number is too large for float32, the kernel's dtype")
    return cast


def fit_outputs(ports: Sequence[Port], out: Any, lead: tuple[int, ...], dtype: str) -> list[Array]:
    """The arrays of `out=`, checked; they are written in place, so nothing is converted."""
    arrays = [out] if len(ports) == 1 and not isinstance(out, (tuple, list)) else list(out)
    if len(arrays) != len(ports):
        wanted = ", ".join(port.name for port in ports)
        raise ArgumentError(f"out: expected {len(ports)} arrays ({wanted}), found {len(arrays)}")
    for port, array in zip(ports, arrays, strict=True):
        if not isinstance(array, np.ndarray):
            raise ArgumentError(f"out {port.name}: expected a NumPy array, found {type(array).__name__}")
        if array.dtype != np.dtype(dtype):
            raise ArgumentError(f"out {port.name}: expected dtype {dtype}, found {array.dtype}")
        if array.shape != (*lead, *port.shape):
            raise ArgumentError(
                f"out {port.name}: expected shape {(*lead, *port.shape)}, found {array.shape}"
            )
        if not array.flags.writeable:
            raise ArgumentError(f"out {port.name}: the array is read-only")
    return arrays


def raise_nonfinite(ports: Sequence[Port], args: Sequence[Any]) -> None:
    """The error for NaN or infinity, naming the argument and the first place."""
    for port, value in zip(ports, args, strict=True):
        bad = np.argwhere(~np.isfinite(np.asarray(value)))
        if len(bad):
            index = tuple(int(i) for i in bad[0])
            found = np.asarray(value)[index]
            raise ArgumentError(
                f"{port.name}: expected finite numbers, found {found} at index {list(index)}"
                f" ({len(bad)} in all); check_finite=False switches this check off"
            )


def wrench_array(value: Any, links: Sequence[str]) -> tuple[tuple[str, ...], Any]:
    """`f_ext` as the links it acts on and an array (..., n, 6): a mapping names them, an array has all."""
    if not isinstance(value, Mapping):
        return tuple(links), value
    if not value:
        raise ArgumentError("f_ext: the mapping is empty: pass None for no external forces")
    for name in value:
        if name not in links:
            raise ArgumentError(f"f_ext: unknown link {name!r}: {hint(str(name), list(links))}")
    named = sorted(value, key=list(links).index)  # one kernel however the mapping is ordered
    arrays = [as_array(f"f_ext[{name!r}]", value[name]) for name in named]
    lead = broadcast([f"f_ext[{name!r}]" for name in named], arrays, [(6,)] * len(arrays))
    stacked = np.stack([np.broadcast_to(a, (*lead, 6)) for a in arrays], axis=-2)
    return tuple(named), stacked.astype(common_dtype(arrays), copy=False)
