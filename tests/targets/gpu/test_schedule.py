"""The thread-group mapping as data: right results, no races, few barriers, little waste."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import robomorph
from robomorph.algorithms.registry import ALGORITHMS
from robomorph.compiler.specialise import make_request
from robomorph.errors import ModelWarning, TargetError
from robomorph.ir.interpret import interpret
from robomorph.ir.program import Port
from robomorph.ir.trace import Tracer
from robomorph.passes.fuse import fuse
from robomorph.targets.gpu.emulate import emulate, program_order_inputs
from robomorph.targets.gpu.group_source import group_plan
from robomorph.targets.gpu.opencl.dialect import OPENCL
from robomorph.targets.gpu.schedule import group_threads, schedule
from robomorph.targets.gpu.tables import MAX_SLOTS, STORE, USE_ACCUMULATOR, GroupTables, make_tables
from tests.oracle.compare import assert_close
from tests.oracle.random_trees import RandomRobot, random_robots
from tests.targets.gpu.robots import recipe, robot, states

GRADIENT = "forward_dynamics_gradient"


def tables_of(key: str, algorithm: str, threads: int | None = None) -> GroupTables:
    made = recipe(key, algorithm)
    program = fuse(made.program())
    return make_tables(schedule(program, threads or group_threads(program), made.max_barriers))


def emulated(tables: GroupTables, arguments: dict[str, Any]) -> np.ndarray[Any, Any]:
    return emulate(tables, program_order_inputs(tables.schedule.program, arguments))


def flat(results: dict[str, Any], batch: int) -> np.ndarray[Any, Any]:
    return np.concatenate([r.reshape(batch, -1) for r in results.values()], axis=1)


@pytest.mark.parametrize("threads", [1, 4, 16, 64])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_tables_compute_the_program(algorithm: str, threads: int) -> None:
    tables = tables_of("hyq", algorithm, threads)
    arguments = states("hyq", 3)._asdict()
    expected = interpret(recipe("hyq", algorithm).program(), arguments)
    assert_close(emulated(tables, arguments), flat(expected, 3), algorithm)


@settings(max_examples=15, deadline=None)
@given(random_robots())
def test_random_trees(drawn: RandomRobot) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # nearly right angles are drawn on purpose
        made = robomorph.load(drawn.text, floating_base=drawn.floating, mimic=drawn.mimic)
    request = make_request(made.model, "inverse_dynamics_gradient")
    program = fuse(made.specialiser.specialise(request).program)
    tables = make_tables(schedule(program, group_threads(program)))
    check_races(tables)
    rng = np.random.default_rng(0)
    state = made.random_state(rng, 2)
    arguments = {"q": state.q, "qd": state.qd, "qdd": rng.normal(size=(2, made.nv))}
    assert_close(emulated(tables, arguments), flat(interpret(program, arguments), 2), made.name)


def check_races(tables: GroupTables) -> None:
    """Between two barriers no thread reads or writes a slot that another one writes."""
    mask = MAX_SLOTS - 1
    for begin, end in zip(tables.bounds[:-1], tables.bounds[1:], strict=True):
        phase = tables.steps[begin:end].astype(int)
        writer: dict[int, int] = {}
        for t in range(tables.schedule.threads):
            for d in phase[:, t, 3]:
                if d & STORE:
                    assert writer.setdefault(d & mask, t) == t, "two threads write one slot"
        for t in range(tables.schedule.threads):
            for a, b, c, _ in phase[:, t]:
                operands = [a & mask, b & mask] + ([] if c & USE_ACCUMULATOR else [c & mask])
                assert all(writer.get(x, t) == t for x in operands), "a thread reads what another writes"


@pytest.mark.parametrize("key", ["iiwa14", "hyq", "atlas_floating"])
def test_no_races_and_few_barriers(key: str) -> None:
    tables = tables_of(key, GRADIENT)
    check_races(tables)
    links = len(robot(key).model.bodies)
    assert tables.schedule.barriers <= 3 * links + 10
    # Recomputing and waiting cost less than half of what the program needs at least.
    work = sum(1 for node in tables.schedule.program.nodes if node.args)
    assert tables.schedule.rounds <= 1.5 * work / tables.schedule.threads
    assert tables.schedule.executed <= 1.4 * work


def test_constants_and_inputs_are_never_overwritten() -> None:
    tables = tables_of("iiwa14", GRADIENT)
    first_work = len(tables.constants) + tables.schedule.program.input_size
    stores = tables.steps[..., 3].astype(int)
    assert (stores[stores & STORE != 0] & (MAX_SLOTS - 1)).min() >= first_work


def test_every_thread_computes_entries_of_the_gradient() -> None:
    tables = tables_of("iiwa14", GRADIENT)
    publisher: dict[int, int] = {}
    for phase in tables.schedule.phases:
        publisher.update(phase.publisher)
    program = tables.schedule.program
    last = [publisher[r] for r in program.results if r in publisher]
    assert len(set(last)) == tables.schedule.threads


def test_too_large_for_shared_memory_is_said() -> None:
    tracer, size = Tracer(), 13_000
    x = tracer.inputs([Port("x", (size,))])["x"]
    program = tracer.program("wide", [Port("x", (size,))], {"y": [x[0] * x[1]]})
    with pytest.raises(TargetError, match=r'shared memory.*mapping="thread"'):
        group_plan(program, OPENCL, "float64")
