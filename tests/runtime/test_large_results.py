"""Large results: written past the cache with the same bits, in memory that is used again and bounded."""

from __future__ import annotations

import gc
import os
import pickle
import threading
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.runtime import _native
from tests.runtime.llvm_kernels import Array, axpy_expected, axpy_kernel, pair_expected, pair_kernel
from tests.soak.test_soak import resident

NEVER = 2**64 - 1
LARGE = 64 * 2**10  # bytes from which memory is used again
MOST_WAITING = 64 * 2**20
GROWTH = 8 * 2**20
rng = np.random.default_rng(17)


@pytest.fixture
def stream_above() -> Iterator[Callable[[int], None]]:
    before = _native.get_stream_above()
    yield _native.set_stream_above
    _native.set_stream_above(before)


@pytest.fixture(autouse=True)
def no_memory_waits() -> Iterator[None]:
    _native.drop_buffers()
    yield
    _native.drop_buffers()


def placed(shape: tuple[int, ...], dtype: str, offset: int) -> tuple[Array, Array]:
    """An array that begins `offset` elements after a line does, and the buffer around it, all ones."""
    size, item = int(np.prod(shape)), np.dtype(dtype).itemsize
    around = np.ones(size + 256 // item, dtype)
    line = -around.ctypes.data % 64 // item
    start = 64 // item + line + offset
    return around[start : start + size].reshape(shape), around


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("dtype", "lanes"), [("float64", 4), ("float32", 8), ("float64", 1)])
def test_streamed_results_have_the_same_bits(
    dtype: str, lanes: int, threads: int, stream_above: Callable[[int], None]
) -> None:
    kernel = axpy_kernel(dtype, lanes, threads=threads)
    stream_above(0)
    for batch in (*range(2, 40), 1001):
        x, y = rng.normal(size=(2, batch, 3)).astype(dtype)
        assert np.array_equal(kernel(x, y), axpy_expected(x, y))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("batch", [5, 8, 67])
def test_streaming_writes_nothing_around_its_arrays(
    batch: int, threads: int, stream_above: Callable[[int], None]
) -> None:
    kernel = pair_kernel(threads=threads)
    x, s = rng.normal(size=(batch, 2, 3)), rng.normal(size=batch)
    expected = pair_expected(x, s)
    stream_above(0)
    for offset in range(8):
        (scaled, around), (total, beside) = (
            placed((batch, 2, 3), "float64", offset),
            placed((batch,), "float64", 7 - offset),
        )
        kernel(x, s, out=(scaled, total))
        assert np.array_equal(scaled, expected.scaled) and np.array_equal(total, expected.total)
        scaled[...], total[...] = 1.0, 1.0
        assert np.all(around == 1.0) and np.all(beside == 1.0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["iiwa14", "hyq"])
def test_a_robots_gradient_has_the_same_bits(
    name: str, dtype: Any, stream_above: Callable[[int], None]
) -> None:
    robot = robomorph.load(name)
    kernel = robot.compile("forward_dynamics_gradient", dtype=dtype, threads=2)
    for batch in (kernel.lanes, 331):
        args = [rng.normal(size=(batch, robot.nv)).astype(dtype) for _ in range(3)]
        stream_above(NEVER)
        plain = kernel(*args)
        stream_above(0)
        streamed = kernel(*args)
        for a, b in zip(plain, streamed, strict=True):
            assert a.tobytes() == b.tobytes()


def test_bad_numbers_leave_outputs_alone_when_streaming(stream_above: Callable[[int], None]) -> None:
    kernel = axpy_kernel(threads=1)
    x, y = rng.normal(size=(2, 50, 3))
    out = np.full((50, 3), 7.0)
    y[33, 1] = np.nan
    stream_above(0)
    with pytest.raises(ArithmeticError):
        kernel(x, y, out=out)
    assert np.all(out == 7.0)


def test_the_threshold_is_a_number_of_bytes(stream_above: Callable[[int], None]) -> None:
    stream_above(12345)
    assert _native.get_stream_above() == 12345
    for wrong in (-1, 2**64):
        with pytest.raises(OverflowError):
            stream_above(wrong)
    with pytest.raises(TypeError):
        stream_above("much")  # type: ignore[arg-type]
    assert _native.get_stream_above() == 12345


def large(kernel: Any, rows: int = 10_000) -> tuple[Array, Array, Array]:
    x, y = rng.normal(size=(2, rows, 3))
    return kernel(x, y), x, y


def test_memory_of_a_dropped_result_is_used_again() -> None:
    kernel = axpy_kernel()
    result, x, y = large(kernel)
    place = result.ctypes.data
    del result
    assert _native.waiting_buffers() >= x.nbytes
    again = kernel(x, y)
    assert again.ctypes.data == place
    assert _native.waiting_buffers() == 0
    assert np.array_equal(again, axpy_expected(x, y))


