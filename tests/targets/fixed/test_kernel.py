"""Kernels in fixed point as users meet them: calls, options, words, flags, threads, the cache."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph.compiler.program import compile_fixed, compile_program
from robomorph.errors import ArgumentError, OverflowWarning, TargetError
from robomorph.ir.fixed import Format
from robomorph.ir.program import Port
from robomorph.ir.trace import Tracer
from tests.ir.test_choices import traced
from tests.targets.rtl.accelerators import accelerator

Array = npt.NDArray[Any]
GRADIENT = "forward_dynamics_gradient"


@pytest.fixture(scope="module")
def robot() -> robomorph.Robot:
    return robomorph.load("chain:2")


def state(robot: robomorph.Robot, batch: tuple[int, ...] = ()) -> tuple[Array, Array, Array]:
    """q, qd, qdd within what formats are chosen for."""
    q, qd = robot.random_state(2, batch)
    return q, np.clip(qd, -0.5, 0.5), np.full((*batch, robot.nv), 0.5)


def driven(robot: robomorph.Robot, batch: tuple[int, ...] = ()) -> tuple[Array, Array, Array]:
    """q, qd, tau of the same states."""
    q, qd, qdd = state(robot, batch)
    return q, qd, robot.inverse_dynamics(q, qd, qdd)


def test_results_are_those_of_float64_but_for_rounding(robot: robomorph.Robot) -> None:
    kernel = robot.compile(GRADIENT, target="fixed")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = kernel(*driven(robot, (2, 5)))
    expected = robot.forward_dynamics_gradient(*driven(robot, (2, 5)))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-4 * max(1.0, np.abs(theirs).max()))
    assert found._fields == expected._fields
    assert kernel.overflow.shape == (2, 5) and not kernel.overflow.any()
    assert kernel.stats.number_format == "32-bit words, format per signal"
    assert (kernel.stats.states, kernel.stats.overflows, kernel.stats.lane_bits) == (10, 0, 64)
    assert "smax" in kernel.source.code


def test_one_format_for_all(robot: robomorph.Robot) -> None:
    for name, bits in (("Q16.16", 64), ("Q14.6", 64), ("Q12.5", 64), ("Q8.8", 32)):
        kernel = robot.compile("inverse_dynamics", target="fixed", format=name)
        assert kernel.stats.number_format == name and kernel.stats.lane_bits == bits
        form = Format.parse(name)
        q, qd, _ = state(robot, (20,))
        tau = kernel(q, qd, 0.1 * qd)
        np.testing.assert_array_equal(tau, np.round(tau / form.ulp) * form.ulp)  # words of that format
        np.testing.assert_allclose(tau, robot.inverse_dynamics(q, qd, 0.1 * qd), rtol=0, atol=60 * form.ulp)


def test_saturation_is_told_per_state(robot: robomorph.Robot) -> None:
    kernel = robot.compile("inverse_dynamics", target="fixed", format="Q8.8")
    q, qd, qdd = state(robot, (4,))
    qdd[[1, 3]] = 1e4
    with pytest.warns(OverflowWarning, match="2 of 4 states saturated") as caught:
        tau = kernel(q, qd, qdd)
    assert caught[0].filename == __file__
    assert kernel.overflow.tolist() == [False, True, False, True]
    assert np.abs(tau).max() <= 128.0
    assert kernel.stats.overflows == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = kernel.words(q, qd, qdd)  # gives the flags itself
    assert result.overflow.tolist() == [False, True, False, True]
    np.testing.assert_array_equal(result.words / 2.0**8, tau)
    with pytest.warns(OverflowWarning, match="1 of 1 states"):
        kernel(q[0], qd[0], qdd[1])
    assert kernel.overflow.shape == () and bool(kernel.overflow)


def test_minv_given(robot: robomorph.Robot) -> None:
    """As on the papers' chip: at the true qdd, with M^-1 as a further argument."""
    kernel = robot.compile(GRADIENT, target="fixed", preset="papers")
    assert [port.name for port in kernel.inputs] == ["q", "qd", "qdd", "minv"]
    q, qd, tau = driven(robot, (7,))
    true = robot.forward_dynamics_gradient(q, qd, tau)
    dq, dqd = kernel(q, qd, true.qdd, true.minv)
    np.testing.assert_allclose(dq, true.dqdd_dq, rtol=0, atol=1e-3)
    np.testing.assert_allclose(dqd, true.dqdd_dqd, rtol=0, atol=1e-3)
    part = robot.compile(GRADIENT, target="fixed", minv="given", outputs=["dqdd_dq"])
    np.testing.assert_allclose(part(q, qd, true.qdd, true.minv), true.dqdd_dq, rtol=0, atol=1e-3)


