"""Which arguments take the fast path, and what reaches the Python methods otherwise."""

from __future__ import annotations

import gc
import sys
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from robomorph.runtime._native import NativeKernel
from tests.runtime.llvm_kernels import (
    Array,
    Code,
    Pair,
    Recorder,
    axpy_expected,
    axpy_kernel,
    pair_expected,
    pair_kernel,
)


def good(batch: int = 6) -> tuple[Array, Array]:
    return np.arange(batch * 3.0).reshape(batch, 3), np.ones((batch, 3))


UNFIT_INPUTS: dict[str, Callable[[Array], object]] = {
    "strided": lambda x: np.repeat(x, 2, axis=0)[::2],
    "column order": lambda x: np.asfortranarray(x),
    "other dtype": lambda x: x.astype(np.float32),
    "integers": lambda x: x.astype(np.int64),
    "byte order": lambda x: x.astype(">f8"),
    "list": lambda x: x.tolist(),
    "number": lambda x: 1.0,
    "subclass": lambda x: np.ma.masked_array(x),
    "trailing shape": lambda x: np.ones((6, 4)),
    "too few dimensions": lambda x: np.array(1.0),
    "other batch": lambda x: x[:5],
    "broadcast": lambda x: x[0],
    "misaligned": lambda x: np.frombuffer(b"\0" + x.tobytes(), np.float64, offset=1).reshape(x.shape),
}


@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize("make", UNFIT_INPUTS.values(), ids=UNFIT_INPUTS.keys())
def test_unfit_inputs_go_to_the_slow_path(make: Callable[[Array], object], position: int) -> None:
    kernel = axpy_kernel()
    args: list[object] = list(good())
    args[position] = make(good()[position])
    assert kernel(*args) == "slow"
    [(seen, out)] = kernel.slow
    assert out is None
    assert all(a is b for a, b in zip(seen, args, strict=True))
    with pytest.raises(TypeError, match="argument"):
        kernel._run(tuple(args))


def test_wrong_number_of_arguments_goes_to_the_slow_path() -> None:
    kernel = axpy_kernel()
    x, y = good()
    for args in [(), (x,), (x, y, x)]:
        assert kernel(*args) == "slow"
        with pytest.raises(TypeError, match=r"missing|too many"):
            kernel._run(args)


def test_unknown_keywords_are_refused() -> None:
    kernel = axpy_kernel()
    with pytest.raises(TypeError, match="'into'"):
        kernel(*good(), into=None)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'q'"):
        kernel(*good(), out=None, q=1)  # type: ignore[call-arg]
    keywords = {"".join(["o", "ut"]): np.empty((6, 3))}  # a name that is equal but not the same object
    assert kernel(*good(), **keywords) is keywords["out"]


def test_out_is_filled_and_returned() -> None:
    x, y = good()
    out = np.full((6, 3), np.nan)
    kernel = axpy_kernel()
    assert kernel(x, y, out=out) is out
    assert np.array_equal(out, axpy_expected(x, y))
    assert kernel._run((x, y), out) is out
    assert kernel(x, y, out=None) is not out


def test_tuple_out_is_filled_and_returned() -> None:
    x, s = np.arange(54.0).reshape(9, 2, 3), np.arange(9.0)
    kernel = pair_kernel()
    for out in (Pair(np.empty((9, 2, 3)), np.empty(9)), (np.empty((9, 2, 3)), np.empty(9))):
        assert kernel(x, s, out=out) is out
        assert np.array_equal(out[1], pair_expected(x, s).total)
    for bad in ([np.empty((9, 2, 3)), np.empty(9)], (np.empty((9, 2, 3)),), np.empty((9, 2, 3))):
        assert kernel(x, s, out=bad) == "slow"


def _readonly(x: Array) -> Array:
    out = np.empty((6, 3))
    out.flags.writeable = False
    return out


UNFIT_OUTPUTS: dict[str, Callable[[Array], object]] = {
    "shape": lambda x: np.empty((6, 4)),
    "batch": lambda x: np.empty((5, 3)),
    "more dimensions": lambda x: np.empty((1, 6, 3)),
    "dtype": lambda x: np.empty((6, 3), np.float32),
    "read-only": _readonly,
    "strided": lambda x: np.empty((12, 3))[::2],
    "tuple": lambda x: (np.empty((6, 3)),),
    "the input": lambda x: x,
    "a view of the input": lambda x: x.reshape(3, 6).reshape(6, 3),
}


