"""Products with derivatives from what the forward pass had found, against the matrices."""

from __future__ import annotations

import numpy as np
import pytest

import robomorph
from robomorph.bench.given import factors_of, given_factors, given_inverse


@pytest.mark.parametrize("name", ["iiwa14", "hyq"])
def test_given_accelerations_and_factors_give_the_product(name: str) -> None:
    robot = robomorph.load(name)
    q, qd = robot.random_state(0, 9)
    tau, w = np.random.default_rng(1).normal(size=(2, *qd.shape))
    slopes = robot.forward_dynamics_gradient(q, qd, tau)
    matrices = (slopes.dqdd_dq, slopes.dqdd_dqd, slopes.minv)
    expected = [np.einsum("bi,bij->bj", w, matrix) for matrix in matrices]
    by_inverse = given_inverse(robot)(q, qd, slopes.qdd, slopes.minv, w)
    by_factors = given_factors(robot)(q, qd, slopes.qdd, factors_of(robot)(q), w)
    for found in (by_inverse, by_factors):
        for mine, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())


def test_factors_are_those_of_the_mass_matrix() -> None:
    """Of a tree: a joint shares entries only with those between it and the root, three to a leg here."""
    robot = robomorph.load("hyq")
    q = robot.random_state(0, 5).q
    packed = factors_of(robot)(q)
    assert packed.shape == (5, 4 * 6)
    factors = np.zeros((5, robot.nv, robot.nv))
    rows, columns = np.nonzero(np.tril(np.kron(np.eye(4), np.ones((3, 3)))))
    factors[:, rows, columns] = packed
    lower = np.tril(factors, -1) + np.eye(robot.nv)
    diagonal = 1.0 / np.einsum("bii->bi", factors)
    mass = np.einsum("bki,bk,bkj->bij", lower, diagonal, lower)
    np.testing.assert_allclose(mass, robot.mass_matrix(q), rtol=0, atol=1e-13)