@pytest.mark.parametrize("options", [{}, {"trig": "host"}, {"boundary": "float32"}])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_way_in_and_out(robot: robomorph.Robot, dtype: str, options: dict[str, Any]) -> None:
    """Single states, batches, arrays given for results: all the same numbers."""
    kernel: Any = robot.compile("inverse_dynamics", target="fixed", dtype=dtype, **options)
    args = [x.astype(dtype) for x in state(robot, (3, 4))]
    found = kernel(*args)
    assert found.dtype == np.dtype(dtype)
    place = np.zeros_like(found)
    assert kernel(*args, out=place) is place
    np.testing.assert_array_equal(place, found)
    np.testing.assert_array_equal(kernel(*(x[1, 2] for x in args)), found[1, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        a = accelerator("chain:2", "inverse_dynamics", **options)
        named = dict(
            zip(("q", "qd", "qdd"), (x.astype(np.float64).reshape(12, 2) for x in args), strict=True)
        )
        reals, expected = a.interpret(named)
        np.testing.assert_array_equal(kernel.words(*args).words.reshape(12, -1), expected.words)
        np.testing.assert_array_equal(found.reshape(12, 2), reals["tau"].astype(dtype))


def test_numbers_that_are_none_are_refused_or_saturate(robot: robomorph.Robot) -> None:
    q, qd, qdd = state(robot, (3,))
    qd[0, 0], qdd[1, 1] = np.nan, -np.inf
    for options in ({}, {"trig": "host"}):
        kernel: Any = robot.compile("inverse_dynamics", target="fixed", **options)
        with pytest.raises(ArgumentError, match=r"^qd: expected finite numbers, found nan"):
            kernel(q, qd, qdd)
        kernel.check_finite = False
        with pytest.warns(OverflowWarning, match="2 of 3 states"):
            tau = kernel(q, qd, qdd)
        a = accelerator("chain:2", "inverse_dynamics", **options)
        np.testing.assert_array_equal(tau, a.interpret({"q": q, "qd": qd, "qdd": qdd})[0]["tau"])
        assert kernel.overflow.tolist() == [True, True, False]


def test_threads_and_blocks_change_nothing(robot: robomorph.Robot) -> None:
    """One thread and two; batches around the block of lanes and of several blocks."""
    one, two = (robot.compile(GRADIENT, target="fixed", bits=18, threads=n) for n in (1, 2))
    assert (one.threads, two.threads) == (1, 2)
    two.compiled.min_blocks_per_thread = 1
    lanes = one.compiled.lanes
    q, qd, tau = driven(robot, (9 * lanes + 3,))
    qd[::3] *= 50.0
    whole = one.words(q, qd, tau)
    assert 0 < np.count_nonzero(whole.overflow) < len(q)
    for count in (1, 2, lanes - 1, lanes, lanes + 1, 4 * lanes - 1, 4 * lanes, 4 * lanes + 1, len(q)):
        for kernel in (one, two):
            two.compiled.min_blocks_per_thread = 1  # measured anew when code is made
            found = kernel.words(q[:count], qd[:count], tau[:count])
            np.testing.assert_array_equal(found.words, whole.words[:count])
            np.testing.assert_array_equal(found.overflow, whole.overflow[:count])
    assert one.words(q[:0], qd[:0], tau[:0]).words.shape == (0, whole.words.shape[1])


def test_code_is_found_again(tmp_path: Any) -> None:
    """Another process neither traces nor compiles."""
    script = """
import robomorph, numpy as np
from robomorph.compiler.specialise import Specialiser
if {warm}:
    Specialiser.specialise = None
kernel = robomorph.load("chain:2").compile("inverse_dynamics", target="fixed", bits=20)
kernel(np.zeros((9, 2)), np.zeros((9, 2)), np.zeros((9, 2)))
print(kernel.stats.from_cache)
"""
    said = []
    for warm in (False, True):
        done = subprocess.run(
            [sys.executable, "-c", script.replace("{warm}", str(warm))],
            capture_output=True,
            text=True,
            env={"ROBOMORPH_CACHE_DIR": str(tmp_path)},
            check=False,
        )
        assert done.returncode == 0, done.stderr
        said.append(done.stdout.strip())
    assert said == ["False", "True"]


def test_options_are_refused_by_name(robot: robomorph.Robot) -> None:
    def refused(match: str, **options: Any) -> None:
        with pytest.raises(ArgumentError, match=match):
            robot.compile("inverse_dynamics", target="fixed", **options)

    refused("interval: not an option of target 'fixed': it has preset, format, bits", interval=4)
    refused("format: expected a name such as 'Q16.16', found '16.16'", format="16.16")
    refused("format: expected text such as 'Q16.16', found 16", format=16)
    refused("format: expected 8 to 32 bits, found 48", format="Q24.24")
    refused("bits: expected 8 to 32, found 33", bits=33)
    refused("trig: expected one of chip, host, found 'fpga'", trig="fpga")
    refused("preset: expected one of complete, papers", preset="small")
    refused("minv='given': only for forward_dynamics_gradient", minv="given")


def test_bare_programs_take_one_format() -> None:
    tracer = Tracer()
    ports = (Port("x", (2,)),)
    x, y = tracer.inputs(ports)["x"]
    program = tracer.program("area", ports, {"a": x * y, "b": [x + y, 0.25]})
    kernel: Any = compile_program(program, "fixed", options={"format": "Q10.8"})
    a, b = kernel(np.array([[1.5, 2.25], [-3.0, 0.125]]))
    assert a.tolist() == [3.375, -0.375] and b.tolist() == [[3.75, 0.25], [-2.875, 0.25]]
    with pytest.raises(ArgumentError, match=r"area is a bare program.*format='Q16\.16'"):
        compile_program(program, "fixed")
    with pytest.raises(ArgumentError, match="leave them out"):
        compile_program(program, "fixed", options={"format": "Q10.8", "structure": "units"})
    with pytest.raises(TargetError, match="clamp: fixed point, and so hardware, has no max, min"):
        compile_program(traced("clamp"), "fixed", options={"format": "Q10.8"})


def test_words_out_of_range_are_refused(robot: robomorph.Robot) -> None:
    fixed = robot.compile("inverse_dynamics", target="fixed", format="Q8.8").fixed
    words = np.zeros((2, fixed.program.input_size), np.int64)
    words[1, 3] = 2**15
    with pytest.raises(ArgumentError, match=r"words: column 3 has words that format Q8\.8 does not have"):
        compile_fixed(fixed).run(words)
