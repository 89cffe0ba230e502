"""The generated CUDA source compiles without warnings for every architecture; registers and spills are as
claimed."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

import robomorph
from robomorph.algorithms.registry import ALGORITHMS
from robomorph.compiler.partition import PARTITIONINGS
from robomorph.compiler.program import program_recipe
from robomorph.errors import TargetError
from robomorph.targets.gpu.cuda.architectures import ARCHITECTURES
from robomorph.targets.gpu.cuda.dialect import CUDA
from robomorph.targets.gpu.cuda.nvrtc import nvrtc
from robomorph.targets.gpu.kernel import make_launch_plan
from tests.targets.gpu.robots import device_recipe, recipe
from tests.targets.gpu.toolchains import needs_nvcc, needs_nvrtc

GRADIENT = "forward_dynamics_gradient"


@needs_nvrtc
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("mapping", ["group", "thread"])
def test_every_architecture(mapping: str, dtype: str, architecture: int) -> None:
    for algorithm in ("inverse_dynamics", "forward_kinematics"):
        plan = make_launch_plan(recipe("iiwa14", algorithm, dtype), CUDA, mapping)
        info = nvrtc().compile(plan.source, architecture, plan.symbol).info
        assert info.warnings == ()
        assert info.registers > 0
        assert info.code_bytes > 0


def check_partitioned(
    key: str, partitioning: str, mapping: str, dtype: str, architectures: Sequence[int] = ARCHITECTURES
) -> None:
    plan = make_launch_plan(device_recipe(key, partitioning, dtype), CUDA, mapping)
    for architecture in architectures:
        info = nvrtc().compile(plan.source, architecture, plan.symbol).info
        assert info.warnings == (), architecture


@needs_nvrtc
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("partitioning", PARTITIONINGS)
def test_groups_of_every_partitioning_for_every_architecture(partitioning: str, dtype: str) -> None:
    check_partitioned("iiwa14", partitioning, "group", dtype)


@needs_nvrtc
@pytest.mark.parametrize("partitioning", PARTITIONINGS)
def test_straight_line_code_of_every_partitioning(partitioning: str) -> None:
    """For the oldest architecture and the newest: it takes a second each."""
    check_partitioned("iiwa14", partitioning, "thread", "float32", (ARCHITECTURES[0], ARCHITECTURES[-1]))


@needs_nvrtc
@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("mapping", ["group", "thread"])
@pytest.mark.parametrize("partitioning", PARTITIONINGS)
@pytest.mark.parametrize("key", ["iiwa14", "hyq"])
def test_every_partitioning_for_every_architecture(
    key: str, partitioning: str, mapping: str, dtype: str
) -> None:
    check_partitioned(key, partitioning, mapping, dtype)


@needs_nvrtc
@pytest.mark.parametrize("mapping", ["group", "thread"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_function(algorithm: str, mapping: str) -> None:
    plan = make_launch_plan(recipe("hyq", algorithm), CUDA, mapping)
    assert nvrtc().compile(plan.source, 80, plan.symbol).info.warnings == ()


@needs_nvrtc
@pytest.mark.parametrize("mapping", ["group", "thread"])
def test_a_function_without_arithmetic(mapping: str) -> None:
    """The mass matrix of a single joint is a constant: no instructions, and no warning about that."""
    kernel = robomorph.load("chain:1").compile("mass_matrix", dtype="float32")
    plan = make_launch_plan(program_recipe(kernel.program, "float32"), CUDA, mapping)
    assert nvrtc().compile(plan.source, 80, plan.symbol).info.warnings == ()


@needs_nvrtc
@pytest.mark.parametrize("architecture", [a for a in ARCHITECTURES if a >= 80])
@pytest.mark.parametrize("key", ["iiwa14", "hyq"])
def test_groups_do_not_spill(key: str, architecture: int) -> None:
    plan = make_launch_plan(recipe(key, GRADIENT), CUDA, "group")
    info = nvrtc().compile(plan.source, architecture, plan.symbol).info
    assert (info.spill_stores, info.spill_loads) == (0, 0)
    assert info.registers <= 64
    assert plan.shared_bytes <= 48 * 1024


@needs_nvrtc
def test_spills_are_seen() -> None:
    """An arm's straight-line gradient in float64 has more live values than registers."""
    plan = make_launch_plan(recipe("iiwa14", GRADIENT, "float64"), CUDA, "thread")
    info = nvrtc().compile(plan.source, 80, plan.symbol).info
    assert info.spill_stores > 0
    assert info.registers >= 200


@needs_nvrtc
def test_an_error_in_the_source_comes_with_the_log() -> None:
    with pytest.raises(TargetError, match=r"(?s)NVRTC refused broken.*no_such_type"):
        nvrtc().compile("no_such_type x;", 80, "broken")


@needs_nvcc
@pytest.mark.parametrize("partitioning", PARTITIONINGS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nvcc_compiles_groups_for_every_architecture(dtype: str, partitioning: str, tmp_path: Path) -> None:
    plan = make_launch_plan(device_recipe("iiwa14", partitioning, dtype), CUDA, "group")
    compile_with_nvcc(plan.source, ARCHITECTURES, tmp_path)


@needs_nvcc
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nvcc_compiles_straight_line_code(dtype: str, tmp_path: Path) -> None:
    plan = make_launch_plan(recipe("iiwa14", GRADIENT, dtype), CUDA, "thread")
    compile_with_nvcc(plan.source, (90,), tmp_path)


def compile_with_nvcc(text: str, architectures: Sequence[int], folder: Path) -> None:
    """Every warning is an error."""
    source = folder / "kernel.cu"
    source.write_text(text)
    codes = [f"-gencode=arch=compute_{a},code=sm_{a}" for a in architectures]
    flags = ["-std=c++17", "-Werror=all-warnings", "-fatbin", "-o", "/dev/null"]
    command = ["nvcc", *codes, *flags, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
