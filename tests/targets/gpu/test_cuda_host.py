"""The generated CUDA source, run on the CPU under AddressSanitizer in both orders of threads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robomorph.algorithms.registry import state_algorithms
from robomorph.ir.interpret import interpret
from robomorph.targets.gpu.cuda.dialect import CUDA
from robomorph.targets.gpu.kernel import make_launch_plan
from tests.targets.gpu.host_run import HostKernel, compile_host
from tests.targets.gpu.robots import assert_agrees, device_arguments, device_recipe, recipe, reference, states
from tests.targets.gpu.toolchains import needs_gxx

pytestmark = needs_gxx

GRADIENT = "forward_dynamics_gradient"
ORDERS = ("forward", "backward")
# Straight-line code, which g++ takes long for, only where it is short.
CASES = [
    ("iiwa14", GRADIENT, "float32", "group"),
    ("iiwa14", GRADIENT, "float64", "group"),
    ("hyq", GRADIENT, "float32", "group"),
    ("iiwa14", "inverse_dynamics", "float32", "thread"),
    ("hyq", "mass_matrix", "float64", "thread"),
]


def built(key: str, algorithm: str, dtype: str, mapping: str, folder: Path) -> HostKernel:
    return compile_host(make_launch_plan(recipe(key, algorithm, dtype), CUDA, mapping), folder)


@pytest.mark.parametrize(("key", "algorithm", "dtype", "mapping"), CASES)
def test_source_runs_on_the_host(key: str, algorithm: str, dtype: str, mapping: str, tmp_path: Path) -> None:
    kernel = built(key, algorithm, dtype, mapping, tmp_path)
    args = states(key, 33).arguments(algorithm)
    found = {order: kernel(args, order) for order in ORDERS}
    assert_agrees(tuple(found["forward"]), reference(key, algorithm, 33), dtype, algorithm)
    for a, b in zip(*found.values(), strict=True):
        assert a.tobytes() == b.tobytes(), "the order of threads matters"


def check_partitioned(key: str, partitioning: str, dtype: str, mapping: str, folder: Path) -> None:
    """The device's part of a partitioned gradient, given what the host would hand it."""
    made = device_recipe(key, partitioning, dtype)
    kernel = compile_host(make_launch_plan(made, CUDA, mapping), folder)
    given = device_arguments(key, partitioning, 33)
    expected = tuple(interpret(made.program(), given).values())
    for order in ORDERS:
        found = tuple(kernel([given[port.name] for port in made.inputs], order))
        assert_agrees(found, expected, dtype, f"{partitioning} {order}")


@pytest.mark.parametrize("partitioning", ["split", "fused"])
def test_partitioned_source_runs_on_the_host(partitioning: str, tmp_path: Path) -> None:
    check_partitioned("iiwa14", partitioning, "float32", "group", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("mapping", ["group", "thread"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("partitioning", ["split", "fused"])
@pytest.mark.parametrize("key", ["iiwa14", "hyq"])
def test_all_partitioned_source_runs_on_the_host(
    key: str, partitioning: str, dtype: str, mapping: str, tmp_path: Path
) -> None:
    check_partitioned(key, partitioning, dtype, mapping, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("mapping", ["group", "thread"])
@pytest.mark.parametrize("algorithm", [a for a in state_algorithms() if "gradient" not in a])
def test_every_function_runs_on_the_host(algorithm: str, mapping: str, tmp_path: Path) -> None:
    kernel = built("hyq", algorithm, "float32", mapping, tmp_path)
    args = states("hyq", 33).arguments(algorithm)
    for order in ORDERS:
        assert_agrees(tuple(kernel(args, order)), reference("hyq", algorithm, 33), "float32", order)


@pytest.mark.slow
@pytest.mark.parametrize("mapping", ["group", "thread"])
@pytest.mark.parametrize("key", ["iiwa14", "hyq", "atlas_floating"])
def test_gradients_run_on_the_host(key: str, mapping: str, tmp_path: Path) -> None:
    kernel = built(key, GRADIENT, "float64", mapping, tmp_path)
    args = states(key, 5).arguments(GRADIENT)
    for order in ORDERS:
        assert_agrees(tuple(kernel(args, order)), reference(key, GRADIENT, 5), "float64", order)


@pytest.mark.parametrize("phase", [1, 8, 20])
def test_a_missing_barrier_is_found(phase: int, tmp_path: Path) -> None:
    """Without the barrier after one phase the result is wrong in at least one order of threads."""
    plan = make_launch_plan(recipe("iiwa14", GRADIENT), CUDA, "group")
    whole = "        __syncthreads();\n    }"
    assert plan.source.count(whole) == 1
    broken = plan.source.replace(whole, f"        if (phase != {phase}) __syncthreads();\n    }}")
    kernel = compile_host(replace(plan, source=broken), tmp_path, sanitize=False)
    args = states("iiwa14", 3).arguments(GRADIENT)
    expected = reference("iiwa14", GRADIENT, 3)
    wrong = []
    for order in ORDERS:
        pairs = zip(kernel(args, order), expected, strict=True)
        wrong.append(any(not np.allclose(a, b, rtol=1e-2, atol=1e-2) for a, b in pairs))
    assert any(wrong)


def test_a_barrier_that_not_all_threads_reach_stops_the_block(tmp_path: Path) -> None:
    plan = make_launch_plan(recipe("iiwa14", "mass_matrix"), CUDA, "thread")
    early = plan.source.replace(
        "    __syncthreads();\n", "    if (thread == 3) return;\n    __syncthreads();\n"
    )
    kernel = compile_host(replace(plan, source=early), tmp_path, sanitize=False)
    with pytest.raises(AssertionError, match="did not reach a barrier"):
        kernel(states("iiwa14", 3).arguments("mass_matrix"), "forward")


def test_a_write_outside_shared_memory_is_found(tmp_path: Path) -> None:
    plan = make_launch_plan(recipe("iiwa14", "mass_matrix"), CUDA, "group")
    smaller = replace(plan, shared_bytes=plan.shared_bytes - 4 * 64)
    kernel = compile_host(smaller, tmp_path)
    with pytest.raises(AssertionError, match=r"AddressSanitizer|out of bounds|object-size"):
        kernel(states("iiwa14", 33).arguments("mass_matrix"), "forward")