@pytest.mark.parametrize("make", UNFIT_OUTPUTS.values(), ids=UNFIT_OUTPUTS.keys())
def test_unfit_outputs_go_to_the_slow_path(make: Callable[[Array], object]) -> None:
    kernel = axpy_kernel()
    x, y = good()
    before = x.copy()
    out = make(x)
    assert kernel(x, y, out=out) == "slow"
    assert kernel.slow[0][1] is out
    assert np.array_equal(x, before)
    with pytest.raises(TypeError, match="output"):
        kernel._run((x, y), out)


def test_partial_overlap_is_noticed_and_neighbours_are_not() -> None:
    kernel = axpy_kernel()
    buffer, y = np.zeros(60), np.ones((6, 3))
    x = buffer[18:36].reshape(6, 3)
    results = {s: kernel(x, y, out=buffer[s : s + 18].reshape(6, 3)) for s in (0, 1, 18, 35, 36)}
    assert [start for start, result in results.items() if isinstance(result, str)] == [1, 18, 35]


def test_overlapping_outputs_are_noticed() -> None:
    kernel = pair_kernel()
    buffer = np.zeros(70)
    out = Pair(buffer[:54].reshape(9, 2, 3), buffer[53:62])
    assert kernel(np.ones((9, 2, 3)), np.ones(9), out=out) == "slow"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nonfinite_values_are_found_anywhere(bad: float, dtype: str) -> None:
    kernel = axpy_kernel(dtype)
    for batch in (1, 2, 7, 11, 44, 61):  # up to, at and past the 32 or 64 numbers that are scanned at a time
        for position in range(batch * 3):
            x, y = np.ones((2, batch, 3), dtype)
            y.flat[position] = bad
            with pytest.raises(ArithmeticError):
                kernel(x, y)
            assert kernel.nonfinite.pop()[1] is y


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_extreme_finite_values_pass_the_scan(dtype: str) -> None:
    kernel, limits = axpy_kernel(dtype), np.finfo(dtype)
    tiniest = limits.smallest_subnormal
    values = [limits.max, -limits.max, limits.tiny, tiniest, -tiniest, -0.0]
    for batch in (1, 7, 11, 40):
        for start in range(8):  # in any lane of a vector, wherever the array begins
            y = np.zeros(batch * 3 + 8, dtype)[start : start + batch * 3].reshape(batch, 3)
            y[...] = np.resize(np.roll(values, start), y.shape)
            assert np.array_equal(kernel(np.zeros_like(y), y), y)


def test_scan_can_be_switched_off() -> None:
    kernel = axpy_kernel()
    kernel.threads = 1  # on several, the parts without NaN are written
    x, y = good()
    y[2, 1] = np.nan
    out = np.zeros((6, 3))
    with pytest.raises(ArithmeticError):
        kernel(x, y, out=out)
    assert not out.any()
    kernel.check_finite = False
    assert np.array_equal(np.isnan(kernel(x, y)), np.isnan(y))


def test_functions_are_prepared_when_first_needed() -> None:
    kernel = axpy_kernel(lazy=True)
    x, y = good(0)
    assert kernel(x, y).shape == (0, 3)
    assert kernel.prepared == []
    x, y = good(1)
    assert np.array_equal(kernel(x, y), axpy_expected(x, y))
    x, y = good(6)
    assert np.array_equal(kernel(x, y), axpy_expected(x, y))
    assert kernel.prepared == [1]
    kernel.set_lane_fn(0)
    kernel(*good(9))
    assert kernel.prepared == [1, 9]


class Failing(Recorder):
    """Each Python method fails in its own way."""

    def _prepare(self, batch: int, /) -> None:
        raise KeyError("prepare")

    def _slow_call(self, args: tuple[object, ...], out: object = None, /) -> Any:
        raise LookupError("slow")

    def _report_bad_values(self, args: tuple[object, ...], /) -> None:
        """Wrong: must raise."""


def failing_kernel(**keywords: Any) -> Failing:
    code = axpy_kernel().code
    return Failing(code, in_shapes=((3,), (3,)), out_shapes=((3,),), dtype="float64", **keywords)


def test_exceptions_of_python_methods_reach_the_caller() -> None:
    kernel = failing_kernel()
    with pytest.raises(KeyError, match="prepare"):
        kernel(*good())
    with pytest.raises(LookupError, match="slow"):
        kernel(1)
    kernel.set_lane_fn(kernel.code.address("lane"))
    with pytest.raises(RuntimeError, match="must raise"):
        kernel(np.full((6, 3), np.nan), np.ones((6, 3)))


