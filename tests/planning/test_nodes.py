"""Polynomials from values at nodes: every matrix against polynomials with known coefficients."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import Polynomial, chebyshev
from scipy.interpolate import BPoly

from robomorph.planning import nodes

X = np.linspace(-1.0, 1.0, 23)


def random_polynomial(degree: int) -> Polynomial:
    return Polynomial(np.random.default_rng(degree).normal(size=degree + 1))


@pytest.mark.parametrize("degree", [2, 5, 7, 14])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_coefficients(degree: int, order: int) -> None:
    polynomial = random_polynomial(degree)
    values, wanted = polynomial(nodes.lobatto(degree)), polynomial.deriv(order)(X) if order else polynomial(X)
    scale = np.abs(wanted).max()
    coefficients = nodes.coefficients(degree, order) @ values
    assert np.allclose(chebyshev.chebval(X, coefficients), wanted, rtol=0, atol=1e-12 * scale)
    bernstein = nodes.bernstein(degree, order) @ values
    assert np.allclose(BPoly(bernstein[:, None], [-1, 1])(X), wanted, rtol=0, atol=1e-10 * scale)
    at = nodes.at_points(degree, tuple(X), order) @ values
    assert np.allclose(at, wanted, rtol=0, atol=1e-12 * scale)


def test_outer_coefficients_are_the_values_there() -> None:
    matrix = nodes.bernstein(7, 0)
    assert np.array_equal(matrix[[0, -1]], np.eye(8)[[0, -1]])


@pytest.mark.parametrize("degree", [4, 7])
def test_quadrature(degree: int) -> None:
    polynomial = random_polynomial(degree)
    integral = polynomial.integ()(1.0) - polynomial.integ()(-1.0)
    assert np.isclose(nodes.quadrature(degree) @ polynomial(nodes.lobatto(degree)), integral, rtol=1e-13)
    assert (nodes.quadrature(degree) > 0.0).all()


def test_nodes_of_twice_the_degree_hold_those_of_the_degree() -> None:
    assert np.allclose(nodes.lobatto(14)[::2], nodes.lobatto(7), rtol=0, atol=1e-16)


def test_coefficients_bound_the_polynomial() -> None:
    """What rows between bounds are for: no value outside of the least and largest coefficient."""
    rng = np.random.default_rng(1)
    fine = np.linspace(-1.0, 1.0, 401)
    for _ in range(100):
        values = rng.normal(size=8)
        hull = nodes.bernstein(7, 0) @ values
        found = nodes.at_points(7, tuple(fine), 0) @ values
        assert hull.min() - 1e-12 <= found.min() and found.max() <= hull.max() + 1e-12