def test_small_results_are_numpys_own() -> None:
    kernel = axpy_kernel()
    x, y = rng.normal(size=(2, LARGE // 24, 3))
    assert x.nbytes < LARGE
    kernel(x, y)
    assert _native.waiting_buffers() == 0


def test_a_view_keeps_the_memory() -> None:
    kernel = axpy_kernel()
    result, x, y = large(kernel)
    view = result[10:20]
    expected = axpy_expected(x, y)[10:20]
    del result
    for _ in range(3):
        kernel(-x, -y)
    assert np.array_equal(view, expected)


def test_results_are_ordinary_arrays() -> None:
    kernel = axpy_kernel()
    result, x, y = large(kernel)
    assert type(result) is np.ndarray
    assert result.flags.owndata and result.flags.writeable and result.flags.c_contiguous
    assert result.base is None
    assert np.array_equal(pickle.loads(pickle.dumps(result)), result)
    assert np.array_equal(np.frombuffer(result).reshape(-1, 3), result)
    result += 1.0
    assert np.array_equal(result, axpy_expected(x, y) + 1.0)


@pytest.mark.parametrize("rows", [0, 1, 5_000, 9_999, 10_001, 40_000])
def test_results_can_be_resized_in_place(rows: int) -> None:
    kernel = axpy_kernel()
    result, x, y = large(kernel)
    expected = np.zeros((rows, 3))
    kept = min(rows, 10_000)
    expected[:kept] = axpy_expected(x, y)[:kept]
    result.resize((rows, 3), refcheck=False)
    assert np.array_equal(result, expected)
    del result
    assert np.array_equal(kernel(x, y), axpy_expected(x, y))


def test_a_refused_call_gives_its_memory_back() -> None:
    kernel = axpy_kernel()
    x, y = rng.normal(size=(2, 10_000, 3))
    y[-1] = np.inf
    with pytest.raises(ArithmeticError):
        kernel(x, y)
    assert _native.waiting_buffers() >= x.nbytes


def test_no_more_memory_waits_than_is_allowed() -> None:
    kernel = axpy_kernel()
    kept = [large(kernel, 100_000)[0] for _ in range(40)]
    assert sum(k.nbytes for k in kept) > MOST_WAITING
    kept.clear()
    assert 0 < _native.waiting_buffers() <= MOST_WAITING
    large(kernel, 3_000_000)  # alone more than that
    assert _native.waiting_buffers() <= MOST_WAITING
    _native.drop_buffers()
    assert _native.waiting_buffers() == 0


def changing_sizes(kernel: Any, calls: int, seed: int) -> None:
    """Calls whose results have from 1 kB to 6 MB, some of them kept for a while."""
    sizes = np.random.default_rng(seed)
    x = np.ones((250_000, 3))
    kept: list[Array] = []
    for rows in np.exp(sizes.uniform(np.log(40), np.log(250_000), calls)).astype(int):
        kept.append(kernel(x[:rows], x[:rows]))
        assert kept[-1][-1, 2] == 3.5
        del kept[: max(0, len(kept) - 3)]


def check_memory_stays_flat(calls: int) -> None:
    kernel = axpy_kernel(threads=1)
    changing_sizes(kernel, 1000, 0)
    gc.collect()
    _native.drop_buffers()
    before = resident()
    changing_sizes(kernel, calls, 1)
    assert _native.waiting_buffers() <= MOST_WAITING
    assert resident() - before < MOST_WAITING + GROWTH
    _native.drop_buffers()
    gc.collect()
    assert resident() - before < GROWTH, f"{(resident() - before) / 2**20:.1f} MB more"


def test_memory_stays_flat_over_calls_of_changing_sizes() -> None:
    check_memory_stays_flat(2000)


@pytest.mark.soak
def test_memory_stays_flat_over_many_calls_of_changing_sizes() -> None:
    check_memory_stays_flat(100_000)


def test_threads_get_memory_of_their_own() -> None:
    kernel = axpy_kernel(threads=1)
    wrong: list[int] = []

    def work(seed: int) -> None:
        x, y = np.random.default_rng(seed).normal(size=(2, 4_000 + seed, 3))
        expected = axpy_expected(x, y)
        before = kernel(x, y)
        for _ in range(200):
            result = kernel(x, y)
            if not (np.array_equal(result, expected) and np.array_equal(before, expected)):
                wrong.append(seed)
            before = result

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def _sum_in_child(connection: Any, kernel: Any, x: Array, y: Array) -> None:
    results = [kernel(x, y) for _ in range(3)]
    connection.send([float(r.sum()) for r in results])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_has_memory_of_its_own() -> None:
    kernel = axpy_kernel(threads=1)
    result, x, y = large(kernel)
    del result  # its memory waits in both processes
    here, there = get_context("fork").Pipe()
    child = get_context("fork").Process(target=_sum_in_child, args=(there, kernel, -x, -y))
    child.start()
    mine = kernel(x, y)
    assert here.poll(60)
    assert here.recv() == [float(axpy_expected(-x, -y).sum())] * 3
    child.join(60)
    assert child.exitcode == 0
    assert np.array_equal(mine, axpy_expected(x, y))
