"""Device arrays exchanged with other libraries, without copies: __cuda_array_interface__ and DLPack."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any

from robomorph.errors import ArgumentError

_DTYPES = {"<f4": "float32", "<f8": "float64"}
DL_CUDA, _DL_CUDA_MANAGED = 2, 13
_DL_FLOAT = 2
_NAME = b"dltensor"  # capsules keep a pointer to it


@dataclass(frozen=True)
class CudaArray:
    """A C-contiguous array in device memory. `stream` is the one its producer still writes it on, if any."""

    handle: int
    shape: tuple[int, ...]
    dtype: str
    stream: int | None = None

    @property
    def span(self) -> tuple[str, int, int]:
        size = math.prod(self.shape) * (4 if self.dtype == "float32" else 8)
        return "device", self.handle, self.handle + size


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


def adopt(value: Any, stream: int | None) -> CudaArray | None:
    """The device array behind that of another library; None for anything that is not on a GPU.

    `stream` is the one it is to be used on (None: not chosen yet). An interface before version 3 says
    nothing of streams: there DLPack is preferred, by which the producer makes `stream` wait for its work.
    """
    if getattr(value, "requires_grad", False) is True:  # Torch gives out no address of such a tensor
        raise ArgumentError("device array: this tensor requires grad: pass its .detach()")
    interface = getattr(value, "__cuda_array_interface__", None)
    where = getattr(value, "__dlpack_device__", None)
    exchange = where is not None and where()[0] in (DL_CUDA, _DL_CUDA_MANAGED)
    if interface is not None and (not exchange or interface.get("version", 0) >= 3):
        return _from_interface(interface)
    if exchange:
        waiting = stream or 1  # 1: the default stream, which DLPack does not let us call 0
        return _from_capsule(value.__dlpack__(stream=waiting), waiting)
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


def _from_capsule(capsule: Any, stream: int) -> CudaArray:
    """Read a DLPack capsule. It is not taken over: its producer frees it when it is dropped."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    tensor = _DlTensor.from_address(pointer(capsule, _NAME))
    if tensor.code != _DL_FLOAT or tensor.bits not in (32, 64) or tensor.lanes != 1:
        raise ArgumentError(
            f"device array: expected float32 or float64, found {tensor.bits} bits of another kind"
        )
    shape = tuple(tensor.shape[k] for k in range(tensor.ndim))
    if tensor.strides and tuple(tensor.strides[k] for k in range(tensor.ndim)) != _row_major(shape, 1):
        raise ArgumentError("device array: expected C-contiguous: copy it")
    return CudaArray((tensor.data or 0) + tensor.byte_offset, shape, f"float{tensor.bits}", stream)


# --- outwards ----------------------------------------------------------------------------------------


class _DlManagedTensor(ctypes.Structure):
    _fields_ = (("tensor", _DlTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


# What consumers still use, by the address of the structure that was handed to them.
_shared: dict[int, tuple[Any, ...]] = {}


def _release(address: int) -> None:
    """Called by the consumer when it is done."""
    _shared.pop(address, None)


def _drop(capsule: int) -> None:
    """Called when a capsule goes away; one that was taken over has another name by then."""
    api = ctypes.pythonapi
    api.PyCapsule_IsValid.argtypes = (ctypes.c_void_p, ctypes.c_char_p)
    if api.PyCapsule_IsValid(capsule, _NAME):
        pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
            ("PyCapsule_GetPointer", api)
        )
        _shared.pop(pointer(capsule, _NAME), None)


_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_release)
_DROP = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_drop)


def capsule(owner: Any, array: CudaArray, device: int) -> Any:
    """A DLPack capsule of `array`; `owner` lives until the consumer is done with it."""
    shape = (ctypes.c_int64 * len(array.shape))(*array.shape)
    bits = 32 if array.dtype == "float32" else 64
    managed = _DlManagedTensor(
        _DlTensor(
            array.handle,
            DL_CUDA,
            device,
            len(array.shape),
            _DL_FLOAT,
            bits,
            1,
            ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64)),
            None,
            0,
        ),
        None,
        ctypes.cast(_RELEASE, ctypes.c_void_p),
    )
    address = ctypes.addressof(managed)
    _shared[address] = (managed, shape, owner)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi)
    )
    return make(address, _NAME, ctypes.cast(_DROP, ctypes.c_void_p))


def _row_major(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    return tuple(itemsize * math.prod(shape[k + 1 :]) for k in range(len(shape)))
