"""A function of Python in the place of a kernel's machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Evaluate = Callable[..., Sequence[Array]]
_POINTERS = ctypes.POINTER(ctypes.c_void_p)
_SIGNATURE = ctypes.CFUNCTYPE(None, _POINTERS, _POINTERS, ctypes.c_void_p)


class PythonCode:
    """What native code calls as it calls a kernel of `lanes` lanes (targets/cpu/handle.py), and Python
    answers.

    evaluate: takes arrays (lanes, size), one for each of `inputs`, and gives one of the same kind for each of
    `outputs`. What it raises is kept, `again` raises it, and the caller is told by results that are no
    numbers."""

    workspace = 0

    def __init__(self, evaluate: Evaluate, inputs: Sequence[int], outputs: Sequence[int], lanes: int) -> None:
        self.evaluate = evaluate
        self.inputs, self.outputs, self.lanes = tuple(inputs), tuple(outputs), lanes
        self.error: BaseException | None = None
        self._views: dict[tuple[int, int], Array] = {}
        self._function = _SIGNATURE(self._call)
        address = ctypes.cast(self._function, ctypes.c_void_p).value
        assert address is not None
        self.address = address

    def again(self) -> None:
        """Raise what was raised while native code was waiting."""
        error, self.error = self.error, None
        if error is not None:
            raise error

    def _call(self, given: Any, wanted: Any, _workspace: Any) -> None:
        outputs = [self._view(wanted[k], size) for k, size in enumerate(self.outputs)]
        try:
            inputs = [self._view(given[k], size).T for k, size in enumerate(self.inputs)]
            for target, value in zip(outputs, self.evaluate(*inputs), strict=True):
                target[...] = np.asarray(value).reshape(self.lanes, -1).T
        except BaseException as error:  # there is nobody above but C
            self.error = self.error or error
            for target in outputs:
                target[...] = np.nan

    def _view(self, address: int, size: int) -> Array:
        """(size, lanes) at an address; native code uses few of them, again and again."""
        key = (address, size)
        if key not in self._views:
            buffer = (ctypes.c_double * (size * self.lanes)).from_address(address)
            self._views[key] = np.frombuffer(memoryview(buffer), np.float64).reshape(size, self.lanes)
        return self._views[key]
