"""Millions of evaluations of every function, threads coming and going: memory stays flat, no thread leaks.

`pytest tests/soak -m soak` makes ten million evaluations; ROBOMORPH_SOAK_EVALUATIONS says another number.
"""

from __future__ import annotations

import gc
import math
import os
import resource
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.algorithms.registry import state_algorithms
from robomorph.runtime import _native
from tests.oracle.calls import sample

EVALUATIONS = int(os.environ.get("ROBOMORPH_SOAK_EVALUATIONS", "10000000"))
SIZES = (1, 2, 9, 64, 300)
WARM_ROUNDS, ROUNDS = 3, 20
GROWTH = 8 * 2**20  # bytes: allocators keep some, a leak of one result per call would be far more


def resident() -> int:
    """Bytes of memory in use now (Linux), or at most so far."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * resource.getpagesize()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def native_threads() -> int:
    """Threads of this process, Python's or not."""
    tasks = Path("/proc/self/task")
    return len(list(tasks.iterdir())) if tasks.exists() else threading.active_count()


def settled_threads(expected: int) -> int:
    """Threads left after a moment: the system ends a thread a little after it is joined."""
    deadline = time.monotonic() + 2.0
    while native_threads() > expected and time.monotonic() < deadline:
        time.sleep(0.01)
    return native_threads()


def make_calls() -> list[Callable[[], None]]:
    """One callable per algorithm, dtype and batch size; each checks that its answer never changes."""
    robot = robomorph.load("iiwa14")
    calls = []
    for name, algorithm in state_algorithms().items():
        frame = robot.link_names[-1] if algorithm.frame else None
        for dtype in ("float32", "float64"):
            kernel = robot.compile(name, dtype=dtype, frame=frame)
            for size in SIZES:
                args = sample(robot, size, size).astype(dtype).arguments(name)
                calls.append(_call(kernel, args))
    return calls


def _call(kernel: Any, args: list[Any]) -> Callable[[], None]:
    def flat() -> bytes:
        result = kernel(*args)
        arrays = result if isinstance(result, tuple) else (result,)
        return b"".join(a.tobytes() for a in arrays)

    expected = flat()

    def check() -> None:
        if flat() != expected:
            raise AssertionError(f"{kernel!r} gave another answer")

    return check


def run_round(calls: list[Callable[[], None]], repeats: int, errors: list[BaseException]) -> None:
    """Every call from several Python threads that end with the round; the pool ends and starts in between."""

    def work(order: Any) -> None:
        try:
            for index in order:
                calls[index]()
        except BaseException as error:
            errors.append(error)

    rng = np.random.default_rng(repeats)
    threads = [
        threading.Thread(target=work, args=(rng.permutation(np.tile(np.arange(len(calls)), repeats)),))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _native.shutdown_pool()
    assert _native.pool_size() == 0


@pytest.mark.soak
def test_memory_and_threads_stay_flat() -> None:
    calls = make_calls()
    rows_of_a_pass = 3 * sum(SIZES) * 2 * len(state_algorithms())
    repeats = math.ceil(EVALUATIONS / (rows_of_a_pass * (ROUNDS + WARM_ROUNDS)))
    errors: list[BaseException] = []
    for _ in range(WARM_ROUNDS):
        run_round(calls, repeats, errors)
    gc.collect()
    memory, threads = resident(), native_threads()
    for _ in range(ROUNDS):
        run_round(calls, repeats, errors)
        assert not errors, errors[0]
        assert settled_threads(threads) <= threads, "threads are left behind"
    gc.collect()
    assert resident() - memory < GROWTH, f"{(resident() - memory) / 2**20:.1f} MB more than at the start"
    done = rows_of_a_pass * repeats * (ROUNDS + WARM_ROUNDS)
    assert done >= EVALUATIONS
    print(f"{done:,} evaluations, {(resident() - memory) / 2**20:.1f} MB more, {threads} threads")


@pytest.mark.soak
def test_robots_and_kernels_can_be_dropped() -> None:
    """Loading, compiling (from the cache) and dropping robots again and again keeps memory flat."""

    def once() -> None:
        robot = robomorph.load("chain:4")
        q = np.zeros((3, 4))
        robot.inverse_dynamics(q, q, q)
        robot.forward_dynamics(q, q, q)

    for _ in range(30):
        once()
    gc.collect()
    memory = resident()
    for _ in range(200):
        once()
    gc.collect()
    assert resident() - memory < 3 * GROWTH, f"{(resident() - memory) / 2**20:.1f} MB more"
