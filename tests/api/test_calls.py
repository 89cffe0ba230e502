"""Calls of a Robot and its kernels: shapes, broadcasting, dtypes, `out` and outputs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import ArgumentError, Kernel, Robot
from robomorph.algorithms.registry import ALGORITHMS, state_algorithms
from tests.model.samples import arm
from tests.model.samples import robot as robot_text
from tests.oracle.compare import assert_close, assert_same_bits

Array = npt.NDArray[Any]
NV = 3
SIZES = {"nv": NV, "links": NV + 2}
SHAPES: dict[str, dict[str, tuple[int, ...]]] = {
    name: {
        output: tuple(SIZES[n] if isinstance(n, str) else n for n in shape)
        for output, shape in entry.outputs.items()
    }
    for name, entry in state_algorithms().items()
    if entry.takes_states_alone
}


@cache
def robot() -> Robot:
    return robomorph.load("chain:3")


def method(name: str) -> Callable[..., Any]:
    """The robot's method, with a frame where it needs one."""
    bound: Callable[..., Any] = getattr(robot(), name)
    if not ALGORITHMS[name].frame:
        return bound
    return lambda *args: bound(*args, robot().link_names[-1])


def inputs(name: str, lead: tuple[int, ...] = (), dtype: str = "float64") -> list[Array]:
    rng = np.random.default_rng(4)
    return [rng.uniform(-1, 1, (*lead, NV)).astype(dtype) for _ in ALGORITHMS[name].inputs]


def named(name: str, result: Any) -> dict[str, Array]:
    if len(SHAPES[name]) == 1:
        return {next(iter(SHAPES[name])): result}
    return dict(result._asdict())


@pytest.mark.parametrize("name", SHAPES)
def test_every_algorithm_is_a_method_that_tells_its_shapes(name: str) -> None:
    said = " ".join((getattr(Robot, name).__doc__ or "").split())
    for output, shape in ALGORITHMS[name].outputs.items():
        sizes = ["...", *("n_links" if n == "links" else str(n) for n in shape)]
        assert f"({', '.join(sizes)})" in said, f"Robot.{name} does not tell the shape of {output}"


@pytest.mark.parametrize("lead", [(), (1,), (5,), (0,), (2, 3), (2, 0)])
@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name: str, lead: tuple[int, ...]) -> None:
    found = named(name, method(name)(*inputs(name, lead)))
    assert {key: value.shape for key, value in found.items()} == {
        key: lead + shape for key, shape in SHAPES[name].items()
    }
    for value in found.values():
        assert isinstance(value, np.ndarray) or np.isscalar(value)


# --- broadcasting ----------------------------------------------------------------------------------


def test_arguments_broadcast() -> None:
    q, qd, qdd = inputs("inverse_dynamics", (4, 5))
    tau = robot().inverse_dynamics(q[:, :1], qd[0], qdd[0, 0])
    assert tau.shape == (4, 5, NV)
    for i in range(4):
        for j in range(5):
            assert_same_bits(tau[i, j], robot().inverse_dynamics(q[i, 0], qd[0, j], qdd[0, 0]), "broadcast")


def test_strided_and_fortran_arrays() -> None:
    q, qd, qdd = inputs("inverse_dynamics", (6,))
    whole = robot().inverse_dynamics(q, qd, qdd)
    spread = np.zeros((12, 2 * NV))
    spread[::2, ::2] = q
    assert_same_bits(robot().inverse_dynamics(spread[::2, ::2], qd, qdd), whole, "strided")
    assert_same_bits(robot().inverse_dynamics(np.asfortranarray(q), qd, qdd), whole, "Fortran order")
    backwards = robot().inverse_dynamics(q[::-1], qd[::-1], qdd[::-1])
    assert_same_bits(backwards[::-1].copy(), whole, "reversed")