def test_prepare_that_sets_nothing_is_an_error() -> None:
    class Forgetful(Recorder):
        def _prepare(self, batch: int, /) -> None:
            pass

    kernel = Forgetful(Code(""), in_shapes=((),), out_shapes=((),), dtype="float64")
    with pytest.raises(RuntimeError, match="did not set"):
        kernel(np.zeros(3))


def test_base_methods_explain_themselves() -> None:
    kernel = NativeKernel(in_shapes=((3,),), out_shapes=((),), dtype="float64")
    with pytest.raises(RuntimeError, match="batch of 4 rows"):
        kernel(np.zeros((4, 3)))
    with pytest.raises(TypeError, match="float64"):
        kernel([1.0, 2.0, 3.0])


def test_subclasses_may_replace_call() -> None:
    class Doubling(Recorder):
        def __call__(self, *args: object, out: object = None) -> Any:
            return 2 * super().__call__(*args, out=out)

    base = axpy_kernel()
    kernel = Doubling(
        base.code,
        lane_fn=base.lane_fn,
        lanes=4,
        workspace=base.workspace,
        in_shapes=((3,), (3,)),
        out_shapes=((3,),),
        dtype="float64",
    )
    assert np.array_equal(kernel(*good()), 2 * base(*good()))


def test_kernels_in_cycles_are_collected() -> None:
    class Linked(Recorder):
        me: Any

    kernel = Linked(Code(""), in_shapes=((),), out_shapes=((),), dtype="float64")
    kernel.me = kernel
    gone = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert gone() is None


def _attempt(function: Callable[[], object]) -> None:
    try:
        function()
    except (ArithmeticError, KeyError, LookupError, RuntimeError, TypeError):
        return


def plain_kernel(**keywords: Any) -> NativeKernel:
    return NativeKernel(in_shapes=((1,),), out_shapes=((),), dtype="float32", **keywords)


def _leak_candidates() -> dict[str, tuple[int, Callable[[], object], list[object]]]:
    axpy_one, pair, failing = axpy_kernel(), pair_kernel(), failing_kernel()
    x, y = good()
    nan = np.full((6, 3), np.nan)
    out = np.empty((6, 3))
    xs, s = np.ones((9, 2, 3)), np.ones(9)
    pair_out = Pair(np.empty((9, 2, 3)), np.empty(9))
    silent = axpy_kernel()
    silent.slow = silent.nonfinite = _Void()
    watched: list[object] = [x, y, nan, out, xs, s, pair_out, Pair, axpy_one, pair, failing, silent]
    return {
        "fast": (100_000, lambda: axpy_one(x, y), watched),
        "out": (20_000, lambda: axpy_one(x, y, out=out), watched),
        "named tuple": (20_000, lambda: pair(xs, s), watched),
        "named tuple out": (20_000, lambda: pair(xs, s, out=pair_out), watched),
        "slow": (10_000, lambda: silent(x, 1), watched),
        "unfit out": (10_000, lambda: silent(x, y, out=x), watched),
        "not finite": (10_000, lambda: _attempt(lambda: silent(nan, y)), watched),
        "prepare fails": (10_000, lambda: _attempt(lambda: failing(x, y)), watched),
        "slow call fails": (10_000, lambda: _attempt(lambda: failing(x)), watched),
        "run refuses": (10_000, lambda: _attempt(lambda: pair._run((x, y))), watched),
        "bad keyword": (10_000, lambda: _attempt(lambda: axpy_one(x, y, **{"q": 1})), watched),
        "bad init": (5_000, lambda: _attempt(lambda: plain_kernel(result_type=int)), watched),
        "new kernel": (2_000, lambda: plain_kernel(), watched),
    }


class _Void(list[Any]):
    """Keeps nothing, so that the notes of a Recorder are not taken for a leak."""

    def append(self, item: object) -> None:
        """Forgets the item."""


@pytest.mark.parametrize("case", _leak_candidates().keys())
def test_no_call_leaks(case: str) -> None:
    repeats, function, watched = _leak_candidates()[case]
    for _ in range(200):
        function()
    gc.collect()
    counts = [sys.getrefcount(item) for item in watched]
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(repeats):
            function()
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert [sys.getrefcount(item) for item in watched] == counts
    assert grown < 20_000  # one lost reference per call would be at least 16 bytes times `repeats`
