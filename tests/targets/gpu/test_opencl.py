"""Every function through OpenCL, in both mappings and all partitionings, against the interpreter."""

from __future__ import annotations

import re
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import robomorph
from robomorph.algorithms.registry import ALGORITHMS, state_algorithms
from robomorph.compiler.partition import PARTITIONINGS, PartitionedGradient
from robomorph.errors import ArgumentError, ModelWarning, TargetError
from robomorph.targets.gpu.kernel import GpuKernel, make_launch_plan
from robomorph.targets.gpu.opencl.device import open_device
from robomorph.targets.gpu.opencl.dialect import OPENCL
from tests.oracle.calls import sample
from tests.oracle.random_trees import RandomRobot, random_robots
from tests.targets.gpu.robots import assert_agrees, frame_of, recipe, reference, robot, states
from tests.targets.gpu.toolchains import needs_opencl

pytestmark = needs_opencl

GRADIENT = "forward_dynamics_gradient"
BATCHES = (1, 2, 31, 32, 33, 128, 1000)
DTYPES = ("float32", "float64")
MAPPINGS = ("thread", "group")


def run(key: str, algorithm: str, dtype: str, size: int, mapping: str) -> Any:
    """Through a kernel of a program that is traced once for all tests."""
    kernel = GpuKernel(recipe(key, algorithm, dtype), open_device(), mapping=mapping)
    return kernel(*states(key, size).astype(dtype).arguments(algorithm))


def run_compiled(key: str, algorithm: str, dtype: str, size: int, **options: Any) -> Any:
    """Through robot.compile."""
    made = robot(key)
    frame = frame_of(made, algorithm)
    kernel = made.compile(algorithm, target="opencl", dtype=dtype, frame=frame, **options)
    return kernel(*states(key, size).astype(dtype).arguments(algorithm))


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("key", ["iiwa14", "hyq"])
def test_every_function(key: str, algorithm: str, dtype: str, mapping: str) -> None:
    assert_agrees(run(key, algorithm, dtype, 33, mapping), reference(key, algorithm, 33), dtype, algorithm)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_function_through_robot_compile(algorithm: str) -> None:
    result = run_compiled("iiwa14", algorithm, "float64", 3)
    assert_agrees(result, reference("iiwa14", algorithm, 3), "float64", algorithm)


# A humanoid's gradients take seconds to trace and many more to build as straight-line code.
LARGE = ("forward_dynamics_gradient", "inverse_dynamics_gradient", "mass_matrix_inverse")
HUMANOID = [
    pytest.param(
        algorithm,
        dtype,
        mapping,
        marks=[pytest.mark.slow] if algorithm in LARGE and (mapping, dtype) != ("group", "float32") else [],
    )
    for algorithm in state_algorithms()
    for dtype in DTYPES
    for mapping in MAPPINGS
]


@pytest.mark.parametrize(("algorithm", "dtype", "mapping"), HUMANOID)
def test_every_function_of_a_humanoid(algorithm: str, dtype: str, mapping: str) -> None:
    result = run("atlas_floating", algorithm, dtype, 5, mapping)
    assert_agrees(result, reference("atlas_floating", algorithm, 5), dtype, algorithm)


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", BATCHES)
def test_batch_sizes(size: int, dtype: str, mapping: str) -> None:
    result = run("iiwa14", GRADIENT, dtype, size, mapping)
    assert_agrees(result, reference("iiwa14", GRADIENT, size), dtype, f"batch of {size}")


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("partitioning", PARTITIONINGS)
def test_partitionings(partitioning: str, dtype: str, mapping: str) -> None:
    made = robot("iiwa14")
    kernel = made.compile(GRADIENT, target="opencl", dtype=dtype, mapping=mapping, partitioning=partitioning)
    for size in (1, 33, 128):
        result = kernel(*states("iiwa14", size).astype(dtype).arguments(GRADIENT))
        assert_agrees(result, reference("iiwa14", GRADIENT, size), dtype, partitioning)


