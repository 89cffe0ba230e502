"""The paper's method: extremes of Taylor polynomials."""

from __future__ import annotations

import numpy as np
import pytest

from robomorph import ArgumentError
from robomorph.planning import Motion, nodes
from robomorph.planning.paper import DEGREE, PaperEvaluator, PaperJacobian, extremes, taylor
from robomorph.tasks import CenterOfMass, Position
from tests.planning.motions import FRAME, arm
from tests.planning.test_derivatives import dense, differences

Q0 = np.array([0.5, 0.6, 0.0, -1.2, 0.0, 0.8, 0.0])


@pytest.mark.parametrize("rate", [0, 1, 2])
def test_taylor_coefficients(rate: int) -> None:
    """Of sin(2 x + 1): its derivatives at 0 are known."""
    found = taylor(rate) @ np.sin(2 * nodes.lobatto(14) + 1)
    factorial = np.cumprod([1, *range(1, DEGREE + 1)])
    wanted = [2.0 ** (k + rate) * np.sin(1 + (k + rate) * np.pi / 2) for k in range(DEGREE + 1)]
    assert np.allclose(found, wanted / factorial, rtol=0, atol=1e-5)


def test_extremes_against_samples() -> None:
    rng = np.random.default_rng(0)
    polynomials = rng.normal(size=(300, DEGREE + 1)) * 10.0 ** rng.uniform(-3, 3, (300, 1))
    for k in range(DEGREE + 1):  # lower degrees too, constants among them
        polynomials[20 * k : 20 * k + 20, k:] = 0.0
    x = np.linspace(-1.0, 1.0, 20_001)
    values = polynomials @ (x ** np.arange(DEGREE + 1)[:, None])
    places, found = extremes(polynomials)
    size = np.abs(values).max(axis=1) + 1e-300
    for side, wanted in ((0, values.min(axis=1)), (1, values.max(axis=1))):
        assert (np.abs(found[:, side] - wanted) <= 1e-7 * size).all()
    at = np.einsum("kd,ksd->ks", polynomials, places[..., None] ** np.arange(DEGREE + 1))
    assert np.allclose(at, found, rtol=1e-12)


@pytest.mark.parametrize("free", [False, True])
def test_jacobian(free: bool) -> None:
    motion = Motion(arm(), (1.0, 4.0) if free else 2.0, 6, start=Q0, end=-Q0).limits(
        torque=0.8, acceleration=9
    )
    half = 0.5 if free else 1.0
    motion.keep(Position(FRAME), -1, 1, rate=1).keep(CenterOfMass(), -1, 1).keep(
        Position(FRAME), 0, 1, during=half
    )
    evaluator = motion.problem("jerk", "paper").evaluator
    assert isinstance(evaluator, PaperEvaluator)
    noise = 0.1 * np.random.default_rng(1).normal(size=evaluator.problem.control.shape)
    x = evaluator.variables(evaluator.problem.control + noise, 1.1)
    jacobian = PaperJacobian(evaluator)
    found = dense(jacobian, jacobian.values(x), (evaluator.count, len(x)))
    wanted = differences(evaluator.rows, x)
    off = np.abs(found - wanted).max(axis=1) / np.maximum(1.0, np.abs(wanted).max(axis=1))
    assert np.quantile(off, 0.99) < 1e-5  # an extremum may jump between two places within a difference


def test_a_plan_without_cost() -> None:
    away = Q0 * [-1, 1.2, 1, 0.8, 1, 1, 1]
    motion = Motion(arm(), 4.0, 8, start=Q0, end=away).limits()
    height = arm().forward_kinematics(Q0, FRAME)[2, 3]
    motion.keep(Position(FRAME), (-9, -9, height + 0.05), 9, during=(1.5, 2.0))
    plan = motion.solve(None, method="paper")
    assert plan.success and plan.solver == "ipopt" and plan.method == "paper"
    assert not [m for m in plan.violations(1000) if m.scaled < -0.05]  # its error is not accounted for


def test_only_ipopt() -> None:
    with pytest.raises(ArgumentError, match=r"solver: method 'paper' .* expected 'ipopt', found 'native'"):
        Motion(arm(), 3.0, 8, start=Q0, end=-Q0).solve(method="paper", solver="native")
