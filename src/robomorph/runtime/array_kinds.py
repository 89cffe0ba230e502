"""Every kind of array that users have, as a NumPy array of the dtype it came with."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError

Array = npt.NDArray[Any]

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
# Where DLPack says that memory is: the CPU's, and the CPU's pinned for CUDA and ROCm.
_HOST_MEMORY = (1, 3, 11)


def as_array(name: str, value: Any) -> Array:
    """A real array of float32 or float64, aligned, in this machine's byte order; the memory of `value` where
    that is so already. Integers and Python numbers become float64."""
    return as_real(name, as_numpy(name, value))


def as_numpy(name: str, value: Any) -> Array:
    """Lists, buffers and arrays of other libraries as NumPy arrays, without a copy where they allow that."""
    if type(value) is np.ndarray:
        return value
    if isinstance(value, Mapping):
        raise ArgumentError(f"{name}: expected an array of numbers, found a mapping")
    if isinstance(value, np.ma.MaskedArray):
        raise ArgumentError(f"{name}: masked arrays are not understood: fill it with .filled(...) first")
    _refuse_derivatives(name, value)
    try:
        foreign = hasattr(value, "__dlpack__") and not hasattr(value, "__array__")
        array = np.from_dlpack(value) if foreign else np.asarray(value)
    except Exception as error:  # whatever another library raises of its own arrays
        _refuse_device(name, value)
        kind = f"a {type(value).__name__} of {value.dtype}" if hasattr(value, "dtype") else "something else"
        raise ArgumentError(
            f"{name}: expected an array of numbers (float32 or float64), found {kind}: {error}"
        ) from error
    if array.dtype == object:
        _refuse_device(name, value)
        raise ArgumentError(
            f"{name}: expected float32 or float64 numbers, found {type(value).__name__}"
            f"{' of objects' if array.ndim else ''}"
        )
    return array


def as_real(name: str, array: Array) -> Array:
    """The same for what is a NumPy array already."""
    dtype = array.dtype
    if dtype in (FLOAT64, FLOAT32) and array.flags.aligned:
        return array
    if dtype.kind in "iu":
        return array.astype(np.float64)
    native = dtype.newbyteorder("=")
    if native not in (FLOAT32, FLOAT64):
        raise ArgumentError(
            f"{name}: expected float32 or float64, found dtype {dtype}: convert it with .astype(float)"
        )
    return array.astype(native)


def _refuse_derivatives(name: str, value: Any) -> None:
    """An array whose package differentiates, or traces, what is done with it: here that would be lost."""
    if isinstance(value, _known("jax", "core", "Tracer") or ()):
        raise ArgumentError(
            f"{name}: expected an array of numbers (float32 or float64), found one that JAX traces"
            f" ({type(value).__name__}): call the same function of robomorph.jax.Functions(robot)"
        )
    kind = "requires grad" if getattr(value, "requires_grad", False) is True else ""
    forward = _known("torch", "autograd", "forward_ad")
    if not kind and forward is not None and forward._current_level >= 0:
        for part in value if isinstance(value, (list, tuple)) else ():
            _refuse_derivatives(name, part)
        if isinstance(value, _known("torch", "Tensor")) and forward.unpack_dual(value).tangent is not None:
            kind = "has a tangent of forward mode"
    if kind:
        raise ArgumentError(
            f"{name}: this tensor {kind}, and no derivative would flow through the result: call the"
            f" same function of robomorph.torch.Functions(robot), or pass {name}.detach()"
        )


def _known(package: str, *names: str) -> Any:
    """What stands in a package under these names; None if nobody has imported it, or is just about to. Who
    has its arrays has."""
    found: Any = sys.modules.get(package)
    for name in names:
        found = getattr(found, name, None)
    return found


def _refuse_device(name: str, value: Any) -> None:
    """An array that cannot be read because it is in a device's memory."""
    try:
        on_host = not hasattr(value, "__dlpack_device__") or value.__dlpack_device__()[0] in _HOST_MEMORY
    except Exception:  # some place that DLPack does not know
        on_host = False
    if not on_host or getattr(value, "__cuda_array_interface__", None) is not None:
        raise ArgumentError(
            f"{name}: this {type(value).__name__} is in a device's memory, and the call works in the host's:"
            f" pass {name}.cpu() (Torch), {name}.get() (CuPy) or numpy.asarray({name}) (JAX)"
        )
