"""Arrays given for results: none may lose a result, whatever memory they share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from robomorph import ArgumentError
from robomorph.targets.gpu.cuda.interop import CudaArray
from tests.hostile.targets import FLEXIBLE, TARGETS, Array, kernel, states
from tests.oracle.compare import assert_same_bits
from tests.targets.gpu.toolchains import needs_opencl

GRADIENT = "inverse_dynamics_gradient"
NV = 2


def same(lead: tuple[int, ...]) -> tuple[Array, Array]:
    x = np.zeros((*lead, NV, NV))
    return x, x


def shifted(lead: tuple[int, ...]) -> tuple[Array, Array]:
    """Halves of one buffer that have one entry in common."""
    size = int(np.prod((*lead, NV, NV)))
    buffer = np.zeros(2 * size - 1)
    return buffer[:size].reshape(*lead, NV, NV), buffer[size - 1 :].reshape(*lead, NV, NV)


def transposed(lead: tuple[int, ...]) -> tuple[Array, Array]:
    x = np.zeros((*lead, NV, NV))
    return x, x.swapaxes(-1, -2)


def strided(lead: tuple[int, ...]) -> tuple[Array, Array]:
    """Neither is contiguous: columns 0 and 1 of three, and columns 1 and 2."""
    wide = np.zeros((*lead, NV, NV + 1))
    return wide[..., :NV], wide[..., 1:]


def backwards(lead: tuple[int, ...]) -> tuple[Array, Array]:
    x = np.zeros((*lead, NV, NV))
    return x, x[..., ::-1, :]


OVERLAPPING = [same, shifted, transposed, strided, backwards]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("lead", [(), (1,), (5,), (2, 20)])
@pytest.mark.parametrize("make", OVERLAPPING)
def test_outputs_that_overlap_are_refused(
    make: Callable[[tuple[int, ...]], tuple[Array, Array]], lead: tuple[int, ...], target: str
) -> None:
    out = make(lead)
    with pytest.raises(ArgumentError, match="out dtau_dq and out dtau_dqd share memory"):
        kernel("chain", GRADIENT, target)(*states("chain", lead), out=out)
    with pytest.raises(ArgumentError, match="out dtau_dq and out dtau_dqd share memory"):
        kernel("chain", GRADIENT, target)(*states("chain", lead), out=list(out))
    assert not out[0].any() and not out[1].any()  # refused before anything was written


def columns(lead: tuple[int, ...]) -> tuple[Array, Array]:
    """Interleaved in one buffer, without an entry in common."""
    wide = np.zeros((*lead, NV, 2 * NV))
    return wide[..., ::2], wide[..., 1::2]


def neighbours(lead: tuple[int, ...]) -> tuple[Array, Array]:
    both = np.zeros((2, *lead, NV, NV))
    return both[0], both[1]


def fortran(lead: tuple[int, ...]) -> tuple[Array, Array]:
    return np.zeros((*lead, NV, NV), order="F"), np.zeros((*lead, NV, NV))[..., ::-1, ::-1]


def unaligned(lead: tuple[int, ...]) -> tuple[Array, Array]:
    size = int(np.prod((*lead, NV, NV)))
    raw = np.zeros(16 * size + 1, np.uint8)[1:].view(np.float64)
    assert not size or not raw.flags.aligned
    return raw[:size].reshape(*lead, NV, NV), raw[size:].reshape(*lead, NV, NV)


@pytest.mark.parametrize("target", FLEXIBLE)
@pytest.mark.parametrize("lead", [(), (5,), (2, 20), (0,), (3, 0)])
@pytest.mark.parametrize("make", [columns, neighbours, fortran, unaligned])
def test_outputs_apart_are_filled_wherever_they_lie(
    make: Callable[[tuple[int, ...]], tuple[Array, Array]], lead: tuple[int, ...], target: str
) -> None:
    run, args = kernel("chain", GRADIENT, target), states("chain", lead)
    expected, out = run(*args), make(lead)
    assert run(*args, out=out) is out
    for ours, theirs in zip(out, expected, strict=True):
        assert_same_bits(ours, theirs, make.__name__)


def test_arrays_without_entries_share_nothing() -> None:
    x = np.zeros((0, NV, NV))
    out = (x, x)
    assert kernel("chain", GRADIENT, "cpu")(*states("chain", (0,)), out=out) is out


def folded() -> dict[str, Array]:
    base = np.zeros(NV)
    return {
        "stride zero": as_strided(base, (5, NV), (0, 8)),
        "window": sliding_window_view(np.zeros(5 + NV - 1), NV, writeable=True),
        "half an entry on": as_strided(np.zeros(20), (5, NV), (16, 4)),
    }


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", folded())
def test_an_output_that_overlaps_itself_is_refused(case: str, target: str) -> None:
    with pytest.raises(ArgumentError, match="out tau: entries of this view share memory"):
        kernel("chain", "inverse_dynamics", target)(*states("chain", (5,)), out=folded()[case])


REFUSED: dict[str, tuple[Any, str]] = {
    "other byte order": (np.zeros((5, NV), ">f8"), "out tau: expected dtype float64, found >f8"),
    "records": (np.zeros((5, NV), [("x", "f8")]), "out tau: expected dtype float64"),
    "masked": (np.ma.zeros((5, NV)), "out tau: expected a NumPy array, found MaskedArray"),
    "a number": (3.0, "out tau: expected a NumPy array, found float"),
    "nothing": ((), "out: expected 1 arrays .tau., found 0"),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", REFUSED)
def test_other_unfit_outputs_are_named(case: str, target: str) -> None:
    out, message = REFUSED[case]
    with pytest.raises(ArgumentError, match=message):
        kernel("chain", "inverse_dynamics", target)(*states("chain", (5,)), out=out)


@pytest.mark.parametrize("target", TARGETS)
def test_out_of_several_results_must_be_a_sequence(target: str) -> None:
    with pytest.raises(
        ArgumentError, match=r"out: expected a tuple of 2 arrays .dtau_dq, dtau_dqd., found int"
    ):
        kernel("chain", GRADIENT, target)(*states("chain"), out=1)


# --- an output on an argument ------------------------------------------------------------------------


@pytest.mark.parametrize("target", FLEXIBLE)
@pytest.mark.parametrize("lead", [(), (5,), (40,)])
def test_an_output_may_be_an_argument(lead: tuple[int, ...], target: str) -> None:
    run, (q, qd, qdd) = kernel("chain", "inverse_dynamics", target), states("chain", lead)
    expected = run(q, qd, qdd)
    assert run(q, qd, qdd, out=qdd) is qdd
    assert_same_bits(qdd, expected, "in place")


@pytest.mark.parametrize("target", FLEXIBLE)
@pytest.mark.parametrize("shift", [-3, -2, -1, 1, 2, 3])
def test_an_output_may_be_a_shifted_view_of_an_argument(shift: int, target: str) -> None:
    run, (q, qd, qdd) = kernel("chain", "inverse_dynamics", target), states("chain", (40,))
    expected = run(q, qd, qdd)
    buffer = np.zeros(40 * NV + 6)
    inside, target_view = buffer[3:-3].reshape(40, NV), buffer[3 + shift :][: 40 * NV].reshape(40, NV)
    inside[...] = q
    run(inside, qd, qdd, out=target_view)
    assert_same_bits(target_view, expected, "shifted")


# --- arrays of a device ------------------------------------------------------------------------------


@needs_opencl
def test_outputs_on_a_device_that_overlap_are_refused() -> None:
    import pyopencl.array as cl_array

    run = kernel("chain", GRADIENT, "opencl")
    queue = run.device.queues[0]
    args = [cl_array.to_device(queue, x) for x in states("chain", (4,))]
    x = cl_array.zeros(queue, (4, NV, NV), np.float64)
    with pytest.raises(ArgumentError, match="out dtau_dq and out dtau_dqd share memory"):
        run(*args, out=(x, x))
    whole: Any = cl_array.zeros(queue, (8, NV, NV), np.float64)
    first = cl_array.Array(queue, (4, NV, NV), np.float64, data=whole.base_data.get_sub_region(0, 128))
    again = cl_array.Array(queue, (4, NV, NV), np.float64, data=whole.base_data)
    with pytest.raises(ArgumentError, match="share memory"):
        run(*args, out=(first, again))
    fresh = cl_array.zeros(queue, (4, NV, NV), np.float64)
    run(*args, out=(x, fresh))
    assert_same_bits(fresh.get(), run(*args)[1].get(), "apart")


@needs_opencl
def test_an_output_on_a_device_must_not_be_an_argument() -> None:
    import pyopencl.array as cl_array

    run = kernel("chain", "inverse_dynamics", "opencl")
    args = [cl_array.to_device(run.device.queues[0], x) for x in states("chain", (4,))]
    with pytest.raises(ArgumentError, match="out tau shares memory with the argument qdd"):
        run(*args, out=args[2])


def test_the_span_of_a_device_array_is_its_bytes() -> None:
    assert CudaArray(4096, (3, 2), "float32").span[1:] == (4096, 4096 + 24)
    assert CudaArray(4096, (3, 0), "float64").span[1:] == (4096, 4096)