def test_wrenches_broadcast_and_come_by_name_or_as_an_array() -> None:
    q, qd, qdd = inputs("inverse_dynamics", (3,))
    links = robot().link_names
    wrench = np.arange(6.0)
    by_name = robot().inverse_dynamics(q, qd, qdd, f_ext={links[2]: wrench})
    everything = np.zeros((len(links), 6))
    everything[2] = wrench
    assert_close(robot().inverse_dynamics(q, qd, qdd, f_ext=everything), by_name, "array", 1e-14)
    batched = robot().inverse_dynamics(q[0], qd[0], qdd[0], f_ext={links[2]: np.tile(wrench, (4, 1))})
    assert batched.shape == (4, NV)
    two = robot().inverse_dynamics(q, qd, qdd, f_ext={links[2]: wrench, links[1]: np.zeros((3, 6))})
    assert_close(two, by_name, "with a zero wrench", 1e-14)
    lists = robot().inverse_dynamics(q, qd, qdd, f_ext={links[2]: wrench.tolist()})
    assert_same_bits(lists, by_name, "a list")


# --- dtypes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHAPES)
def test_results_have_the_dtype_of_the_arguments(name: str) -> None:
    for dtype in ("float32", "float64"):
        for value in named(name, method(name)(*inputs(name, (2,), dtype))).values():
            assert value.dtype == dtype
    for value in named(name, method(name)(*(x.tolist() for x in inputs(name)))).values():
        assert value.dtype == np.float64


def test_mixed_dtypes_are_computed_in_float64() -> None:
    q, qd, qdd = inputs("inverse_dynamics")
    assert robot().inverse_dynamics(q.astype("float32"), qd, qdd).dtype == np.float64
    assert robot().inverse_dynamics(np.zeros(NV, int), qd, qdd).dtype == np.float64
    swapped = q.astype(">f8")
    assert_same_bits(
        robot().inverse_dynamics(swapped, qd, qdd), robot().inverse_dynamics(q, qd, qdd), "byte order"
    )


def test_a_float32_kernel_refuses_to_lose_digits_of_an_array() -> None:
    kernel = robot().compile("mass_matrix", dtype="float32")
    assert kernel([0.1, 0.2, 0.3]).dtype == np.float32
    with pytest.raises(ArgumentError, match=r"^q: expected float32 .*found float64"):
        kernel(np.zeros(NV))
    wide = robot().compile("mass_matrix", dtype="float64")
    assert wide(np.zeros(NV, np.float32)).dtype == np.float64


# --- out and outputs -------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["cpu", "interpreter"])
@pytest.mark.parametrize("lead", [(), (9,), (2, 2)])
def test_out_is_filled_and_returned(target: str, lead: tuple[int, ...]) -> None:
    kernel = robot().compile("forward_dynamics_gradient", target=target)
    args = inputs("forward_dynamics_gradient", lead)
    expected = kernel(*args)
    out = tuple(np.full_like(x, np.nan) for x in expected)
    assert kernel(*args, out=out) is out
    for ours, theirs in zip(out, expected, strict=True):
        assert_same_bits(ours, theirs, "out")
    single = robot().compile("mass_matrix", target=target)
    q = inputs("mass_matrix", lead)
    array = np.empty((*lead, NV, NV))
    assert single(*q, out=array) is array
    assert_same_bits(array, single(*q), "out")


def test_out_may_overlap_an_argument() -> None:
    kernel = robot().compile("inverse_dynamics")
    q, qd, qdd = inputs("inverse_dynamics", (20,))
    expected = kernel(q, qd, qdd)
    kernel(q, qd, qdd, out=qdd)
    assert_same_bits(qdd, expected, "in place")


def test_out_need_not_be_contiguous() -> None:
    kernel = robot().compile("inverse_dynamics")
    args = inputs("inverse_dynamics", (5,))
    wide = np.zeros((5, 2 * NV))
    kernel(*args, out=wide[:, ::2])
    assert_same_bits(wide[:, ::2].copy(), kernel(*args), "every other column")
    assert np.all(wide[:, 1::2] == 0.0)


def read_only() -> Array:
    array = np.empty((2, NV))
    array.flags.writeable = False
    return array


