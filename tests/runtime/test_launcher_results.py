"""The launcher computes every row once, whatever the batch size, the threads and the alignment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robomorph.runtime import _native
from robomorph.runtime._native import NativeKernel
from tests.runtime.llvm_kernels import (
    Array,
    Code,
    Pair,
    axpy,
    axpy_expected,
    axpy_kernel,
    pair_expected,
    pair_kernel,
    sum_of_lanes,
)

BATCHES = [*range(71), 1000]
rng = np.random.default_rng(1)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize(("dtype", "lanes"), [("float64", 4), ("float32", 8), ("float64", 1)])
def test_all_batch_sizes_bit_for_bit(dtype: str, lanes: int, threads: int) -> None:
    kernel = axpy_kernel(dtype, lanes, threads=threads)
    for batch in BATCHES:
        x, y = rng.normal(size=(2, batch, 3)).astype(dtype)
        result = kernel(x, y)
        assert result.dtype == dtype
        assert np.array_equal(result, axpy_expected(x, y))
        assert np.array_equal(kernel._run_spawning((x, y)), result)
    assert kernel.slow == []


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_two_outputs_of_different_shapes(threads: int) -> None:
    kernel = pair_kernel(threads=threads)
    for batch in BATCHES:
        x, s = rng.normal(size=(batch, 2, 3)), rng.normal(size=batch)
        result, expected = kernel(x, s), pair_expected(x, s)
        assert type(result) is Pair
        assert np.array_equal(result.scaled, expected.scaled)
        assert np.array_equal(result.total, expected.total)


def test_leading_dimensions_are_kept() -> None:
    kernel = pair_kernel()
    for lead in [(), (1,), (5, 7), (2, 0, 3), (2, 3, 1, 4)]:
        x, s = rng.normal(size=(*lead, 2, 3)), rng.normal(size=lead)
        s = np.asarray(s)
        result = kernel(x, s)
        assert result.scaled.shape == (*lead, 2, 3)
        assert result.total.shape == lead
        assert np.array_equal(result.total, pair_expected(x, s).total)


def shifted(batch: int, offset: int) -> Array:
    """A (batch, 3) array that starts `offset` floats after the start of its buffer."""
    return np.zeros(batch * 3 + 32, np.float32)[offset : offset + batch * 3].reshape(batch, 3)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("batch", [1, 2, 5, 33])
def test_arrays_need_element_alignment_only(batch: int, threads: int) -> None:
    kernel = axpy_kernel("float32", 8, threads=threads)
    for offsets in [(1, 2, 3), (3, 1, 2), (5, 7, 13)]:
        x, y, out = (shifted(batch, offset) for offset in offsets)
        x[:], y[:] = rng.normal(size=(2, batch, 3))
        assert kernel(x, y, out=out) is out
        assert np.array_equal(out, axpy_expected(x, y))
    assert kernel.slow == []


@pytest.mark.parametrize("batch", [1, 3, 4, 6, 41])
def test_nothing_outside_the_output_is_written(batch: int) -> None:
    kernel = axpy_kernel(threads=2)
    buffer = np.full(batch * 3 + 64, 7.0)
    x, y = rng.normal(size=(2, batch, 3))
    kernel(x, y, out=buffer[32 : 32 + batch * 3].reshape(batch, 3))
    assert np.all(buffer[:32] == 7.0)
    assert np.all(buffer[32 + batch * 3 :] == 7.0)


def test_the_tail_is_padded_with_the_last_row() -> None:
    code = Code(sum_of_lanes("lane", "float64", 4))
    kernel = NativeKernel(
        lane_fn=code.address("lane"), lanes=4, in_shapes=((),), out_shapes=((),), dtype="float64", threads=1
    )
    assert kernel(np.array([1.0, 2.0, 3.0, 4.0, 10.0, 20.0])).tolist() == [10.0] * 4 + [70.0] * 2
    kernel.single_limit = 0
    assert kernel(np.array(5.0)) == 20.0


def test_single_limit_chooses_the_function() -> None:
    code = Code(axpy("lane", "float64", 4, 1, 2.0) + axpy("single", "float64", 1, 1, 3.0))
    kernel = NativeKernel(
        lane_fn=code.address("lane"),
        single_fn=code.address("single"),
        lanes=4,
        workspace=32,
        in_shapes=((1,), (1,)),
        out_shapes=((1,),),
        dtype="float64",
    )

    def factor(batch: int) -> set[float]:
        return set(kernel(np.ones((batch, 1)), np.zeros((batch, 1))).ravel().tolist())

    assert [factor(batch) for batch in (1, 2, 9)] == [{3.0}, {2.0}, {2.0}]
    kernel.single_limit = 9
    assert [factor(batch) for batch in (1, 8, 9)] == [{3.0}, {3.0}, {2.0}]


def test_several_blocks_at_once() -> None:
    """The function for several blocks takes what it can, the one for a block the rest."""
    code = Code(axpy("lane", "float64", 4, 1, 2.0) + axpy("blocks", "float64", 12, 1, 3.0))
    kernel = NativeKernel(
        lane_fn=code.address("lane"),
        lanes=4,
        workspace=96,
        in_shapes=((1,), (1,)),
        out_shapes=((1,),),
        dtype="float64",
        threads=1,
    )
    kernel.set_blocks_fn(code.address("blocks"), 3)

    def factors(batch: int) -> list[float]:
        return list(map(float, kernel(np.ones((batch, 1)), np.zeros((batch, 1))).ravel()))

    for batch in (2, 11, 12, 13, 24, 30):
        many = batch // 12 * 12
        assert factors(batch) == [3.0] * many + [2.0] * (batch - many)
    for address, blocks, error in ((1.5, 2, TypeError), (0, 1, ValueError), (0, 10**6, ValueError)):
        with pytest.raises(error):
            kernel.set_blocks_fn(address, blocks)  # type: ignore[arg-type]


def test_a_kernel_without_inputs_has_one_row() -> None:
    code = Code(
        "define void @single(ptr %in, ptr %out, ptr %w) {\n %p = load ptr, ptr %out\n"
        " store double 4.5, ptr %p\n ret void }"
    )
    kernel = NativeKernel(single_fn=code.address("single"), in_shapes=(), out_shapes=((),), dtype="float64")
    assert kernel() == 4.5


def test_rows_may_be_empty() -> None:
    code = Code("define void @lane(ptr %in, ptr %out, ptr %w) {\n ret void }")
    kernel = NativeKernel(
        lane_fn=code.address("lane"), lanes=4, in_shapes=((0,),), out_shapes=((0, 2),), dtype="float32"
    )
    assert kernel(np.zeros((5, 0), np.float32)).shape == (5, 0, 2)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"dtype": "int32"}, ValueError),
        ({"lanes": 0}, ValueError),
        ({"threads": -1}, ValueError),
        ({"threads": 10**6}, ValueError),
        ({"workspace": -1}, ValueError),
        ({"in_shapes": ((-1,),)}, ValueError),
        ({"in_shapes": (("a",),)}, TypeError),
        ({"in_shapes": ((2,) * 7,)}, ValueError),
        ({"in_shapes": ((2**31, 2**31),)}, ValueError),
        ({"in_shapes": ((1,),) * 33}, ValueError),
        ({"in_shapes": [(1,)]}, TypeError),
        ({"out_shapes": ()}, ValueError),
        ({"out_shapes": ((1,), (1,))}, ValueError),
        ({"out_shapes": ((1,),), "result_type": Pair}, ValueError),
        ({"result_type": int}, TypeError),
        ({"result_type": tuple}, AttributeError),
        ({"lane_fn": 1.5}, TypeError),
        ({"surprise": 1}, TypeError),
    ],
)
def test_bad_descriptions_are_refused(change: dict[str, Any], error: type[Exception]) -> None:
    good: dict[str, Any] = {"in_shapes": ((1,),), "out_shapes": ((1,),), "dtype": "float64"}
    NativeKernel(**good)
    with pytest.raises(error):
        NativeKernel(**(good | change))


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("workspace", -1),
        ("workspace", 2**41),
        ("threads", -1),
        ("threads", 1025),
        ("single_limit", -1),
        ("min_blocks_per_thread", 0),
        ("release_gil_above", -2),
    ],
)
def test_settings_are_checked(name: str, bad: int) -> None:
    kernel = axpy_kernel()
    before = getattr(kernel, name)
    with pytest.raises(ValueError, match=name):
        setattr(kernel, name, bad)
    with pytest.raises(TypeError):
        setattr(kernel, name, "many")
    with pytest.raises(AttributeError):
        delattr(kernel, name)
    assert getattr(kernel, name) == before


def test_description_is_readable_and_fixed() -> None:
    kernel = pair_kernel("float32", 8, threads=3, check_finite=False)
    assert (kernel.in_shapes, kernel.out_shapes) == (((2, 3), ()), ((2, 3), ()))
    assert (kernel.dtype, kernel.lanes, kernel.threads) == ("float32", 8, 3)
    assert kernel.result_type is Pair
    assert not kernel.check_finite
    assert kernel.lane_fn == kernel.code.address("lane")
    with pytest.raises(RuntimeError, match="twice"):
        NativeKernel.__init__(kernel, in_shapes=(), out_shapes=((),), dtype="float64")


def test_workspace_grows_with_the_functions() -> None:
    code = Code(axpy("lane", "float64", 64, 100, 2.0))
    shape = (100,)
    kernel = NativeKernel(lanes=64, in_shapes=(shape, shape), out_shapes=(shape,), dtype="float64", threads=2)
    kernel.workspace = 64 * 100 * 8
    kernel.set_lane_fn(code.address("lane"))
    x, y = rng.normal(size=(2, 330, 100))
    assert np.array_equal(kernel(x, y), 2.0 * x + y)
    with pytest.raises(ValueError, match="only grow"):
        kernel.workspace = 64 * 100 * 8 - 1
    assert kernel.workspace == 64 * 100 * 8


def test_workspace_is_aligned() -> None:
    code = Code(
        "define void @single(ptr %in, ptr %out, ptr %w) {\n %p = load ptr, ptr %out\n"
        " %address = ptrtoint ptr %w to i64\n %rest = and i64 %address, 63\n"
        " %number = uitofp i64 %rest to double\n store double %number, ptr %p\n ret void }"
    )
    for lanes, shape in [(1, (1,)), (3, (5,)), (4, (7, 3))]:
        kernel = NativeKernel(
            single_fn=code.address("single"),
            lanes=lanes,
            in_shapes=(shape,),
            out_shapes=((),),
            dtype="float64",
            threads=3,
            workspace=24,
        )
        kernel.single_limit = 10**6
        assert not kernel(np.zeros((40, *shape))).any()


def test_use_before_init_is_refused() -> None:
    kernel = NativeKernel.__new__(NativeKernel)
    with pytest.raises(RuntimeError, match="before"):
        kernel(np.zeros(3))
    with pytest.raises(RuntimeError, match="before"):
        kernel._run((np.zeros(3),))


def test_default_threads() -> None:
    before = _native.get_default_threads()
    try:
        _native.set_default_threads(3)
        assert _native.get_default_threads() == 3
        for bad in (0, -1, 5000):
            with pytest.raises(ValueError, match="between"):
                _native.set_default_threads(bad)
        assert _native.get_default_threads() == 3
    finally:
        _native.set_default_threads(before)
