"""Where a search can run beside the CPU, by the name that `on` takes.

A device is one module here with `make_search(solver)`, and one entry in `_MODULES`; modules are imported when
first asked for.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.naming import hint

if TYPE_CHECKING:
    from robomorph.ik.solver import Solver

Array = npt.NDArray[Any]
CPU = "cpu"
# The module of each device. One whose module is not there is not offered.
_MODULES = {"opencl": "gpu", "cuda": "gpu", "rtl": "rtl"}


class Found(NamedTuple):
    """What a device found: q (n, nq) float64, iterations (n,) int32. Whether that is a solution is none of
    its business: the host judges it."""

    q: Array
    iterations: Array


# From references (n, m) and starts (n, nq), C-contiguous float64; n may be 0.
Search = Callable[[Array, Array], Found]


def device_names() -> tuple[str, ...]:
    """Values of `on`."""
    spec = importlib.util.find_spec
    return (CPU, *(name for name, module in _MODULES.items() if spec(f"{__name__}.{module}") is not None))


def read_device(on: Any) -> str:
    """A device's name, or an error that says which there are."""
    if not isinstance(on, str):
        raise ArgumentError(f"on: expected the name of a device, found {type(on).__name__}")
    names = device_names()
    if on not in names:
        raise ArgumentError(f"on: unknown device {on!r}: {hint(on, list(names))}")
    return on


def make_search(solver: Solver) -> Search:
    """The search of a solver on the device that its options name. What the device cannot take is refused at
    once, by name; a toolchain that is missing is a TargetError of the first call."""
    module = importlib.import_module(f"{__name__}.{_MODULES[solver.options.on]}")
    return cast(Search, module.make_search(solver))