BAD_OUT: dict[str, tuple[Any, str]] = {
    "shape": (np.empty((2, NV + 1)), "out tau: expected shape"),
    "batch": (np.empty((3, NV)), "out tau: expected shape"),
    "dtype": (np.empty((2, NV), np.float32), "out tau: expected dtype float64, found float32"),
    "list": ([[0.0] * NV] * 2, "out"),
    "read-only": (read_only(), "read-only"),
    "number of arrays": ((np.empty((2, NV)), np.empty((2, NV))), "out: expected 1 array"),
}


@pytest.mark.parametrize("target", ["cpu", "interpreter"])
@pytest.mark.parametrize("case", BAD_OUT)
def test_bad_out(case: str, target: str) -> None:
    out, message = BAD_OUT[case]
    kernel = robot().compile("inverse_dynamics", target=target)
    with pytest.raises(ArgumentError, match=message):
        kernel(*inputs("inverse_dynamics", (2,)), out=out)


def test_a_subset_of_outputs_in_any_order() -> None:
    args = inputs("forward_dynamics_gradient", (3,))
    whole = robot().compile("forward_dynamics_gradient")(*args)
    kernel = robot().compile("forward_dynamics_gradient", outputs=("dqdd_dqd", "qdd"))
    part = kernel(*args)
    assert part._fields == ("dqdd_dqd", "qdd")
    assert_close(part.dqdd_dqd, whole.dqdd_dqd, "dqdd_dqd", 1e-12)
    assert_close(part.qdd, whole.qdd, "qdd", 1e-12)
    one = robot().compile("forward_dynamics_gradient", outputs=("qdd",))
    assert_close(one(*args), whole.qdd, "qdd alone", 1e-12)
    everything = robot().compile("forward_dynamics_gradient")
    assert one.stats.flops < kernel.stats.flops < everything.stats.flops, (
        "what is not asked for costs nothing"
    )


FORMULATIONS = {
    "inverse_dynamics_gradient": {"columns", "composite"},
    "forward_dynamics_gradient": {"columns", "composite"},
    "forward_dynamics": {"aba", "crba+ltl"},
}


def formulations_agree(robot: Robot, name: str) -> None:
    state = robot.random_state(4, 3)
    last = np.random.default_rng(4).uniform(-1, 1, (3, robot.nv))
    formulations = robot.compile(name, target="interpreter").stats.candidates
    assert FORMULATIONS[name] <= set(formulations)
    kernels = [robot.compile(name, formulation=f, target="interpreter") for f in formulations]
    assert {k.stats.formulation for k in kernels} == set(formulations)
    assert len({k.source.ir for k in kernels}) == len(kernels), "two formulations are one program"
    results = [k(state.q, state.qd, last) for k in kernels]
    first, *others = (r if isinstance(r, tuple) else (r,) for r in results)
    for other in others:
        for a, b in zip(other, first, strict=True):
            assert_close(a, b, name, 1e-10)


@pytest.mark.parametrize("name", FORMULATIONS)
def test_formulations_agree(name: str) -> None:
    formulations_agree(robot(), name)


@pytest.mark.parametrize(("source", "floating"), [("iiwa14", False), ("hyq", True), ("chain:5", False)])
def test_formulations_of_forward_dynamics_agree(source: str, floating: bool) -> None:
    formulations_agree(robomorph.load(source, floating_base=floating), "forward_dynamics")


# --- kernels tell about themselves -----------------------------------------------------------------


def test_stats_and_source() -> None:
    kernel = robot().compile("inverse_dynamics_gradient")
    assert isinstance(kernel, Kernel)
    stats = kernel.prepare(1).prepare(100).stats
    assert stats.algorithm == "inverse_dynamics_gradient"
    assert stats.formulation in stats.candidates
    assert sum(stats.operations.values()) > 0 and stats.flops >= sum(stats.operations.values())
    assert 0 < stats.depth < stats.flops
    assert set(stats.nonzeros) == {"dtau_dq", "dtau_dqd"}
    assert 0 < stats.nonzeros["dtau_dq"] <= NV * NV
    assert len(stats.compile_seconds) == 2 and all(t > 0 for t in stats.compile_seconds.values())
    source = kernel.source
    assert source.ir.startswith("program inverse_dynamics_gradient\n")
    assert "define" in source.code and source.ir in str(source)
    assert "inverse_dynamics_gradient" in repr(kernel) and "dtau_dqd" in repr(kernel)
    interpreted = robot().compile("mass_matrix", target="interpreter")
    assert interpreted.stats.algorithm == "mass_matrix" and interpreted.source.ir


