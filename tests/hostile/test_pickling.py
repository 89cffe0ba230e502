"""Whatever a call returns goes through pickle, copies and process pools, and compares."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import Inertia, JointLimits, Pose
from robomorph.algorithms.registry import ALGORITHMS, state_algorithms
from robomorph.ir.ops import OPS
from robomorph.runtime.results import result_type
from robomorph.targets.cpu.kernel import Kernel
from tests.hostile.targets import FLEXIBLE, kernel, robot, states
from tests.oracle.compare import assert_same_bits
from tests.oracle.kernels import kernel_of
from tests.targets.gpu.toolchains import needs_opencl

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def through_pickle(protocol: int, value: Any) -> Any:
    return pickle.loads(pickle.dumps(value, protocol))


def round_trips() -> dict[str, Callable[[Any], Any]]:
    trips: dict[str, Callable[[Any], Any]] = {"deepcopy": copy.deepcopy, "copy": copy.copy}
    for protocol in PROTOCOLS:
        trips[f"pickle {protocol}"] = partial(through_pickle, protocol)
    return trips


def call(algorithm: str, lead: tuple[int, ...] = (), dtype: str = "float64") -> Any:
    """The robot's answer; also what a process of a pool is asked for."""
    made, values = robot("floating"), states("floating", lead, dtype)
    frame = (made.link_names[-1],) if ALGORITHMS[algorithm].frame else ()
    return getattr(made, algorithm)(*values[: len(ALGORITHMS[algorithm].inputs)], *frame)


@cache
def results() -> dict[str, Any]:
    """Every kind of value that robomorph hands out, inverse kinematics apart."""
    made = robot("floating")
    found: dict[str, Any] = {name: call(name, (3,)) for name in state_algorithms()}
    found |= {
        "single": call("energy"),
        "float32": call("forward_dynamics_gradient", (2,), "float32"),
        "no states": call("forward_dynamics_gradient", (0,)),
        "part": kernel("floating", "forward_dynamics_gradient", "cpu", outputs=("minv", "qdd"))(
            *states("floating")
        ),
        "interpreter": kernel("floating", "energy", "interpreter")(*states("floating")[:2]),
        "random_state": made.random_state(rng=1, batch=(2, 3)),
        "limits": made.limits,
        "stats": kernel("floating", "energy", "cpu").stats,
        "source": kernel("chain", "energy", "cpu").source,
        "rtl stats": kernel("chain", "inverse_dynamics", "rtl").stats,
        "model": made.model,
        "body": made.model.bodies[0],
        "frame": made.model.frames[-1],
        "pose": Pose.from_matrix(call("forward_kinematics")),
        "inertia": Inertia(2.0, np.array([1.0, 2.0, 3.0]), np.eye(3)),
        "port": kernel("floating", "energy", "cpu").inputs,
        "program": kernel("chain", "energy", "cpu").program,
    }
    return found


def result(name: str) -> Any:
    return results()[name]


NAMES = [
    *state_algorithms(), "single", "float32", "no states", "part", "interpreter", "random_state", "limits",
    "stats", "source", "rtl stats", "model", "body", "frame", "pose", "inertia", "port", "program",
]  # fmt: skip


