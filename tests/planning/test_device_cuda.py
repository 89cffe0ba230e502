"""Motions on CUDA: the code of OpenCL, here on a stand-in for the driver that runs kernels on the CPU."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

from robomorph import TargetError
from robomorph.planning import Motion
from robomorph.targets.gpu.cuda import device as cuda
from robomorph.targets.gpu.cuda.driver import Driver
from robomorph.tasks import Position
from tests.planning.motions import FRAME, arm
from tests.targets.gpu import test_cuda_driver
from tests.targets.gpu.toolchains import needs_gxx

pytestmark = needs_gxx


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Driver:
    library = tmp_path_factory.mktemp("fake_cuda") / "libcuda_fake.so"
    source = Path(test_cuda_driver.__file__).with_name("fake_cuda.cpp")
    subprocess.run(["g++", "-std=c++17", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    return Driver(ctypes.CDLL(str(library)))


@pytest.fixture(scope="module")
def only(driver: Driver, tmp_path_factory: pytest.TempPathFactory) -> cuda.CudaDevice:
    folder = tmp_path_factory.mktemp("kernels")
    return cuda.CudaDevice(driver, 0, lambda plan, _: test_cuda_driver.shared_library(plan, folder))


@pytest.fixture
def device(only: cuda.CudaDevice, monkeypatch: pytest.MonkeyPatch) -> cuda.CudaDevice:
    monkeypatch.setattr(cuda, "open_device", lambda index=None: only)
    return only


def motion() -> Motion:
    q = np.array([0.3, 0.4, -0.2, -1.2, 0.1, 0.8, 0.0])
    out = Motion(arm(), 2.0, 8, start=q, end=q + 0.15).limits()
    return out.keep(Position(FRAME), (-0.4, -0.4, 0.05), 0.4, "start", during=(0.9, 1.1))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_same_plan(device: cuda.CudaDevice, driver: Driver, dtype: str) -> None:
    asked = motion()
    usual = asked.solve()
    asked.solve(None, target="cuda", dtype=dtype)  # builds
    before = [test_cuda_driver.count(driver, what) for what in ("in", "launches", "out")]
    plan = asked.solve(target="cuda", dtype=dtype)
    after = [test_cuda_driver.count(driver, what) for what in ("in", "launches", "out")]
    assert usual.success and plan.success and plan.device is not None
    assert plan.device.name == "Fake GPU" and plan.device.dtype == dtype
    exact = dtype == "float64"
    np.testing.assert_allclose(plan.control, usual.control, atol=1e-6 if exact else 3e-2)
    # One copy in and out for every job; one in before for the constants, and a look at the noise of float32.
    jobs = plan.device.total.calls + (0 if exact else 1)
    copies_in, launches, copies_out = (b - a for a, b in zip(before, after, strict=True))
    assert (copies_in, copies_out) == (jobs + 1, jobs)
    margins, hessians = plan.device.jobs["margins"].calls, plan.device.jobs["hessians"].calls
    assert launches == 2 * (jobs - hessians) + hessians + 2 * margins  # places, functions; margins twice


@pytest.mark.parametrize("name", ["cuMemcpyHtoDAsync_v2", "cuLaunchKernel", "cuMemcpyDtoHAsync_v2"])
def test_a_failing_driver(device: cuda.CudaDevice, driver: Driver, name: str) -> None:
    asked = motion()
    asked.solve(target="cuda", callback=lambda state: False)
    seen = [0]

    def fail_later(state: object) -> bool:
        seen[0] += 1
        if seen[0] == 2:
            test_cuda_driver.fail_next(driver, name, 700)
        return True

    with pytest.raises(TargetError, match=f"{name} failed"):
        asked.solve(target="cuda", callback=fail_later)


def test_memory_is_given_back(device: cuda.CudaDevice, driver: Driver) -> None:
    asked = motion()
    asked.solve(target="cuda")
    before = [test_cuda_driver.count(driver, what) for what in ("device", "host")]
    for _ in range(3):
        asked.solve(target="cuda")
    assert [test_cuda_driver.count(driver, what) for what in ("device", "host")] == before
