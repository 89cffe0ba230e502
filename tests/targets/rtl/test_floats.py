"""Float32 words at the boundary: the definition against NumPy and rational numbers, the cells against it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robomorph
from robomorph.accelerators.accuracy import error_report
from robomorph.errors import ArgumentError
from robomorph.ir.fixed import Format
from robomorph.ir.floats import fixed_to_float, float_to_fixed, float_values, float_words
from robomorph.ir.ops import INPUT
from robomorph.targets.rtl.accelerator import Accelerator
from robomorph.targets.rtl.measure import measure
from robomorph.targets.rtl.simulate import Simulation, lint
from robomorph.targets.rtl.synthesis import check_by_yosys
from tests.targets.rtl.accelerators import accelerator
from tests.targets.rtl.toolchains import needs_verilator, needs_yosys

FORMATS = [Format(*pair) for pair in ((8, 0), (12, 9), (18, -5), (24, 30), (25, 7), (32, 16), (32, 30))]
ENDS = (np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-45, -1e-45, 1.1754944e-38, 3.4e38, -3.4e38)


def edge_words(form: Format) -> np.ndarray:
    """Patterns where something changes: ends of the format, halves, their neighbours, and IEEE's own."""
    top = form.top + np.array([-0.5, 0.0, 0.5, 1.0, 1.5])
    steps = np.concatenate([[0.5, 1.0, 1.5, 2.5], top])
    near = float_words(np.concatenate([steps, -steps]) * form.ulp)
    nans = [-1, 0x7FC00001 - (1 << 31)]
    return np.concatenate([near, near - 1, near + 1, float_words(np.array(ENDS)), nans])


def random_words(count: int) -> np.ndarray:
    """Patterns with every exponent, NaNs among them."""
    return np.random.default_rng(3).integers(-(2**31), 2**31, count)


@pytest.mark.parametrize("form", FORMATS, ids=lambda f: f.name)
def test_into_fixed_point_as_numpy_rounds(form: Format) -> None:
    words = np.concatenate([edge_words(form), random_words(20_000)])
    words = words[np.isfinite(float_values(words))]
    found, lost = float_to_fixed(words, form)
    expected, clipped = form.to_words(float_values(words))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(lost, clipped)
    assert lost.any() and not lost.all()


@settings(max_examples=300, deadline=None)
@given(word=st.integers(-(2**31), 2**31 - 1), bits=st.integers(8, 32), frac=st.integers(-16, 60))
def test_into_fixed_point_in_rational_numbers(word: int, bits: int, frac: int) -> None:
    form, value = Format(bits, frac), float(float_values(np.array(word)))
    found, lost = float_to_fixed(np.array(word), form)
    if not math.isfinite(value):
        assert (int(found), bool(lost)) == (form.top if word >= 0 else -form.top - 1, True)
        return
    exact = math.floor(Fraction(value) * Fraction(2) ** frac + Fraction(1, 2))
    clipped = max(-form.top - 1, min(form.top, exact))
    assert (int(found), bool(lost)) == (clipped, clipped != exact)


@pytest.mark.parametrize("form", FORMATS, ids=lambda f: f.name)
def test_out_of_fixed_point_as_numpy_rounds(form: Format) -> None:
    rng = np.random.default_rng(4)
    small = np.arange(-130, 128)
    ends = np.array([form.top, form.top - 1, -form.top, -form.top - 1])
    words = np.concatenate([small, ends, rng.integers(-form.top - 1, form.top + 1, 20_000)])
    # Ties between two floats, to be broken evenly.
    ties = (rng.integers(2**23, 2**24, 1000) * 2 + 1) << rng.integers(0, 7, 1000)
    words = np.concatenate([words, ties[ties <= form.top]])
    np.testing.assert_array_equal(fixed_to_float(words, form), float_words(form.to_reals(words)))


def float_accelerator(robot: str, **options: Any) -> Accelerator:
    return accelerator(robot, "inverse_dynamics", boundary="float32", **options)


@needs_verilator
@pytest.mark.parametrize(
    ("robot", "options"),
    [
        ("iiwa14", {"interval": 24, "format": "Q16.16"}),
        ("iiwa14", {"interval": 4, "bits": 22, "trig": "host"}),
        ("hyq", {"interval": 48, "bits": 32, "trig": "host"}),
        ("chain:3", {"interval": 12, "structure": "units"}),
    ],
    ids=["iiwa14-Q16.16", "iiwa14-22-bits", "hyq", "link-units"],
)
def test_chips_convert_as_defined(robot: str, options: dict[str, object]) -> None:
    """With pauses on both streams; the cycles are those of the schedule: conversion takes none."""
    a = float_accelerator(robot, **options)
    assert lint(a.design) == ""
    found = measure(a, a.sample(100, seed=9))
    assert found.exact, found
    assert (found.latency, found.last_word) == (a.design.stats.latency, a.design.stats.last_word)
    inner = accelerator(robot, "inverse_dynamics", **options)
    assert (found.latency, found.interval) == (inner.design.stats.latency, inner.design.stats.interval)


@needs_verilator
@pytest.mark.parametrize("bits", [10, 20, 25, 32])
def test_any_pattern_on_the_stream(bits: int) -> None:
    """Random patterns in every word, infinities and NaNs among them: words and flags as defined."""
    a = float_accelerator("chain:2", interval=5, bits=bits, speed=4.0)
    slots = len({n.value for n in a.fixed.program.nodes if n.op is INPUT})
    assert slots % a.design.streams[0].lanes != 0, "some lane of the last beat should be without a word"
    rng = np.random.default_rng(8)
    words = a.words(a.sample(400, seed=2))[0]
    wild = rng.integers(-(2**31), 2**31, words.shape)
    words = np.where(rng.random(words.shape) < 0.15, wild, words)
    slot, form = next(iter(a.fixed.input_formats.items()))
    edges = edge_words(form)
    words[: len(edges), slot] = edges
    expected = a.boundary.run(words)
    assert 0 < np.count_nonzero(expected.overflow) < len(words)
    simulation = Simulation(a.design)
    for pauses in (0, 35):
        run = simulation.run(words, pause_in=pauses, pause_out=pauses)
        np.testing.assert_array_equal(run.words, expected.words)
        np.testing.assert_array_equal(run.overflow, expected.overflow)


@needs_verilator
def test_kernel_with_float_words() -> None:
    robot = robomorph.load("chain:2")
    kernel = robot.compile("inverse_dynamics", target="rtl", interval=8, boundary="float32")
    q, qd = robot.random_state(0, (5,))
    qdd = np.ones((5, 2))
    np.testing.assert_allclose(kernel(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd), atol=1e-5)
    with pytest.warns(UserWarning, match="5 of 5 states"):
        kernel(q, qd, 1e9 * qdd)
    with pytest.raises(ArgumentError, match="boundary: expected one of fixed, float32"):
        robot.compile("inverse_dynamics", target="rtl", boundary="float16")


def test_float_words_cost_little_accuracy() -> None:
    worst = {
        boundary: error_report(a, a.sample(300, seed=1)).worst
        for boundary in ("fixed", "float32")
        for a in [accelerator("iiwa14", "inverse_dynamics", boundary=boundary, interval=24)]
    }
    # tau is up to some 200 Nm: half a last place of a float32 is 7.6e-6 there.
    assert worst["float32"] < worst["fixed"] + 5e-5


@needs_yosys
def test_yosys_reads_the_converters() -> None:
    a = float_accelerator("chain:2", interval=5, bits=20)
    assert check_by_yosys(a.design) > a.design.stats.adders
