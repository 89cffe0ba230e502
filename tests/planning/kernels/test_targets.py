"""Motion kernels on every target and precision, as native code, and from the cache."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robomorph.compiler.program import Deferred
from robomorph.ir.interpret import interpret
from robomorph.planning.kernels import MotionKernels
from robomorph.targets.gpu.cuda.dialect import CUDA
from robomorph.targets.gpu.cuda.nvrtc import nvrtc
from robomorph.targets.gpu.kernel import make_launch_plan
from robomorph.tasks import Axis, CenterOfMass, Pose
from tests.targets.gpu.toolchains import needs_nvrtc, needs_opencl

from .robots import random_arguments, robot

Array = npt.NDArray[Any]
TARGETS = ["cpu", "interpreter", pytest.param("opencl", marks=needs_opencl)]
CHANNELS = ("channel_values", "channels", "channel_hessian")
KERNELS = (*CHANNELS, "torque_values", "torque", "torque_adjoint", "torque_hessian")


def kernels(name: str) -> MotionKernels:
    made = robot(name)
    tip = made.frame_names[-1]
    return MotionKernels(
        made, (Axis(tip, (0.0, 0.0, 1.0)), CenterOfMass(), Pose(tip)), torque=True, wrench=True
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["iiwa14", "crane"])
def test_every_kernel(name: str, target: str, dtype: str) -> None:
    made = kernels(name)
    assert made.names == KERNELS
    for which in KERNELS:
        kernel = made.kernel(which, target, dtype=dtype)
        assert kernel is made.kernel(which, target, dtype=dtype)
        arguments = random_arguments(made.program(which), 1, (2, 9))
        results = kernel(*(x.astype(dtype) for x in arguments.values()))
        expected = interpret(made.program(which), arguments)
        found = results if isinstance(results, tuple) else (results,)
        tolerance = 1e-12 if dtype == "float64" else 2e-5
        for ours, port in zip(found, kernel.outputs, strict=True):
            theirs = expected[port.name]
            assert ours.shape == theirs.shape and ours.dtype == dtype
            assert np.abs(ours - theirs).max() <= tolerance * max(1.0, np.abs(theirs).max()), (which, port)


@needs_nvrtc
@pytest.mark.parametrize("mapping", ["group", "thread"])
def test_cuda_source_compiles(mapping: str) -> None:
    made = kernels("crane")
    for which in KERNELS:
        for dtype in ("float32", "float64"):
            plan = make_launch_plan(made.deferred[which].recipe(dtype), CUDA, mapping)
            assert nvrtc().compile(plan.source, 80, plan.symbol).info.warnings == ()


@pytest.mark.parametrize("lanes", [1, 4, 8])
def test_native_code_in_lane_order(lanes: int) -> None:
    made = kernels("iiwa14")
    for which in KERNELS:
        handle, program = made.handle(which, lanes=lanes), made.program(which)
        arguments = random_arguments(program, 2, (lanes,))
        given = [_aligned(np.reshape(x, (lanes, -1)).T) for x in arguments.values()]
        places = [_aligned(np.full((port.size, lanes), np.nan)) for port in program.outputs]
        _call(handle.address, given, places, _aligned(np.zeros(handle.workspace // 8 + 8)))
        for port, place in zip(program.outputs, places, strict=True):
            expected = interpret(program, arguments)[port.name].reshape(lanes, -1).T
            assert np.abs(place - expected).max() <= 1e-12 * max(1.0, np.abs(expected).max())


def test_what_is_not_wanted_is_not_there() -> None:
    made = robot("chain:5")
    assert MotionKernels(made, (CenterOfMass(),)).names == CHANNELS
    assert MotionKernels(made, torque=True, hessian=False).names == KERNELS[3:-1]
    handles = MotionKernels(made, (CenterOfMass(),), hessian=False).handles
    assert list(handles) == ["channel_values", "channels"] and handles["channels"].address


def _aligned(values: Array) -> Array:
    room = np.empty(values.size + 8)
    start = -(room.ctypes.data // 8) % 8
    out = room[start : start + values.size].reshape(values.shape)
    out[...] = values
    return out


def _call(address: int, given: list[Array], places: list[Array], workspace: Array) -> None:
    def pointers(arrays: list[Array]) -> Any:
        return (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))

    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    kind(address)(pointers(given), pointers(places), workspace.ctypes.data)


def test_what_the_cache_has_is_not_traced_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = kernels("chain:5")
    for which in KERNELS:
        first.handle(which)
        first.kernel(which)(*random_arguments(first.program(which), 3).values())
    second = kernels("chain:5")
    monkeypatch.setattr(Deferred, "program", property(lambda self: pytest.fail(f"{self.name} was traced")))
    for which in KERNELS:
        assert second.handle(which).workspace == first.handle(which).workspace
        inputs = second.deferred[which].inputs
        second.kernel(which)(*(np.zeros(port.shape) for port in inputs))


@pytest.mark.parametrize("name", ["iiwa14", "atlas on a foot"])
def test_values_alone_are_the_same_and_cheaper(name: str) -> None:
    made = kernels(name)
    for alone, whole in (("channel_values", "channels"), ("torque_values", "torque")):
        arguments = random_arguments(made.program(whole), 4)
        found, expected = (interpret(made.program(which), arguments) for which in (alone, whole))
        for key, value in found.items():
            np.testing.assert_allclose(value, expected[key], rtol=0, atol=1e-12 * np.abs(value).max())
        assert made.program(alone).cost() < 0.7 * made.program(whole).cost()