def test_robot_tells_what_it_is() -> None:
    hyq = robomorph.load("hyq", floating_base=True)
    assert (hyq.nq, hyq.nv) == (19, 18)
    assert len(hyq.joint_names) == 13 and hyq.link_names[0] in hyq.frame_names
    assert hyq.neutral.shape == (19,) and hyq.neutral[6] == 1.0
    limits = hyq.limits
    assert limits.lower.shape == limits.upper.shape == (19,)
    assert limits.velocity.shape == limits.effort.shape == (18,)
    assert np.all(np.isinf(limits.upper[:7])) and np.all(limits.lower[7:] < limits.upper[7:])
    q, v = hyq.coordinates(hyq.joint_names[1])
    assert (q, v) == (slice(7, 8), slice(6, 7))
    assert "hyq" in repr(hyq).lower()


def test_random_states_are_seeded_and_inside_the_limits() -> None:
    hyq = robomorph.load("hyq", floating_base=True)
    one, two = hyq.random_state(5, 50), hyq.random_state(np.random.default_rng(5), 50)
    assert_same_bits(one.q, two.q, "q")
    assert_same_bits(one.qd, two.qd, "qd")
    assert one.q.shape == (50, 19) and one.qd.shape == (50, 18)
    assert hyq.random_state(5).q.shape == (19,) and hyq.random_state(5, (2, 3)).q.shape == (2, 3, 19)
    assert np.all((one.q >= hyq.limits.lower) & (one.q <= hyq.limits.upper))
    np.testing.assert_allclose(np.linalg.norm(one.q[:, 3:7], axis=1), 1.0)
    assert not np.array_equal(one.q, hyq.random_state(6, 50).q)


def test_random_states_of_a_joint_that_may_not_move() -> None:
    """A velocity limit of -0 is a limit of 0."""
    text = robot_text(*arm()).replace('velocity="3"', 'velocity="-0"')
    state = robomorph.load(text).random_state(1, 5)
    assert np.all(state.qd == 0.0)


# --- the configuration manifold --------------------------------------------------------------------


def test_integrate_and_difference_broadcast_and_keep_dtype() -> None:
    hyq = robomorph.load("hyq", floating_base=True)
    q = hyq.random_state(1).q
    steps = np.random.default_rng(2).uniform(-1, 1, (4, 18))
    ahead = hyq.integrate(q, steps)
    assert ahead.shape == (4, 19)
    assert_close(hyq.difference(q, ahead), steps, "difference", 1e-10)
    single = hyq.integrate(q.astype("float32"), steps.astype("float32"))
    assert single.dtype == np.float32
    assert hyq.difference(q.astype("float32"), single).dtype == np.float32
    with pytest.raises(ArgumentError, match=r"^dq: expected shape \(\.\.\., 18\)"):
        hyq.integrate(q, q)
    with pytest.raises(ArgumentError, match=r"^q1: expected finite"):
        hyq.difference(q, np.full(19, np.nan))


def test_long_calls_let_other_python_threads_run() -> None:
    """By the work in a call, not by its rows alone: a large robot's single call may be a long one."""
    small: Any = robomorph.load("chain:2").compile("inverse_dynamics")
    large: Any = robomorph.load("chain:20").compile("forward_dynamics_gradient")
    assert small.prepare(128) is small and large.prepare(128) is large
    assert small.release_gil_above == 16
    assert large.release_gil_above <= 100_000 // large.stats.flops < 16