def equal(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else a == b


@pytest.mark.parametrize("trip", round_trips())
@pytest.mark.parametrize("name", NAMES)
def test_every_result_makes_the_round_trip(name: str, trip: str) -> None:
    value = result(name)
    back = round_trips()[trip](value)
    assert type(back) is type(value)
    same = equal(back, value)
    assert same is True
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        assert back._fields == value._fields and repr(back) == repr(value)
        for field, ours, theirs in zip(value._fields, back, value, strict=True):
            assert getattr(back, field) is ours
            assert_same_bits(ours, theirs, field)


def test_the_list_of_results_is_complete() -> None:
    assert list(results()) == NAMES


# --- process pools ---------------------------------------------------------------------------------


def work(name: str) -> Any:
    """In another process: a result, made there."""
    return result(name)


def handed_back(value: Any) -> Any:
    return value


def called(run: Any) -> Any:
    """In another process: a kernel that was sent there."""
    return run(*states("floating"))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_every_result_comes_out_of_a_process_pool(method: str) -> None:
    robot("floating").inverse_dynamics(*states("floating", (5000,)))  # the thread pool is in use
    own = [result(name) for name in NAMES]
    with multiprocessing.get_context(method).Pool(2) as pool:
        made_there = pool.map_async(work, NAMES, chunksize=7).get(timeout=240)
        handed = pool.map_async(handed_back, own, chunksize=7).get(timeout=240)
        run = kernel("floating", "forward_dynamics_gradient", "cpu")
        sent = pool.map_async(called, [run, run]).get(timeout=240)
        method_of_robot = pool.starmap_async(robot("floating").energy, [states("floating")[:2]]).get(
            timeout=240
        )
    for name, mine, made, back in zip(NAMES, own, made_there, handed, strict=True):
        if name != "stats":  # which tell of each process's own compilation
            assert equal(made, mine), name
        assert equal(back, mine), name
    assert sent[0] == sent[1] == call("forward_dynamics_gradient")
    assert method_of_robot == [call("energy")]


# --- kernels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("trip", ["deepcopy", "copy", f"pickle {pickle.HIGHEST_PROTOCOL}"])
@pytest.mark.parametrize("target", FLEXIBLE)
def test_kernels_go_as_their_recipe(target: str, trip: str) -> None:
    run: Any = robot("chain").compile(
        "forward_dynamics_gradient",
        target=target,
        dtype="float32",
        outputs=("minv", "qdd"),
        f_ext=[robot("chain").link_names[-1]],
        check_finite=False,
    )
    args = [*states("chain", (3,), "float32"), np.ones((3, 1, 6), np.float32)]
    back = round_trips()[trip](run)
    assert type(back) is type(run) and back is not run and back.check_finite is False
    assert repr(back(*args)) == repr(run(*args))


def test_settings_of_a_kernel_go_with_it() -> None:
    run = robot("chain").compile("energy", threads=3, check_finite=False)
    assert isinstance(run, Kernel)
    run.threads, run.check_finite = 2, True
    back = pickle.loads(pickle.dumps(run))
    assert (back.threads, back.check_finite) == (2, True)
    assert run == run and run != back and len({run, back}) == 2  # each is itself


def test_an_accelerator_goes_with_its_options() -> None:
    run = robot("chain").compile("inverse_dynamics", target="rtl", format="Q16.16")
    back: Any = pickle.loads(pickle.dumps(run))
    assert back.stats == run.stats and back.source == run.source


@needs_opencl
def test_a_partitioned_gradient_goes_as_its_recipe() -> None:
    run = robot("chain").compile("forward_dynamics_gradient", target="opencl", partitioning="split")
    back: Any = pickle.loads(pickle.dumps(run))
    assert back.partitioning == "split" and back(*states("chain")) == run(*states("chain"))


def test_a_kernel_of_a_bare_program_says_what_to_pickle() -> None:
    run = kernel_of(robot("chain").compile("energy").program, "float64")
    for trip in (pickle.dumps, copy.deepcopy):
        with pytest.raises(pickle.PicklingError, match="pickle the robot, and compile there"):
            trip(run)


# --- comparing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["energy", "forward_dynamics_gradient", "single", "random_state"])
def test_results_compare_by_their_numbers(name: str) -> None:
    value = result(name)
    other = copy.deepcopy(value)
    assert (value == other) is True and (value != other) is False
    assert (value == tuple(other)) is True and (tuple(value) == other) is True
    assert value in [other] and [value].index(other) == 0
    other[0][...] += 1.0
    assert (value == other) is False and (value != other) is True
    assert (value == value[:1]) is False and (value == 3) is False and (value == None) is False  # noqa: E711
    other[0][...] = np.nan
    assert other == copy.deepcopy(other)  # NaN is NaN, as a round trip needs
    with pytest.raises(TypeError, match="unhashable"):
        hash(value)


def test_results_of_other_names_or_shapes_differ() -> None:
    x, y = np.zeros(2), np.ones(2)
    energy = call("energy")
    other = type(energy)(x, y)
    ports = kernel("floating", "energy", "cpu").outputs
    assert result_type("energy", ports) is type(energy)
    assert result_type("energy", ports[::-1]) is not type(energy)
    state = robomorph.runtime.results.RandomState(x, y)
    assert state != other
    assert state != robomorph.runtime.results.RandomState(x[:1], y)
    assert state != robomorph.runtime.results.RandomState(x, y[None])


def test_arrays_of_a_device_are_equal_to_themselves_alone() -> None:
    a, b = object(), object()
    kind = type(call("energy"))
    assert kind(a, b) == kind(a, b) and kind(a, b) != kind(b, a)


def test_limits_compare() -> None:
    limits = robot("floating").limits
    assert limits == robot("floating").limits and limits != robot("chain").limits
    assert limits != 3 and (limits == (1, 2)) is False
    fewer = JointLimits(limits.lower[:-1], limits.upper, limits.velocity, limits.effort)
    assert limits != fewer


def test_models_compare_and_stay_read_only() -> None:
    made = robomorph.load("chain:2")
    assert made.model == robot("chain").model and hash(made.model) == hash(robot("chain").model)
    assert made.model != robot("floating").model and made.model != 3
    back = pickle.loads(pickle.dumps(made.model))
    assert back.digest == made.model.digest
    arrays = [
        back.gravity,
        back.bodies[0].axis,
        back.bodies[0].placement.rotation,
        back.bodies[0].inertia.com,
    ]
    for values in arrays:
        with pytest.raises(ValueError, match="read-only"):
            values[...] = 0.0
    assert copy.deepcopy(made.model) is made.model
    assert len({Pose(), Pose(), Pose(translation=np.ones(3))}) == 2


def test_operations_are_those_of_the_table_again() -> None:
    """They are compared by identity, so a copy would be an operation that no target knows."""
    for op in OPS.values():
        assert copy.deepcopy(op) is op and pickle.loads(pickle.dumps(op)) is op
