"""The GPU targets by name. A new one is a dialect, a device module and an entry here."""

from __future__ import annotations

import importlib
from typing import cast

from robomorph.errors import ArgumentError
from robomorph.targets.gpu.device import Device
from robomorph.targets.gpu.dialect import GpuDialect

GPU_TARGETS = ("cuda", "opencl")


def open_gpu(target: str, index: int | None = None) -> Device:
    """The device to use; a clear TargetError says what is missing if there is none."""
    module = importlib.import_module(f"robomorph.targets.gpu.{_known(target)}.device")
    if index is not None and (isinstance(index, bool) or not isinstance(index, int)):
        raise ArgumentError(f"device: expected the number of a device or None, found {index!r}")
    return cast(Device, module.open_device(index))


def gpu_dialect(target: str) -> GpuDialect:
    """The language of a target, which needs no device."""
    module = importlib.import_module(f"robomorph.targets.gpu.{_known(target)}.dialect")
    return cast(GpuDialect, getattr(module, target.upper()))


def _known(target: str) -> str:
    if target not in GPU_TARGETS:
        raise ArgumentError(f"target: expected one of {', '.join(GPU_TARGETS)}, found {target!r}")
    return target
