"""Device arrays of other libraries, used where they are: __cuda_array_interface__ and DLPack."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any

from robomorph.errors import ArgumentError

_DTYPES = {"<f4": "float32", "<f8": "float64"}
_DL_CUDA, _DL_CUDA_MANAGED = 2, 13
_DL_FLOAT = 2


@dataclass(frozen=True)
class CudaArray:
    """A C-contiguous array in device memory. `stream` is the one its producer still writes it on, if any."""

    handle: int
    shape: tuple[int, ...]
    dtype: str
    stream: int | None = None


class _DlTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int),
        ("device_id", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


def adopt(value: Any, stream: int | None = None) -> CudaArray | None:
    """The device array behind a CuPy, Torch or JAX array; None for anything that is not on a GPU."""
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        return _from_interface(interface)
    where = getattr(value, "__dlpack_device__", None)
    if where is not None and where()[0] in (_DL_CUDA, _DL_CUDA_MANAGED):
        return _from_capsule(value.__dlpack__(stream=1 if stream is None else stream))
    return None


def _from_interface(interface: dict[str, Any]) -> CudaArray:
    dtype = _DTYPES.get(interface["typestr"])
    if dtype is None:
        raise ArgumentError(f"device array: expected float32 or float64, found {interface['typestr']!r}")
    shape = tuple(int(n) for n in interface["shape"])
    itemsize = int(interface["typestr"][2:])
    strides = interface.get("strides")
    if strides is not None and tuple(strides) != _row_major(shape, itemsize):
        raise ArgumentError(f"device array: expected C-contiguous, found strides {tuple(strides)}: copy it")
    return CudaArray(int(interface["data"][0] or 0), shape, dtype, interface.get("stream"))


def _from_capsule(capsule: Any) -> CudaArray:
    """Read a DLPack capsule. It is not taken over: its producer frees it when it is dropped."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    tensor = _DlTensor.from_address(pointer(capsule, b"dltensor"))
    if tensor.code != _DL_FLOAT or tensor.bits not in (32, 64) or tensor.lanes != 1:
        raise ArgumentError(
            f"device array: expected float32 or float64, found {tensor.bits} bits of another kind"
        )
    shape = tuple(tensor.shape[k] for k in range(tensor.ndim))
    if tensor.strides and tuple(tensor.strides[k] for k in range(tensor.ndim)) != _row_major(shape, 1):
        raise ArgumentError("device array: expected C-contiguous: copy it")
    return CudaArray((tensor.data or 0) + tensor.byte_offset, shape, f"float{tensor.bits}")


def _row_major(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    return tuple(itemsize * math.prod(shape[k + 1 :]) for k in range(len(shape)))
