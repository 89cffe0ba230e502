"""The generated CUDA source compiles without warnings for every architecture; registers and spills are as
claimed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from robomorph.algorithms.registry import ALGORITHMS
from robomorph.errors import TargetError
from robomorph.gpu.kernel import make_launch_plan
from robomorph.targets.cuda.architectures import ARCHITECTURES
from robomorph.targets.cuda.dialect import CUDA
from robomorph.targets.cuda.nvrtc import nvrtc
from tests.gpu.robots import recipe
from tests.gpu.toolchains import needs_nvcc, needs_nvrtc

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


@needs_nvrtc
@pytest.mark.parametrize("mapping", ["group", "thread"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_function(algorithm: str, mapping: str) -> None:
    plan = make_launch_plan(recipe("hyq", algorithm), CUDA, mapping)
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
    """The humanoid-sized straight-line code has more live values than registers: the report must say so."""
    plan = make_launch_plan(recipe("iiwa14", GRADIENT, "float64"), CUDA, "thread")
    info = nvrtc().compile(plan.source, 80, plan.symbol).info
    assert info.spill_stores > 0
    assert info.registers >= 200


@needs_nvrtc
def test_an_error_in_the_source_comes_with_the_log() -> None:
    with pytest.raises(TargetError, match=r"(?s)NVRTC refused broken.*no_such_type"):
        nvrtc().compile("no_such_type x;", 80, "broken")


@needs_nvcc
@pytest.mark.parametrize("mapping", ["group", "thread"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nvcc_compiles_without_warnings(dtype: str, mapping: str, tmp_path: Path) -> None:
    plan = make_launch_plan(recipe("iiwa14", GRADIENT, dtype), CUDA, mapping)
    source = tmp_path / "kernel.cu"
    source.write_text(plan.source)
    codes = [
        f"-gencode=arch=compute_{a},code=sm_{a}" for a in ((75, 90, 120) if mapping == "group" else (90,))
    ]
    command = [
        "nvcc",
        *codes,
        "-std=c++17",
        "-Werror=all-warnings",
        "-fatbin",
        "-o",
        "/dev/null",
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
