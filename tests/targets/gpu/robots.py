"""Robots and reference results for the GPU tests, each made once per process."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import robomorph
from robomorph import Robot
from robomorph.algorithms.registry import ALGORITHMS
from robomorph.compiler.partition import ALGORITHM, PartitionedPrograms
from robomorph.compiler.program import program_recipe
from robomorph.compiler.recipe import barrier_limit
from robomorph.compiler.specialise import make_request
from robomorph.ir.interpret import interpret
from robomorph.ir.program import Program
from robomorph.runtime.kernel import Recipe
from tests.oracle.calls import Sample, sample
from tests.oracle.compare import SINGLE, assert_close, relative_l2

ROBOTS = {"iiwa14": ("iiwa14", False), "hyq": ("hyq", False), "atlas_floating": ("atlas", True)}


@cache
def robot(key: str) -> Robot:
    name, floating = ROBOTS[key]
    return robomorph.load(name, floating_base=floating)


def frame_of(made: Robot, algorithm: str) -> str | None:
    return made.link_names[-1] if ALGORITHMS[algorithm].frame else None


def formulation_of(key: str, algorithm: str) -> str | None:
    """The one that wins for a humanoid: tracing the others would take most of the tests' time."""
    formulations = ALGORITHMS[algorithm].formulations
    return "composite" if key == "atlas_floating" and "composite" in formulations else None


@cache
def program(key: str, algorithm: str) -> Program:
    made = robot(key)
    request = make_request(
        made.model,
        algorithm,
        frame=frame_of(made, algorithm),
        formulation=formulation_of(key, algorithm),
    )
    return made.specialiser.specialise(request).program


def recipe(key: str, algorithm: str, dtype: str = "float32") -> Recipe:
    limit = barrier_limit(len(robot(key).model.bodies))
    return program_recipe(program(key, algorithm), dtype, max_barriers=limit)


@cache
def partitioned(key: str) -> PartitionedPrograms:
    made = robot(key)
    chosen = formulation_of(key, ALGORITHM)
    request = make_request(made.model, ALGORITHM, outputs=("dqdd_dq", "dqdd_dqd"), formulation=chosen)
    return PartitionedPrograms(made.specialiser, request)


def device_recipe(key: str, partitioning: str, dtype: str = "float32") -> Recipe:
    """The device's part of the forward-dynamics gradient."""
    programs = partitioned(key)
    limit = barrier_limit(programs.links)
    return program_recipe(programs.device_program(partitioning), dtype, max_barriers=limit)


def device_arguments(key: str, partitioning: str, size: int) -> dict[str, Any]:
    """What the host hands to the device's part, by name: computed by the interpreter."""
    given = states(key, size)._asdict()
    if partitioning == "completely_fused":
        return given
    motion = interpret(partitioned(key).motion(partitioning == "split"), given)
    return {**given, **motion} if partitioning == "split" else {**given, "qdd": motion["qdd"]}


@cache
def states(key: str, size: int) -> Sample:
    return sample(robot(key), 7, size)


@cache
def reference(key: str, algorithm: str, size: int) -> tuple[Any, ...]:
    """What the interpreter says, one array per output."""
    return tuple(interpret(program(key, algorithm), states(key, size)._asdict()).values())


def outputs(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, tuple) else (result,)


def assert_agrees(ours: Any, theirs: tuple[Any, ...], dtype: str, what: str) -> None:
    """Within the CPU target's tolerances of the interpreter, output by output."""
    found = outputs(ours)
    assert len(found) == len(theirs)
    for a, b in zip(found, theirs, strict=True):
        assert np.asarray(a).dtype == dtype, what
        if dtype == "float64":
            assert_close(a, b, what)
        else:
            assert np.asarray(a).shape == b.shape, what
            error = relative_l2(a, b)
            assert error <= SINGLE, f"{what}: relative error {error:.3g}"
