"""What a controller's author asks for, on every target: a small chain on GPUs and as hardware."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import Robot
from robomorph.algorithms.registry import ALGORITHMS
from robomorph.compiler.chip import make_accelerator
from robomorph.compiler.program import program_recipe
from robomorph.compiler.specialise import make_request
from robomorph.targets.gpu.cuda.dialect import CUDA
from robomorph.targets.gpu.kernel import make_launch_plan
from robomorph.targets.rtl.measure import measure
from robomorph.targets.rtl.options import Options
from robomorph.targets.rtl.simulate import lint
from tests.hostile.test_controller_algorithms import NEW
from tests.oracle.calls import sample
from tests.targets.gpu.host_run import compile_host
from tests.targets.gpu.robots import assert_agrees, outputs
from tests.targets.gpu.toolchains import needs_gxx, needs_opencl
from tests.targets.rtl.toolchains import needs_verilator

FRAME = "tool"


@cache
def chain(links: int) -> Robot:
    return robomorph.load(f"chain:{links}")


def options(name: str) -> dict[str, Any]:
    return {"frame": FRAME if ALGORITHMS[name].frame else None}


def expected(robot: Robot, name: str, args: list[Any]) -> tuple[Any, ...]:
    return outputs(robot.compile(name, target="interpreter", **options(name))(*args))


@needs_opencl
@pytest.mark.parametrize("mapping", ["thread", "group"])
@pytest.mark.parametrize("name", NEW)
def test_opencl(name: str, mapping: str) -> None:
    robot = chain(3)
    x = sample(robot, 1, 33)
    for dtype in ("float32", "float64"):
        kernel = robot.compile(name, target="opencl", dtype=dtype, mapping=mapping, **options(name))
        found = kernel(*x.astype(dtype).arguments(name))
        assert_agrees(found, expected(robot, name, x.arguments(name)), dtype, name)


@needs_gxx
@pytest.mark.parametrize("name", NEW)
def test_cuda_source_on_the_host(name: str, tmp_path: Path) -> None:
    """Under AddressSanitizer; NVRTC's opinion is in tests/targets/gpu/test_cuda_compile.py."""
    robot = chain(3)
    x = sample(robot, 2, 33)
    program = robot.specialiser.specialise(make_request(robot.model, name, **options(name))).program
    plan = make_launch_plan(program_recipe(program, "float32"), CUDA, "group")
    found = tuple(compile_host(plan, tmp_path)(x.arguments(name), "forward"))
    assert_agrees(found, expected(robot, name, x.arguments(name)), "float32", name)


@needs_verilator
@pytest.mark.parametrize("name", NEW)
def test_hardware(name: str) -> None:
    """Simulated to the bit of the fixed-point interpreter, and that near to float64; no saturation."""
    robot = chain(2)
    request = make_request(robot.model, name, **options(name))
    a = make_accelerator(robot.specialiser, request, Options(interval=8, bits=24))
    assert lint(a.design) == ""
    arguments = a.sample(40, seed=9)
    found = measure(a, arguments)
    assert found.exact and found.overflows == 0, found
    rounded, _ = a.interpret(arguments)
    exact = expected(robot, name, [arguments[argument] for argument in ALGORITHMS[name].inputs])
    for port, value in zip(a.outputs, exact, strict=True):
        size = max(1.0, float(np.abs(value).max()))
        assert np.abs(rounded[port.name] - value).max() < 1e-4 * size, name
