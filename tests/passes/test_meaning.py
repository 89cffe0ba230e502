"""Every pass, and every pipeline, keeps random programs legal and their meaning exact."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robomorph
from robomorph.compiler.specialise import make_request
from robomorph.ir.program import Program
from robomorph.ir.verify import verify
from robomorph.passes.pipeline import SCHEDULE, SIMPLIFY, run_passes
from tests.oracle.random_programs import arguments, random_programs, run, tame_rows

Pass = Callable[[Program], Program]
PASSES: dict[str, Pass] = {step.__name__: step for step in (*SIMPLIFY, *SCHEDULE)}
PIPELINES: dict[str, Pass] = {
    "SIMPLIFY": lambda p: run_passes(p, SIMPLIFY),
    "SIMPLIFY + SCHEDULE": lambda p: run_passes(p, SIMPLIFY + SCHEDULE),
}


@pytest.mark.parametrize("name", [*PASSES, *PIPELINES])
def test_meaning_is_kept_to_the_bit(name: str) -> None:
    """No pass may change rounding: the interpreter does not fuse multiply-adds. Zeros lose their sign."""
    transform = {**PASSES, **PIPELINES}[name]
    compared = 0

    @settings(max_examples=60, deadline=None, derandomize=True, database=None)
    @given(random_programs(), st.integers(0, 99))
    def check(program: Program, seed: int) -> None:
        nonlocal compared
        after = transform(program)
        verify(after)
        assert (after.inputs, after.outputs) == (program.inputs, program.outputs)
        values = arguments(seed, 6)
        tame = tame_rows(program, values)
        compared += int(tame.sum())
        np.testing.assert_array_equal(run(after, values)[tame], run(program, values)[tame])

    check()
    assert compared > 100


@pytest.mark.parametrize("name", [*PASSES, *PIPELINES])
def test_the_result_only_depends_on_the_program(name: str) -> None:
    transform = {**PASSES, **PIPELINES}[name]
    program = robot_program()
    assert transform(program) == transform(program)


@pytest.mark.parametrize("name", [*(s.__name__ for s in SIMPLIFY), "SIMPLIFY"])
def test_simplification_never_costs(name: str) -> None:
    transform = {**PASSES, **PIPELINES}[name]

    @settings(max_examples=60, deadline=None, derandomize=True, database=None)
    @given(random_programs())
    def check(program: Program) -> None:
        # A negation may be split off a shared product, but never more than one per operation.
        assert transform(program).cost() <= 2 * program.cost()

    check()
    program = robot_program()
    assert transform(program).cost() <= program.cost()


def robot_program() -> Program:
    robot = robomorph.load("iiwa14")
    return robot.specialiser.specialise(make_request(robot.model, "inverse_dynamics")).program
