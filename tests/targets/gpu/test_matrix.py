"""Everything by everything: functions, mappings, partitionings, number formats, batch sizes and robots,
through OpenCL against the interpreter. Each kernel is built once and run with every size."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

import robomorph
from robomorph import Robot
from robomorph.algorithms.registry import ALGORITHMS, state_algorithms
from robomorph.compiler.partition import PARTITIONINGS
from robomorph.compiler.program import program_recipe
from robomorph.compiler.recipe import barrier_limit
from robomorph.compiler.specialise import make_request
from robomorph.errors import ModelWarning
from robomorph.ir.interpret import interpret
from robomorph.ir.program import Program
from robomorph.targets.gpu.kernel import MAPPINGS, GpuKernel
from robomorph.targets.gpu.opencl.device import open_device
from tests.oracle.calls import Sample, sample
from tests.oracle.random_trees import RandomRobot, random_robots
from tests.targets.gpu.robots import (
    ROBOTS,
    assert_agrees,
    formulation_of,
    frame_of,
    recipe,
    reference,
    robot,
    states,
)
from tests.targets.gpu.toolchains import needs_opencl

pytestmark = [needs_opencl, pytest.mark.slow]

GRADIENT = "forward_dynamics_gradient"
BATCHES = (1, 2, 31, 32, 33, 128, 1000)
DTYPES = ("float32", "float64")


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("key", ROBOTS)
def test_functions(key: str, algorithm: str, dtype: str, mapping: str) -> None:
    kernel = GpuKernel(recipe(key, algorithm, dtype), open_device(), mapping=mapping)
    for size in BATCHES:
        result = kernel(*states(key, size).astype(dtype).arguments(algorithm))
        assert_agrees(result, reference(key, algorithm, size), dtype, f"{algorithm}, batch of {size}")


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("partitioning", PARTITIONINGS)
@pytest.mark.parametrize("key", ROBOTS)
def test_partitionings(key: str, partitioning: str, dtype: str, mapping: str) -> None:
    kernel = robot(key).compile(
        GRADIENT,
        target="opencl",
        dtype=dtype,
        mapping=mapping,
        partitioning=partitioning,
        formulation=formulation_of(key, GRADIENT),
    )
    for size in BATCHES:
        result = kernel(*states(key, size).astype(dtype).arguments(GRADIENT))
        assert_agrees(result, reference(key, GRADIENT, size), dtype, f"{partitioning}, batch of {size}")


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("dtype", DTYPES)
@settings(
    max_examples=6,
    deadline=None,
    derandomize=True,  # the same trees in every run and case: what is built stays in the caches
    database=None,
    phases=(Phase.generate,),  # a smaller tree that fails would take hours to find
    suppress_health_check=list(HealthCheck),
)
@given(drawn=random_robots())
def test_random_trees(drawn: RandomRobot, dtype: str, mapping: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # nearly right angles are drawn on purpose
        made = robomorph.load(drawn.text, floating_base=drawn.floating, mimic=drawn.mimic)
    batches = [sample(made, 3, size) for size in BATCHES]
    for algorithm in state_algorithms():
        request = make_request(made.model, algorithm, frame=frame_of(made, algorithm))
        program = made.specialiser.specialise(request).program
        whole = program_recipe(program, dtype, max_barriers=barrier_limit(len(made.model.bodies)))
        kernel = GpuKernel(whole, open_device(), mapping=mapping)
        check(kernel, made, program, algorithm, batches)
        if algorithm == GRADIENT:
            for name in PARTITIONINGS:
                options: dict[str, Any] = {"mapping": mapping, "partitioning": name}
                shared = made.compile(GRADIENT, target="opencl", dtype=dtype, **options)
                check(shared, made, program, GRADIENT, batches)


def check(kernel: Any, made: Robot, program: Program, algorithm: str, batches: list[Sample]) -> None:
    for batch in batches:
        expected = tuple(interpret(program, batch._asdict()).values())
        result = kernel(*batch.astype(kernel.dtype).arguments(algorithm))
        what = f"{made.name} with {made.nv} degrees of freedom, {algorithm}, batch of {batch.size}"
        assert_agrees(result, expected, kernel.dtype, what)
