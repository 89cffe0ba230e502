"""Times that `robomorph compile` prints: per call, and from `load` to the first gradient."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from robomorph.loading import load
from robomorph.runtime.environment import cache_folder

_ROUNDS = 5
_ROUND_SECONDS = 0.01


class FirstGradient(NamedTuple):
    """Seconds from `load` to the first result of forward_dynamics_gradient, imports not counted."""

    nothing_cached: float
    cached: float


def first_gradient(source: str, options: dict[str, Any], dtype: str) -> FirstGradient:
    """Measured with a cache folder of its own: empty the first time, filled by that the second time."""
    with tempfile.TemporaryDirectory(prefix="robomorph-") as folder, cache_folder(folder):
        return FirstGradient(*(_load_and_differentiate(source, options, dtype) for _ in range(2)))


def _load_and_differentiate(source: str, options: dict[str, Any], dtype: str) -> float:
    from robomorph.compiler.fingerprint import source_fingerprint

    source_fingerprint.cache_clear()  # a new process would have to ask again
    start = time.perf_counter()
    robot = load(source, **options)
    q, qd = robot.neutral.astype(dtype), np.zeros(robot.nv, dtype)
    robot.forward_dynamics_gradient(q, qd, qd)
    return time.perf_counter() - start


def seconds_per_call(call: Callable[[], object]) -> float:
    """The best of a few rounds, each long enough for the clock."""
    call()
    count = 1
    while (once := _round(call, count)) < _ROUND_SECONDS:
        count = max(2 * count, int(1.2 * count * _ROUND_SECONDS / max(once, 1e-9)))
    return min(_round(call, count) for _ in range(_ROUNDS)) / count


def _round(call: Callable[[], object], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return time.perf_counter() - start
