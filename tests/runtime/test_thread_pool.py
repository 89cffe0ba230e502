"""The thread pool: many callers, sleeping workers, forked children and the end of the process."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from robomorph.runtime import _native
from tests.runtime.llvm_kernels import Array, Recorder, axpy_expected, axpy_kernel

TIMEOUT_S = 30.0


def batch_of(rows: int, seed: int = 0) -> tuple[Array, Array]:
    x, y = np.random.default_rng(seed).normal(size=(2, rows, 3))
    return x, y


def check(kernel: Recorder, rows: int, seed: int = 0) -> None:
    x, y = batch_of(rows, seed)
    assert np.array_equal(kernel(x, y), axpy_expected(x, y))


def test_pool_grows_to_what_is_asked_and_ends_on_request() -> None:
    assert _native.shutdown_pool()
    assert _native.pool_size() == 0
    kernel = axpy_kernel(threads=1)
    check(kernel, 1000)
    assert _native.pool_size() == 0
    for threads, expected in [(3, 2), (2, 2), (5, 4)]:
        kernel.threads = threads
        check(kernel, 1000)
        assert _native.pool_size() == expected
    assert _native.shutdown_pool()
    assert _native.pool_size() == 0
    check(kernel, 1000)
    assert _native.pool_size() == 4


def test_small_batches_stay_on_the_caller() -> None:
    _native.shutdown_pool()
    kernel = axpy_kernel(threads=8)
    check(kernel, 4)
    assert _native.pool_size() == 0
    kernel.min_blocks_per_thread = 10
    check(kernel, 4 * 19)
    assert _native.pool_size() == 0
    check(kernel, 4 * 30)
    assert _native.pool_size() == 2


def test_no_more_threads_than_blocks() -> None:
    _native.shutdown_pool()
    check(axpy_kernel(threads=8), 10)
    assert _native.pool_size() == 2


def test_zero_threads_means_the_global_default() -> None:
    before = _native.get_default_threads()
    _native.shutdown_pool()
    try:
        _native.set_default_threads(4)
        check(axpy_kernel(), 1000)
        assert _native.pool_size() == 3
    finally:
        _native.set_default_threads(before)


def test_spawning_does_not_use_the_pool() -> None:
    _native.shutdown_pool()
    kernel = axpy_kernel(threads=4)
    x, y = batch_of(999)
    assert np.array_equal(kernel._run_spawning((x, y)), axpy_expected(x, y))
    assert _native.pool_size() == 0


def test_workers_wake_after_sleeping() -> None:
    kernel = axpy_kernel(threads=3)
    for pause in (0.0, 0.0002, 0.01, 0.0, 0.05):
        time.sleep(pause)
        check(kernel, 500)


def test_many_calls_in_a_row() -> None:
    kernel = axpy_kernel(threads=3)
    x, y = batch_of(12)
    expected, out = axpy_expected(x, y), np.empty((12, 3))
    for _ in range(5000):
        out.fill(np.nan)
        kernel(x, y, out=out)
        assert np.array_equal(out, expected)


def _run_in_threads(functions: list[Callable[[], None]]) -> None:
    failures: list[BaseException] = []

    def guarded(function: Callable[[], None]) -> None:
        try:
            function()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT_S)
    assert not any(thread.is_alive() for thread in threads)
    assert failures == []


def test_concurrent_python_threads() -> None:
    kernel = axpy_kernel(threads=3)
    kernel.release_gil_above = 0

    def work(seed: int) -> Callable[[], None]:
        def repeat() -> None:
            for turn in range(150):
                check(kernel, 1 + (turn * 37 + seed) % 700, seed)

        return repeat

    _run_in_threads([work(seed) for seed in range(6)])


def test_shutdown_while_others_call() -> None:
    kernel = axpy_kernel(threads=3)

    def call() -> None:
        for turn in range(200):
            check(kernel, 300 + turn)

    def shut_down() -> None:
        for _ in range(100):
            _native.shutdown_pool()
            time.sleep(0.0002)

    _run_in_threads([call, call, shut_down])


def _wait(child: int) -> int:
    """Exit code of a child process; kills it and fails when it hangs."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid == child:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, 9)
    os.waitpid(child, 0)
    pytest.fail("the forked child hangs")


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_forked_child_has_a_working_pool() -> None:
    kernel = axpy_kernel(threads=3)
    check(kernel, 1000)
    workers = _native.pool_size()
    assert workers >= 2
    child = os.fork()
    if child == 0:
        code = 1
        try:
            empty = _native.pool_size() == 0
            check(kernel, 1000, seed=1)
            code = 0 if empty and _native.pool_size() == 2 and _native.shutdown_pool() else 2
        finally:
            os._exit(code)
    assert _wait(child) == 0
    assert _native.pool_size() == workers
    check(kernel, 1000, seed=2)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_fork_while_another_thread_is_calling() -> None:
    kernel = axpy_kernel(threads=2)
    x, y = batch_of(50_000)
    stop = threading.Event()

    def keep_calling() -> None:
        out = np.empty_like(x)
        while not stop.is_set():
            kernel(x, y, out=out)

    caller = threading.Thread(target=keep_calling)
    caller.start()
    try:
        small = batch_of(64)
        expected = axpy_expected(*small)
        for _ in range(10):
            child = os.fork()
            if child == 0:
                os._exit(0 if np.array_equal(kernel(*small), expected) else 1)
            assert _wait(child) == 0
    finally:
        stop.set()
        caller.join(TIMEOUT_S)


def _python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


@pytest.mark.parametrize("pause", [0.0, 0.01])
def test_process_ends_with_workers_spinning_or_asleep(pause: float) -> None:
    result = _python(
        f"""
        import time
        import numpy as np
        from tests.runtime.llvm_kernels import axpy_kernel
        kernel = axpy_kernel(threads=4)
        kernel(np.ones((100, 3)), np.ones((100, 3)))
        time.sleep({pause})
        print("end")
        """,
        PYTHONPATH=os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")]),
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "end\n", "")


SHOW_DEFAULT = "from robomorph.runtime import _native; print(_native.get_default_threads())"


def test_environment_sets_the_default_threads() -> None:
    assert _python(SHOW_DEFAULT, ROBOMORPH_NUM_THREADS="5").stdout == "5\n"


@pytest.mark.parametrize("text", ["0", "-2", "many", "3x", "99999999999999999999"])
def test_bad_environment_is_ignored_with_a_warning(text: str) -> None:
    result = _python(SHOW_DEFAULT, ROBOMORPH_NUM_THREADS=text)
    assert int(result.stdout) >= 1
    assert "ROBOMORPH_NUM_THREADS" in result.stderr
    assert "RuntimeWarning" in result.stderr


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the platform has no CPU affinity")
def test_default_is_the_affinity_mask() -> None:
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); " + SHOW_DEFAULT
    assert _python(code, ROBOMORPH_NUM_THREADS="").stdout == "1\n"
