"""What XLA calls: the native handler, registered once, and the kernels behind it, known by their digests.

Where this JAX does not take the handler, calls go through Python (`jax.pure_callback`), which is slower.
"""

from __future__ import annotations

import threading
import warnings
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from robomorph.errors import FallbackWarning
from robomorph.runtime._native import xla_add, xla_handler
from robomorph.runtime.values import UNIT_TOLERANCE

if TYPE_CHECKING:
    from robomorph.interop.jax.callee import Callee
    from robomorph.targets.cpu.kernel import Kernel

TARGET = "robomorph_call"
_MINORS = (3, 2, 1, 0)  # versions 0.x of XLA's interface that the handler knows
_added: set[tuple[str, int]] = set()
_called: dict[str, Kernel] = {}  # by digest: XLA calls what was added last, so always this one
_lock = threading.Lock()


@cache
def takes_handler() -> bool:
    """Does this JAX take the native handler? Asked once; tells by a warning if not."""
    with suppress(RuntimeError):  # there may be no CPU among JAX's platforms; nothing is called then
        jax.devices("cpu")  # a platform that has not started takes any handler, and fails when it starts
    faults = []
    for minor in _MINORS:
        try:
            jax.ffi.register_ffi_target(TARGET, xla_handler(minor), platform="cpu")
        except Exception as error:  # of jaxlib, without a common type
            faults.append(str(error).partition("\n")[0])
        else:
            return True
    warnings.warn(
        f"robomorph.jax: JAX {jax.__version__} does not take kernels as foreign functions ({faults[0]}):"
        " they are called through Python, some twenty times as slow for single states",
        FallbackWarning,
        stacklevel=2,
    )
    return False


def let_call(callee: Callee, rows: int | None) -> None:
    """Compile what calls of so many rows need (None: any number), and let XLA find it under the digest."""
    kernel = _called.setdefault(callee.digest, callee.kernel)  # equal robots share it
    for batch in (1, kernel.single_limit) if rows is None else (max(rows, 1),):
        single = int(batch < kernel.single_limit)
        if (callee.digest, single) not in _added:
            with _lock:
                kernel.prepare(batch)
                xla_add(callee.digest, kernel, bool(callee.kernels.units))
                _added.add((callee.digest, single))


def call_on_host(callee: Callee, *arrays: Any) -> tuple[Any, ...]:
    """What the handler does, by NumPy: rows whose quaternions have another length than one are NaN."""
    kernel = callee.kernel
    given = [np.asarray(array) for array in arrays]
    results = kernel(*given)
    results = (results,) if kernel.result_type is None else tuple(results)
    tolerance = UNIT_TOLERANCE[kernel.dtype]
    for part in callee.kernels.units:
        length = np.linalg.norm(given[0][..., part.start : part.stop], axis=-1)
        bad = ~(np.abs(length - 1) <= tolerance)
        for result in results if bad.any() else ():
            result[bad] = np.nan
    return results
