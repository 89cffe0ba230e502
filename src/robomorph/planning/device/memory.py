"""Named arrays in blocks of device memory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.targets.gpu.device import Device, DeviceArray
from robomorph.targets.gpu.transfer import ALIGNMENT

Shapes = Mapping[str, tuple[int, ...]]


class Memory:
    """Arrays one after the other in one block, on the device and on the host. `tails` are lists of arrays
    that take turns behind the others: they share their place."""

    def __init__(self, device: Device, dtype: str, shapes: Shapes, *tails: Shapes) -> None:
        self.dtype = dtype
        self.offsets: dict[str, int] = {}
        self.ends: dict[str, int] = {}
        first = self._place(shapes, 0)
        size = max([first, *(self._place(tail, first) for tail in tails)])
        self.block = device.block(max(size, ALIGNMENT))
        every = {**shapes, **{name: shape for tail in tails for name, shape in tail.items()}}
        self.on_device: dict[str, DeviceArray] = {
            name: self.block.array(self.offsets[name], shape, dtype) for name, shape in every.items()
        }
        self.on_host = {name: self._view(name, shape) for name, shape in every.items()}

    def _place(self, shapes: Shapes, at: int) -> int:
        for name, shape in shapes.items():
            self.offsets[name] = at
            self.ends[name] = at + math.prod(shape) * np.dtype(self.dtype).itemsize
            at += max(1, -(-(self.ends[name] - at) // ALIGNMENT)) * ALIGNMENT
        return at

    def _view(self, name: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        return self.block.host[self.offsets[name] : self.ends[name]].view(self.dtype).reshape(shape)

    def end(self, names: tuple[str, ...]) -> int:
        """Bytes up to the end of the last of these arrays."""
        return max((self.ends[name] for name in names), default=0)
