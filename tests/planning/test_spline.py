"""Splines and their coefficients against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BPoly, BSpline

from robomorph.planning.spline import (
    DEGREE,
    WIDTH,
    Spline,
    basis,
    bernstein_matrix,
    end_points,
    smoothness,
)

RNG = np.random.default_rng(0)
CONTROL = RNG.normal(size=(13, 4))
KNOT = 0.4
SPLINE = Spline(CONTROL, 4.0)


def reference(order: int) -> BSpline:
    spline = BSpline(np.arange(-DEGREE, len(CONTROL) + 1) * KNOT, CONTROL, DEGREE)
    return spline.derivative(order) if order else spline


@pytest.mark.parametrize("order", range(4))
def test_against_scipy(order: int) -> None:
    t = np.linspace(0.0, 4.0, 101)[:-1].reshape(10, 10)
    assert np.allclose(SPLINE(t, order), reference(order)(t), rtol=0, atol=1e-12)
    assert SPLINE(1.0, order).shape == (4,) and SPLINE(t, order).shape == (10, 10, 4)


@pytest.mark.parametrize("order", range(4))
@pytest.mark.parametrize("joints", [1, 4, 7, 33])
def test_a_time_gives_the_same_bits_alone_and_among_others(order: int, joints: int) -> None:
    spline = Spline(RNG.normal(size=(13, joints)), 4.0)
    t = RNG.uniform(0.0, 4.0, 200)
    alone = np.stack([spline(x, order) for x in t])
    assert np.array_equal(spline(t, order), alone)
    assert np.array_equal(spline(t.reshape(2, 50, 2), order).reshape(200, joints), alone)
    assert np.array_equal(spline(t[::-3], order), alone[::-3])


def test_times_outside_are_held_at_the_ends() -> None:
    assert np.array_equal(SPLINE([-1.0, 5.0]), SPLINE([0.0, 4.0]))


@pytest.mark.parametrize("end", [0.0, 4.0])
def test_an_end_has_the_state_that_was_given(end: float) -> None:
    state = RNG.normal(size=(3, 4))
    control = CONTROL.copy()
    control[slice(0, 3) if end == 0.0 else slice(-3, None)] = end_points(state, KNOT)
    found = [Spline(control, 4.0)(end, order) for order in range(3)]
    assert np.allclose(found, state, rtol=0, atol=1e-12)


@pytest.mark.parametrize("order", range(4))
@pytest.mark.parametrize(("begin", "end"), [(0.0, 1.0), (0.2, 0.7), (1 / 3, 1 / 3 + 1e-3)])
def test_bernstein_coefficients(order: int, begin: float, end: float) -> None:
    u = np.linspace(begin, end, 11)
    coefficients = bernstein_matrix(begin, end, order) @ CONTROL[2 : 2 + WIDTH]
    expected = basis(u, order) @ CONTROL[2 : 2 + WIDTH]
    assert np.allclose(BPoly(coefficients[:, None], [begin, end])(u), expected, rtol=0, atol=1e-11)


def test_smoothness_is_the_integral_of_squared_jerk() -> None:
    t = np.linspace(0.0, 4.0, 4001)
    middle = (t[1:] + t[:-1]) / 2
    integral = (SPLINE(middle, 3) ** 2).sum(axis=0) * 1e-3
    squares = (smoothness(len(CONTROL), KNOT) @ CONTROL) ** 2
    assert np.allclose(squares.sum(axis=0), integral, rtol=1e-9)
