"""The CUDA target's host side, end to end, on a stand-in for the driver that runs kernels on the CPU."""

from __future__ import annotations

import ctypes
import gc
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robomorph.compiler.partition import PartitionedGradient
from robomorph.compiler.specialise import make_request
from robomorph.errors import ArgumentError, TargetError
from robomorph.targets.gpu import transfer
from robomorph.targets.gpu.cuda import interop
from robomorph.targets.gpu.cuda.device import CudaDevice, DeviceBuffer
from robomorph.targets.gpu.cuda.driver import Driver
from robomorph.targets.gpu.kernel import GpuKernel
from robomorph.targets.gpu.launch import LaunchPlan
from tests.targets.gpu.host_run import SHIM
from tests.targets.gpu.robots import assert_agrees, recipe, reference, robot, states
from tests.targets.gpu.toolchains import needs_gxx

pytestmark = needs_gxx

GRADIENT = "forward_dynamics_gradient"


def shared_library(plan: LaunchPlan, folder: Path) -> bytes:
    """What stands for machine code: the path of a library that runs the kernel on the CPU."""
    value = "float" if plan.dtype == "float32" else "double"
    kinds = [f"const {value}*"] * len(plan.inputs) + [f"{value}*"] * len(plan.outputs)
    table_kinds = {"steps": "const uint2*", "constants": f"const {value}*"}
    kinds += [table_kinds.get(name, "const unsigned*") for name, _ in plan.tables] + ["unsigned"]
    args = ", ".join(f"*static_cast<{kind}*>(args[{k}])" for k, kind in enumerate(kinds))
    source = folder / f"{plan.symbol}_{plan.dtype}.cpp"
    source.write_text(
        f'#include "host_shim.h"\nstatic {value} pool[{plan.shared_bytes // plan.itemsize}];\n'
        + plan.source.replace(f"extern __shared__ {value} pool[];", "")
        + f'extern "C" void launch_{plan.symbol}(unsigned blocks, unsigned threads, void** args) {{\n'
        f"  robomorph_host::launch(blocks, threads, false, [&] {{ {plan.symbol}({args}); }});\n}}\n"
    )
    library = source.with_suffix(".so")
    subprocess.run(
        ["g++", "-std=c++17", "-O1", "-shared", "-fPIC", f"-I{SHIM}", str(source), "-o", str(library)],
        check=True,
    )
    return str(library).encode() + b"\0"


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Driver:
    folder = tmp_path_factory.mktemp("fake_cuda")
    library = folder / "libcuda_fake.so"
    source = Path(__file__).with_name("fake_cuda.cpp")
    subprocess.run(["g++", "-std=c++17", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    return Driver(ctypes.CDLL(str(library)))


@pytest.fixture(scope="module")
def device(driver: Driver, tmp_path_factory: pytest.TempPathFactory) -> CudaDevice:
    folder = tmp_path_factory.mktemp("kernels")
    return CudaDevice(driver, 0, lambda plan, architecture: shared_library(plan, folder))


@pytest.fixture(scope="module")
def kernel(device: CudaDevice) -> Iterator[GpuKernel]:
    yield GpuKernel(recipe("iiwa14", GRADIENT, "float64"), device, mapping="group")


def count(driver: Driver, what: str) -> int:
    return int(driver.library.fake_count(what.encode()))


def fail_next(driver: Driver, name: str, code: int) -> None:
    driver.library.fake_fail_next(name.encode(), code)


def test_host_arrays(kernel: GpuKernel, driver: Driver) -> None:
    before = [count(driver, what) for what in ("in", "launches", "out")]
    kernel.prepare(33)
    tables = count(driver, "in") - before[0]
    result = kernel(*states("iiwa14", 33).arguments(GRADIENT))
    assert_agrees(result, reference("iiwa14", GRADIENT, 33), "float64", "host arrays")
    after = [count(driver, what) for what in ("in", "launches", "out")]
    # One block each way and one launch.
    assert [b - a for a, b in zip(before, after, strict=True)] == [tables + 1, 1, 1]


def test_pieces(kernel: GpuKernel, driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "PIECE_BYTES", 20_000)
    before = count(driver, "launches")
    result = kernel(*states("iiwa14", 100).arguments(GRADIENT))
    assert count(driver, "launches") - before > 3
    assert_agrees(result, reference("iiwa14", GRADIENT, 100), "float64", "pieces")


@pytest.mark.parametrize(
    "name", ["cuLaunchKernel", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"]
)
def test_every_failure_is_raised_and_leaves_no_results(kernel: GpuKernel, driver: Driver, name: str) -> None:
    args = states("iiwa14", 2).arguments(GRADIENT)
    out = [np.full(r.shape, 5.0) for r in kernel(*args)]
    fail_next(driver, name, 700)
    with pytest.raises(TargetError, match=f"{name} failed: CUDA_ERROR_FAKE: an illegal memory access"):
        kernel(*args, out=out)
    assert all(np.all(array == 5.0) for array in out)
    assert_agrees(kernel(*args), reference("iiwa14", GRADIENT, 2), "float64", "after a failure")


def test_out_of_memory(device: CudaDevice, driver: Driver) -> None:
    made = GpuKernel(recipe("iiwa14", "mass_matrix"), device, mapping="group")
    fail_next(driver, "cuMemAlloc_v2", 2)
    with pytest.raises(TargetError, match="cuMemAlloc_v2 failed"):
        made(np.zeros(7, np.float32))


class OnDevice:
    """What CuPy and Torch show of an array."""

    def __init__(self, array: np.ndarray[Any, Any], stream: int | None = None, version: int = 3) -> None:
        self.array = array
        self.__cuda_array_interface__ = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.ctypes.data, False),
            "strides": None if array.flags.c_contiguous else array.strides,
            "stream": stream,
            "version": version,
        }


class OnDeviceByDlpack:
    """An array that is shown by DLPack alone; it remembers the streams it was asked for."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        self.asked: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, *, stream: Any = None) -> Any:
        self.asked.append(stream)
        return self.array.__dlpack__()


class OnDeviceByBoth(OnDeviceByDlpack):
    """What Torch shows of an array: DLPack, and an interface that says nothing of streams."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        super().__init__(array)
        self.__cuda_array_interface__ = OnDevice(array, version=2).__cuda_array_interface__


@pytest.mark.parametrize("kind", [OnDevice, OnDeviceByDlpack])
def test_device_arrays_are_not_copied(kernel: GpuKernel, driver: Driver, kind: Any) -> None:
    kernel.prepare(33)
    before = [count(driver, what) for what in ("in", "out")]
    args = [kind(a) for a in states("iiwa14", 33).arguments(GRADIENT)]
    result = kernel(*args)
    assert [count(driver, what) for what in ("in", "out")] == before
    assert all(isinstance(r, DeviceBuffer) for r in result)
    assert_agrees(tuple(map(on_host, result)), reference("iiwa14", GRADIENT, 33), "float64", "device")


def on_host(buffer: DeviceBuffer) -> np.ndarray[Any, Any]:
    """The fake device's memory is the host's."""
    interface = buffer.__cuda_array_interface__
    size = int(np.prod(interface["shape"]))
    kind = ctypes.c_double if interface["typestr"] == "<f8" else ctypes.c_float
    flat = np.ctypeslib.as_array((kind * size).from_address(interface["data"][0]))
    shaped: np.ndarray[Any, Any] = flat.reshape(interface["shape"])
    return shaped


def test_results_go_into_device_arrays_and_onto_streams(kernel: GpuKernel) -> None:
    args = [OnDevice(a) for a in states("iiwa14", 4).arguments(GRADIENT)]
    out = [OnDevice(np.zeros((4, *port.shape))) for port in kernel.outputs]

    class Stream:
        ptr = 0

    assert kernel(*args, out=out, stream=Stream()) is out
    results = tuple(o.array for o in out)
    assert_agrees(results, reference("iiwa14", GRADIENT, 4), "float64", "device out")
    with pytest.raises(ArgumentError, match="stream: expected a CUDA stream"):
        kernel(*args, out=out, stream="main")


def waits(driver: Driver, first: int, then: int) -> int:
    return int(driver.library.fake_ordered(ctypes.c_void_p(first), ctypes.c_void_p(then)))


def test_streams_of_arguments_are_waited_for_and_wait(kernel: GpuKernel, driver: Driver) -> None:
    q, qd, tau = states("iiwa14", 4).arguments(GRADIENT)
    args = [OnDevice(q, stream=101), OnDevice(qd, stream=102), OnDevice(tau)]
    result = kernel(*args)  # on the first argument's stream
    assert [waits(driver, 102, 101), waits(driver, 101, 102)] == [1, 1]
    assert result[0].__cuda_array_interface__["stream"] == 101
    result = kernel(*args, stream=103)
    assert [waits(driver, 101, 103), waits(driver, 102, 103)] == [1, 1]
    assert [waits(driver, 103, 101), waits(driver, 103, 102)] == [1, 1]
    assert [r.__cuda_array_interface__["stream"] for r in result] == [103] * len(result)
    kernel(*args, stream=104, out=result)
    assert waits(driver, 103, 104) == 1
    assert count(driver, "events") == 0


@pytest.mark.parametrize("kind", [OnDeviceByDlpack, OnDeviceByBoth])
def test_dlpack_is_asked_for_the_stream_of_the_call(kernel: GpuKernel, kind: Any) -> None:
    args = [kind(a) for a in states("iiwa14", 4).arguments(GRADIENT)]
    assert kernel(*args, stream=105)[0].__cuda_array_interface__["stream"] == 105
    assert kernel(*args)[0].__cuda_array_interface__["stream"] == 1  # the default stream
    kernel(*args, stream=0)
    assert [a.asked for a in args] == [[105, 1, 1]] * 3


def test_a_stream_without_device_arrays_is_refused(kernel: GpuKernel) -> None:
    with pytest.raises(ArgumentError, match="stream: only with device arrays"):
        kernel(*states("iiwa14", 4).arguments(GRADIENT), stream=105)


def test_results_are_given_on_by_dlpack(
    device: CudaDevice, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NumPy as the consumer: the stand-in's device memory is the host's, so it may be called the CPU's."""
    monkeypatch.setattr(interop, "DL_CUDA", 1)
    made = GpuKernel(recipe("iiwa14", "mass_matrix", "float64"), device, mapping="group")
    q = states("iiwa14", 4).q
    result = made(OnDevice(q), stream=106)
    gc.collect()
    before = count(driver, "device")
    taken = np.from_dlpack(result)
    assert waits(driver, 106, 1) == 1
    dropped = result.__dlpack__(stream=-1)
    del result, dropped
    gc.collect()
    assert count(driver, "device") == before  # still in use by the array
    assert_agrees(taken, reference("iiwa14", "mass_matrix", 4), "float64", "by DLPack")
    del taken
    gc.collect()
    assert count(driver, "device") == before - 1
    assert not interop._shared


def test_results_by_dlpack_are_not_copied_or_moved(device: CudaDevice) -> None:
    buffer = DeviceBuffer(device, (3,), "float32")
    assert buffer.__dlpack_device__() == (2, 0)
    for wish in ({"copy": True}, {"dl_device": (1, 0)}):
        with pytest.raises(BufferError, match="shared where it is"):
            buffer.__dlpack__(**wish)


def test_a_small_shared_memory_means_single_threads(
    device: CudaDevice, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = GpuKernel(recipe("iiwa14", GRADIENT), device)
    assert made.mapping_for(2) == "group"
    monkeypatch.setattr(Driver, "max_shared", lambda self, device: 2000)
    smaller = GpuKernel(recipe("iiwa14", GRADIENT), device)
    assert smaller.mapping_for(2) == "thread"
    assert smaller.plan("thread").shared_bytes <= 2000
    with pytest.raises(TargetError, match=r'a block has 2000: use mapping="thread"'):
        GpuKernel(recipe("iiwa14", GRADIENT), device, mapping="group").prepare()
    monkeypatch.setattr(Driver, "max_shared", lambda self, device: 8 * 1024)
    packed = GpuKernel(recipe("iiwa14", GRADIENT), device, mapping="group").plan("group")
    assert 0 < packed.shared_bytes <= 8 * 1024 < made.plan("group").shared_bytes


@pytest.fixture(scope="module")
def whole(device: CudaDevice) -> PartitionedGradient:
    return partitioned_on(device, "completely_fused")


def partitioned_on(device: CudaDevice, partitioning: str) -> PartitionedGradient:
    made = robot("iiwa14")
    request = make_request(made.model, GRADIENT)
    options: dict[str, Any] = {"partitioning": partitioning, "dtype": "float64", "mapping": "group"}
    return PartitionedGradient(made.specialiser, request, device, **options)


def test_a_partitioned_gradient_is_called_like_a_kernel(whole: PartitionedGradient) -> None:
    args = [OnDevice(a) for a in states("iiwa14", 4).arguments(GRADIENT)]
    result = whole(*args, stream=107)
    assert_agrees(tuple(map(on_host, result)), reference("iiwa14", GRADIENT, 4), "float64", "on the device")
    assert whole(*args, out=result) is result
    with pytest.raises(ArgumentError, match="stream: only with device arrays"):
        whole(*states("iiwa14", 4).arguments(GRADIENT), stream=107)


def test_a_partitioned_gradient_says_what_it_is(whole: PartitionedGradient, device: CudaDevice) -> None:
    assert (whole.name, whole.mapping, whole.check_finite) == (GRADIENT, "group", True)
    assert whole.device is device
    assert [port.name for port in whole.program.inputs] == ["q", "qd", "tau"]


@pytest.mark.parametrize("partitioning", ["split", "fused"])
def test_partitionings_with_work_on_the_host_refuse_device_arrays(
    device: CudaDevice, partitioning: str
) -> None:
    args = [OnDevice(a) for a in states("iiwa14", 4).arguments(GRADIENT)]
    with pytest.raises(ArgumentError, match=r"works on the host too.*partitioning='completely_fused'"):
        partitioned_on(device, partitioning)(*args)


def test_unusable_device_arrays_are_refused(kernel: GpuKernel) -> None:
    q, qd, tau = states("iiwa14", 4).arguments(GRADIENT)
    with pytest.raises(ArgumentError, match="C-contiguous"):
        kernel(OnDevice(np.asfortranarray(q)), OnDevice(qd), OnDevice(tau))
    with pytest.raises(ArgumentError, match="expected float32 or float64"):
        kernel(OnDevice(q.astype(int)), OnDevice(qd), OnDevice(tau))
    with pytest.raises(ArgumentError, match="q: expected dtype float64, found float32"):
        kernel(*(OnDevice(a.astype(np.float32)) for a in (q, qd, tau)))


def test_memory_is_given_back(device: CudaDevice, driver: Driver) -> None:
    gc.collect()
    before = count(driver, "device"), count(driver, "host")
    made = GpuKernel(recipe("iiwa14", "mass_matrix"), device, mapping="group")
    made(np.zeros((5, 7), np.float32))
    result = made(OnDevice(np.zeros((5, 7), np.float32)))
    assert (count(driver, "device"), count(driver, "host")) > before
    del made, result
    gc.collect()
    assert (count(driver, "device"), count(driver, "host")) == before


def test_without_a_driver_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    from robomorph.targets.gpu.cuda import driver as module

    monkeypatch.setattr(ctypes, "CDLL", _no_library)
    module.system_driver.cache_clear()
    with pytest.raises(TargetError, match=r'NVIDIA\'s driver \(libcuda.so.1\).*target="opencl".*gpu-report'):
        robot("iiwa14").compile("mass_matrix", target="cuda")


def _no_library(name: str) -> Any:
    raise OSError(f"{name}: cannot open shared object file")