@pytest.mark.parametrize("partitioning", PARTITIONINGS)
def test_partitionings_of_a_quadruped(partitioning: str) -> None:
    result = run_compiled("hyq", GRADIENT, "float32", 33, mapping="thread", partitioning=partitioning)
    assert_agrees(result, reference("hyq", GRADIENT, 33), "float32", partitioning)


@pytest.mark.slow
@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("partitioning", PARTITIONINGS)
@pytest.mark.parametrize("key", ["hyq", "atlas_floating"])
def test_partitionings_of_larger_robots(key: str, partitioning: str, dtype: str, mapping: str) -> None:
    result = run_compiled(key, GRADIENT, dtype, 5, mapping=mapping, partitioning=partitioning)
    assert_agrees(result, reference(key, GRADIENT, 5), dtype, partitioning)


def check_random_tree(drawn: RandomRobot, algorithm: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # nearly right angles are drawn on purpose
        made = robomorph.load(drawn.text, floating_base=drawn.floating, mimic=drawn.mimic)
    args = sample(made, 3, 5).arguments(algorithm)
    expected = made.compile(algorithm, target="interpreter")(*args)
    expected = tuple(expected) if isinstance(expected, tuple) else (expected,)
    for mapping in MAPPINGS:
        kernel = made.compile(algorithm, target="opencl", mapping=mapping)
        assert_agrees(kernel(*args), expected, "float64", f"{algorithm} {mapping}")


@settings(max_examples=3, deadline=None)
@given(random_robots(most_joints=3))
def test_random_trees(drawn: RandomRobot) -> None:
    check_random_tree(drawn, "inverse_dynamics")


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(random_robots())
def test_more_random_trees(drawn: RandomRobot) -> None:
    check_random_tree(drawn, GRADIENT)


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_external_forces_broadcasting_and_out(mapping: str) -> None:
    made = robot("hyq")
    link = made.link_names[-1]
    given_states = states("hyq", 6)
    wrench = np.random.default_rng(1).normal(size=(1, 6))
    options: dict[str, Any] = {"f_ext": [link]}
    expected = made.compile("inverse_dynamics", target="interpreter", **options)
    kernel = made.compile("inverse_dynamics", target="opencl", mapping=mapping, **options)
    args = (given_states.q.reshape(2, 3, -1), given_states.qd[0], given_states.qdd[0], wrench)
    out = np.empty((2, 3, made.nv))
    assert kernel(*args, out=out) is out
    np.testing.assert_allclose(out, expected(*args), rtol=1e-9, atol=1e-9)
    assert kernel(args[0][:0], *args[1:]).shape == (0, 3, made.nv)


def test_large_batches_go_through_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    from robomorph.targets.gpu import transfer

    monkeypatch.setattr(transfer, "PIECE_BYTES", 100_000)
    made = robot("iiwa14")
    kernel: Any = made.compile("inverse_dynamics", target="opencl", mapping="thread")
    assert transfer.piece_size(kernel.plan("thread")) < 1000
    result = kernel(*states("iiwa14", 3001).arguments("inverse_dynamics"))
    assert_agrees(result, reference("iiwa14", "inverse_dynamics", 3001), "float64", "pieces")


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_device_arrays_stay_on_the_device(mapping: str) -> None:
    import pyopencl.array as cla

    kernel: Any = robot("iiwa14").compile(GRADIENT, target="opencl", dtype="float32", mapping=mapping)
    queue = kernel.device.queues[0]
    args = states("iiwa14", 33).astype("float32").arguments(GRADIENT)
    moved = [cla.to_device(queue, a) for a in args]
    result = kernel(*moved)
    assert all(isinstance(r, cla.Array) for r in result)
    expected = reference("iiwa14", GRADIENT, 33)
    assert_agrees(tuple(r.get() for r in result), expected, "float32", "device arrays")
    out = [cla.zeros_like(r) for r in result]
    assert kernel(*moved, out=out, stream=queue) is out
    assert_agrees(tuple(r.get() for r in out), expected, "float32", "device out")


def test_arrays_on_several_queues() -> None:
    """Each argument is written on a queue of its own just before the call, which runs on another."""
    import pyopencl as cl
    import pyopencl.array as cla

    kernel: Any = robot("iiwa14").compile(GRADIENT, target="opencl", dtype="float64", mapping="thread")
    context = kernel.device.context
    moved: list[Any] = [
        cla.to_device(cl.CommandQueue(context), a, async_=True)
        for a in states("iiwa14", 1000).arguments(GRADIENT)
    ]
    own = cl.CommandQueue(context)
    result = kernel(*moved, stream=own)
    assert all(r.queue == own for r in result)
    assert_agrees(tuple(r.get() for r in result), reference("iiwa14", GRADIENT, 1000), "float64", "queues")
    out = [cla.zeros(moved[0].queue, r.shape, r.dtype) for r in result]
    kernel(*moved, out=out, stream=own)
    assert_agrees(tuple(r.get() for r in out), reference("iiwa14", GRADIENT, 1000), "float64", "out")
    with pytest.raises(ArgumentError, match=r"stream: expected a pyopencl\.CommandQueue, found int"):
        kernel(*moved, stream=3)


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_function_without_arithmetic(dtype: str, mapping: str) -> None:
    """The mass matrix of a single joint is a constant: a kernel with no instructions at all."""
    made = robomorph.load("chain:1")
    kernel = made.compile("mass_matrix", target="opencl", dtype=dtype, mapping=mapping)
    expected = (made.compile("mass_matrix", target="interpreter")(np.zeros((5, 1))),)
    assert_agrees(kernel(np.zeros((5, 1), dtype)), expected, dtype, mapping)


def test_wrong_device_arrays_are_refused() -> None:
    import pyopencl.array as cla

    kernel: Any = robot("iiwa14").compile("mass_matrix", target="opencl", dtype="float32")
    queue = kernel.device.queues[0]
    wide = cla.to_device(queue, np.zeros((4, 9), np.float32))
    with pytest.raises(ArgumentError, match=r"q: expected shape \(4, 7\), found \(4, 9\)"):
        kernel(wide)
    with pytest.raises(ArgumentError, match="q: expected dtype float32, found float64"):
        kernel(cla.to_device(queue, np.zeros((4, 7))))
    right = cla.to_device(queue, np.zeros((4, 7), np.float32))
    with pytest.raises(ArgumentError, match="out mass: expected a device array, found ndarray"):
        kernel(right, out=np.zeros((4, 7, 7), np.float32))
    two = robot("iiwa14").compile("energy", target="opencl", dtype="float32")
    with pytest.raises(ArgumentError, match="all of them on the device"):
        two(right, np.zeros((4, 7), np.float32))


def test_the_partitionings_say_what_they_move() -> None:
    made = robot("iiwa14")
    outputs = ["dqdd_dq", "dqdd_dqd"]
    costs = {}
    for name in PARTITIONINGS:
        kernel = made.compile(GRADIENT, target="opencl", dtype="float32", outputs=outputs, partitioning=name)
        assert isinstance(kernel, PartitionedGradient)
        costs[name] = kernel.cost
    assert costs["split"].bytes_in == 4 * (7 + 7 + 3 * 6 * 7)
    assert costs["fused"].bytes_in == costs["completely_fused"].bytes_in == 4 * 21
    assert all(cost.bytes_out == 4 * 2 * 49 for cost in costs.values())
    assert costs["completely_fused"].bytes_total < costs["split"].bytes_total
    assert costs["completely_fused"].synchronisations < costs["split"].synchronisations


def test_the_mapping_follows_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel: Any = robot("iiwa14").compile(GRADIENT, target="opencl")
    monkeypatch.setattr(type(kernel.device), "resident_threads", 1000)
    assert [kernel.mapping_for(n) for n in (1, 999, 1000)] == ["group", "group", "thread"]


def test_bad_arguments_and_options_are_named() -> None:
    made = robot("iiwa14")
    with pytest.raises(ArgumentError, match="mapping: expected one of thread, group"):
        made.compile("mass_matrix", target="opencl", mapping="warp")
    with pytest.raises(ArgumentError, match="blocks: not an option"):
        made.compile("mass_matrix", target="opencl", blocks=3)
    with pytest.raises(ArgumentError, match="options: target 'cpu' has none, found mapping"):
        made.compile("mass_matrix", mapping="group")  # type: ignore[call-overload]
    with pytest.raises(ArgumentError, match="partitioning: only forward_dynamics_gradient"):
        made.compile("mass_matrix", target="opencl", partitioning="split")
    with pytest.raises(ArgumentError, match="device: expected one of"):
        made.compile("mass_matrix", target="opencl", device=99)
    for wrong in ("gpu", [0], True):
        with pytest.raises(ArgumentError, match="device: expected the number of a device or None, found"):
            made.compile("mass_matrix", target="opencl", device=wrong)
    for threads in (256, 3, 0, 4.0, "8"):
        with pytest.raises(ArgumentError, match="group_threads: expected a power of two up to 128, found"):
            made.compile("mass_matrix", target="opencl", group_threads=threads)
    kernel = made.compile("mass_matrix", target="opencl")
    with pytest.raises(ArgumentError, match="q: expected finite numbers"):
        kernel(np.full(7, np.nan))


def test_a_failed_launch_is_an_error_not_zeros() -> None:
    """A work group larger than the device allows fails when it is launched."""
    plan = make_launch_plan(recipe("iiwa14", "mass_matrix"), OPENCL, "thread")
    built = open_device().build(replace(plan, block_threads=plan.block_threads * 2))
    result = np.full((4, 49), 7.0, np.float32)
    with pytest.raises(TargetError, match="OpenCL failed while running mass_matrix_thread"):
        built.run([np.zeros((4, 7), np.float32)], [result])
    assert np.all(result == 7.0)


def test_bad_source_is_an_error_with_the_log() -> None:
    plan = make_launch_plan(recipe("iiwa14", "mass_matrix"), OPENCL, "thread")
    with pytest.raises(TargetError, match=r"(?s)OpenCL failed while building.*no_such_name"):
        open_device().build(replace(plan, source=plan.source.replace("sincos", "no_such_name")))


@pytest.mark.slow
@pytest.mark.parametrize("mapping", MAPPINGS)
def test_completely_fused_beats_split_end_to_end(mapping: str) -> None:
    """At N = 128, everything included; calls are taken in turn, so that a busy machine is busy for both."""
    args = states("iiwa14", 128).astype("float32").arguments(GRADIENT)
    kernels = [
        robot("iiwa14").compile(
            GRADIENT,
            target="opencl",
            dtype="float32",
            mapping=mapping,
            partitioning=name,
            outputs=["dqdd_dq", "dqdd_dqd"],
        )
        for name in ("split", "completely_fused")
    ]
    times: list[list[float]] = [[], []]
    for _ in range(100):
        for kernel, taken in zip(kernels, times, strict=True):
            start = time.perf_counter()
            kernel(*args)
            taken.append(time.perf_counter() - start)
    split, fused = (float(np.median(taken[10:])) for taken in times)
    assert fused < split, f"completely fused {fused:.2e} s, split {split:.2e} s"


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = Path(__file__).parents[3] / "docs" / "gpu.md"
    (block,) = re.findall(
        r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    exec(compile(block, str(page), "exec"), {})
    assert capsys.readouterr().out == "(128, 7, 7)\n"


def test_what_groups_cannot_do_has_the_source_for_threads() -> None:
    """Roots have no instruction there: friction is smooth by one."""
    rough = robomorph.load("chain:1", friction=0.3, passive=True)
    kernel = rough.compile("inverse_dynamics", target="opencl")
    assert kernel.source == rough.compile("inverse_dynamics", target="opencl", mapping="thread").source
    with pytest.raises(TargetError, match="no instruction for sqrt"):
        kernel.plan("group")
