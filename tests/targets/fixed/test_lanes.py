"""Code in fixed point for native drivers: arrays in lane order, called here through ctypes."""

from __future__ import annotations

import ctypes

import numpy as np
import numpy.typing as npt
import pytest

from robomorph.compiler.program import compile_fixed_lanes
from robomorph.ir.fixed import input_columns, input_words, interpret_fixed
from robomorph.targets.cpu.handle import NativeHandle
from tests.targets.rtl.accelerators import accelerator

Array = npt.NDArray[np.float64]


def aligned(size: int) -> Array:
    """So many doubles from a multiple of 64 bytes on, none of them a number."""
    memory = np.full(size + 8, np.nan)
    start = -memory.ctypes.data // 8 % 8
    return memory[start : start + size]


def call(handle: NativeHandle, inputs: list[Array], sizes: list[int]) -> list[Array]:
    """Arrays (size, lanes) in and out."""
    table = ctypes.c_void_p * 8
    given = [aligned(x.size) for x in inputs]
    for place, x in zip(given, inputs, strict=True):
        place[:] = x.ravel()
    results = [aligned(size * handle.lanes) for size in sizes]
    workspace = aligned(handle.workspace // 8 + 1)
    function = ctypes.CFUNCTYPE(None, table, table, ctypes.c_void_p)(handle.address)
    arrays = (table(*(x.ctypes.data for x in some)) for some in (given, results))
    function(*arrays, workspace.ctypes.data)
    return [x.reshape(size, handle.lanes) for x, size in zip(results, sizes, strict=True)]


@pytest.mark.parametrize("bits", [16, 24])
@pytest.mark.parametrize("lanes", [1, 4, 8])
@pytest.mark.parametrize("flags", [False, True])
def test_the_same_words_in_lane_order(lanes: int, bits: int, flags: bool) -> None:
    a = accelerator("chain:2", "forward_dynamics_gradient", bits=bits)
    states = a.sample(lanes, seed=11)
    states["qd"][::2] *= 100.0
    words, clipped = input_words(a.fixed, states)
    expected = interpret_fixed(a.fixed, words)
    handle = compile_fixed_lanes(a.fixed, lanes, flags=flags)
    ports = a.fixed.program.outputs
    columns = np.split(
        input_columns(a.fixed.program, states).T, np.cumsum([p.size for p in a.fixed.program.inputs])[:-1]
    )
    sizes = [p.size for p in ports] + [1] * flags
    found = call(handle, columns, sizes)
    reals = np.concatenate(found[: len(ports)])
    ulps = np.array([form.ulp for form in a.fixed.output_formats])
    np.testing.assert_array_equal(reals.T, expected.words * ulps)
    if flags:
        np.testing.assert_array_equal(found[-1][0] != 0.0, expected.overflow | clipped)
