"""Programs with parameter ports, algorithms about several frames, padded outputs, handles for native code."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError
from robomorph.algorithms.kinematics import POSES
from robomorph.algorithms.registry import ALGORITHMS, Algorithm
from robomorph.algorithms.sweep import Stage, State
from robomorph.algorithms.world_pose import WorldPose
from robomorph.compiler.program import compile_lanes, compile_program, stored_lanes
from robomorph.errors import ProgramError
from robomorph.ir.interpret import interpret
from robomorph.ir.verify import verify
from robomorph.passes.pad import pad
from robomorph.runtime.environment import cache_folder

FRAMES = ("link_1", "link_3", "tool")


def _errors(state: State) -> None:
    """Weighted distances of frames from references."""
    rows = []
    for k, name in enumerate(state.whole["frames"]):
        link, placement = state.tree.frames[name]
        pose: WorldPose = state.fields["pose", link].then(placement)
        reference = state.whole["reference"][3 * k : 3 * k + 3]
        weight = state.whole["weight"][k]
        rows.append([weight * (x - r) for x, r in zip(pose.origin, reference, strict=True)])
    state.whole["errors"] = rows


@pytest.fixture
def tracking() -> Iterator[str]:
    """An algorithm with parameter ports, about a list of frames."""
    ALGORITHMS["tracking"] = Algorithm(
        "tracking",
        ("q",),
        {"errors": ("frames", 3)},
        {"direct": (*POSES, Stage("errors", _errors))},
        frames=True,
        masses=False,
        parameters={"reference": ("frames", 3), "weight": ("frames",)},
    )
    yield "tracking"
    del ALGORITHMS["tracking"]


@pytest.mark.parametrize("target", ["cpu", "interpreter", "opencl"])
def test_parameters_are_data_of_the_call(tracking: str, target: str) -> None:
    if target == "opencl":
        pytest.importorskip("pyopencl")
    robot = robomorph.load("chain:3")
    kernel: Any = robot.compile(tracking, frames=FRAMES, target=target)
    assert [port.shape for port in kernel.inputs] == [(3,), (3, 3), (3,)]
    rng = np.random.default_rng(1)
    q, reference, weight = rng.normal(size=(7, 3)), rng.normal(size=(7, 3, 3)), rng.normal(size=(7, 3))
    expected = np.stack(
        [
            (robot.forward_kinematics(q, name)[:, :3, 3] - reference[:, k]) * weight[:, k, None]
            for k, name in enumerate(FRAMES)
        ],
        axis=1,
    )
    np.testing.assert_allclose(kernel(q, reference, weight), expected, rtol=0, atol=1e-13)


def test_frames_are_checked(tracking: str) -> None:
    robot = robomorph.load("chain:3")
    with pytest.raises(ArgumentError, match="frames: tracking expects a list"):
        robot.compile(tracking)
    with pytest.raises(ArgumentError, match=r"frames: unknown name 'tol'.*tool"):
        robot.compile(tracking, frames=["tol"])
    with pytest.raises(ArgumentError, match="frames: energy expects none"):
        robot.compile("energy", frames=["tool"])
    other: Any = robot.compile(tracking, frames=["tool"])
    assert other(np.zeros(3), np.zeros((1, 3)), np.ones(1)).shape == (1, 3)  # another list, another program


def mass_program() -> Any:
    kernel: Any = robomorph.load("chain:3").compile("mass_matrix", target="interpreter")
    return kernel.program


@pytest.mark.parametrize("target", ["cpu", "interpreter"])
def test_padded_outputs(target: str) -> None:
    program = pad(mass_program(), "mass", (4, 8))
    verify(program)
    q = np.random.default_rng(2).normal(size=(9, 3))
    kernel: Any = compile_program(program, target)
    found = kernel(q)
    assert found.shape == (9, 4, 8)
    np.testing.assert_allclose(found[:, :3, :3], interpret(mass_program(), {"q": q})["mass"], atol=1e-14)
    assert not found[:, 3].any() and not found[:, :, 3:].any()
    with pytest.raises(ProgramError, match="does not fit"):
        pad(mass_program(), "mass", (2, 8))
    with pytest.raises(ProgramError, match="no output 'mas'"):
        pad(mass_program(), "mas", (4, 8))


@pytest.mark.parametrize("lanes", [1, 2, 4])
def test_a_handle_is_called_without_us(lanes: int, tmp_path: Any) -> None:
    """By its documented signature, from C (here: ctypes), and again from the cache."""
    program = mass_program()
    with cache_folder(str(tmp_path)):
        assert stored_lanes("some mass matrix", lanes) is None
        made = compile_lanes(program, lanes, key="some mass matrix", note=7)
        again = stored_lanes("some mass matrix", lanes)
    assert again is not None and (again.note, again.lanes, again.workspace) == (7, lanes, made.workspace)
    q = np.random.default_rng(3).normal(size=(lanes, 3))
    for handle in (made, again):
        np.testing.assert_allclose(
            _call(handle, q, 9).reshape(lanes, 3, 3), interpret(program, {"q": q})["mass"], atol=1e-14
        )


def _call(handle: Any, q: Any, outputs: int) -> Any:
    def aligned(count: int) -> Any:
        raw = np.zeros(count + 8)
        return raw[(-raw.ctypes.data % 64) // 8 :][:count]

    lanes = handle.lanes
    given, result = aligned(q.size), aligned(outputs * lanes)
    given[:] = q.T.ravel()  # entry k of lane l at k * lanes + l
    space = aligned(max(1, handle.workspace // 8 + 8))
    pointers = [(ctypes.c_void_p * 1)(array.ctypes.data) for array in (given, result)]
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(handle.address)
    function(ctypes.addressof(pointers[0]), ctypes.addressof(pointers[1]), space.ctypes.data)
    return result.reshape(outputs, lanes).T
