"""The search's CUDA source: compiled by NVRTC for every architecture, run on the CPU by the host shim."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robomorph import TargetError
from robomorph.ik.devices import gpu
from robomorph.ik.devices.gpu import make_plan
from robomorph.ik.options import read_options
from robomorph.ik.problem import make_problem, read_targets
from robomorph.ik.solver import Solver
from robomorph.targets.gpu.cuda.architectures import ARCHITECTURES
from robomorph.targets.gpu.cuda.device import CudaDevice
from robomorph.targets.gpu.cuda.dialect import CUDA
from robomorph.targets.gpu.cuda.driver import Driver
from robomorph.targets.gpu.cuda.nvrtc import nvrtc
from robomorph.targets.gpu.launch import SHARED_LIMIT, LaunchPlan
from tests.ik.devices.problems import QUICK, Problems, assert_same_motion, problems
from tests.targets.gpu.host_run import compile_host
from tests.targets.gpu.test_cuda_driver import driver, shared_library  # noqa: F401
from tests.targets.gpu.toolchains import needs_gxx, needs_nvrtc

MOST = 25  # iterations: fibres change places slowly


def plan_of(given: Problems, **options: Any) -> LaunchPlan:
    """Without a device; `on` only says what is refused."""
    problem = make_problem(read_targets(given.robot, given.targets, given.frame), (given.tolerance,) * 2)
    asked = read_options({**QUICK, "on": "cuda", **options}).resolve()
    return make_plan(Solver(given.robot, problem.layout, problem.rows, asked), CUDA)


@needs_nvrtc
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_architecture(architecture: int) -> None:
    plan = plan_of(problems("iiwa14", 1))
    info = nvrtc().compile(plan.source, architecture, plan.symbol).info
    assert info.warnings == () and 0 < info.registers <= 255


@needs_nvrtc
@pytest.mark.parametrize("name", ["chain:100", "atlas", "hyq"])
def test_other_robots_compile(name: str) -> None:
    plan = plan_of(problems(name, 1))
    assert plan.shared_bytes <= SHARED_LIMIT
    assert nvrtc().compile(plan.source, 80, plan.symbol).info.warnings == ()


@needs_nvrtc
def test_a_frame_of_the_base_compiles_without_warnings() -> None:
    given = problems("iiwa14", 1)
    plan = plan_of(given._replace(frame=given.robot.link_names[0]))
    assert nvrtc().compile(plan.source, 80, plan.symbol).info.warnings == ()


@needs_gxx
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("iiwa14", {}),
        ("iiwa14", {"speculations": 100, "fixed": ["lbr_iiwa_joint_3"]}),
        ("iiwa14", {"speculations": 5, "limits": False}),
        ("hyq", {}),
        ("chain:25", {}),
    ],
)
def test_the_source_runs_on_the_host(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    """Under AddressSanitizer, in both orders of threads, to the bit; the answers are the CPU's search's."""
    given = problems(name, 4)
    kernel = compile_host(plan_of(given, max_iterations=MOST, **options), tmp_path)
    forward, backward = (kernel([given.targets, given.starts], order) for order in ("forward", "backward"))
    for a, b in zip(forward, backward, strict=True):
        assert a.tobytes() == b.tobytes(), "the order of threads matters"
    cpu = given.solve(max_iterations=MOST, **options)
    same = cpu.iterations == forward[1][:, 0]
    assert same.all() and (cpu.iterations > 3).any()
    assert_same_motion(given, cpu.q, forward[0])


@needs_gxx
def test_a_missing_barrier_is_found(tmp_path: Path) -> None:
    """Without the barrier after the costs are written threads pick differently, and part."""
    given = problems("iiwa14", 3)
    plan = plan_of(given, max_iterations=20)
    whole = "            picks[lane] = (double)pick;\n        }\n        __syncthreads();\n"
    assert plan.source.count(whole) == 1
    broken = replace(plan, source=plan.source.replace(whole, whole.replace("        __syncthreads();\n", "")))
    kernel = compile_host(broken, tmp_path, sanitize=False)
    with pytest.raises(AssertionError, match="did not reach a barrier"):
        kernel([given.targets, given.starts], "forward")


@needs_gxx
def test_calls_through_the_driver(
    driver: Driver,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`on="cuda"` from end to end, on the stand-in for the driver: one launch for a batch."""
    device = CudaDevice(driver, 0, lambda plan, architecture: shared_library(plan, tmp_path))
    monkeypatch.setattr(gpu, "open_gpu", lambda on: device)
    given = problems("iiwa14", 5)
    cpu = given.solve(max_iterations=MOST)
    before = driver.library.fake_count(b"launches")
    cuda = given.solve(max_iterations=MOST, on="cuda")
    assert driver.library.fake_count(b"launches") - before == 1
    assert np.array_equal(cpu.iterations, cuda.iterations) and np.array_equal(cpu.success, cuda.success)
    assert_same_motion(given, cpu.q, cuda.q)


@needs_gxx
def test_a_device_without_double_precision_is_refused(
    driver: Driver,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gpu, "open_gpu", lambda on: CudaDevice(driver, 0))
    monkeypatch.setattr(CudaDevice, "supports", lambda device, dtype: dtype == "float32")
    with pytest.raises(TargetError, match='has no double precision: use on="cpu"'):
        problems("iiwa14", 1).solve(on="cuda", seed=79)
