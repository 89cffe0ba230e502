"""Jacobians, gradients and Hessians of whole problems against differences: a wrong one may still converge."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robomorph.planning import Motion
from robomorph.planning.evaluate import Evaluator
from robomorph.planning.hessian import Hessian
from robomorph.planning.jacobian import Jacobian, cost_gradient
from tests.planning.motions import COSTS, MOTIONS

Array = npt.NDArray[Any]
STEP = 1e-5


def at_random(motion: Motion, method: str = "bernstein") -> tuple[Evaluator, Array]:
    cost = {**COSTS, "time": 3.0} if motion.duration.free else COSTS
    evaluator = motion.problem(cost, method).evaluator
    control = evaluator.problem.control
    noise = 0.1 * np.random.default_rng(7).normal(size=control.shape)
    return evaluator, evaluator.variables(control + noise, 1.1)


def differences(function: Any, x: Array) -> Array:
    """Columns of a Jacobian, by fourth order."""
    columns = []
    for step in np.eye(len(x)) * STEP:
        near, far = (function(x + k * step) - function(x - k * step) for k in (1, 2))
        columns.append((8 * near - far) / (12 * STEP))
    return np.stack(columns, axis=-1)


def dense(matrix: Any, values: Array, shape: tuple[int, int]) -> Array:
    out = np.zeros(shape)
    out[matrix.row, matrix.column] = values
    return out


def rounding(evaluator: Evaluator) -> Array:
    """(rows,): what rounding makes of differences; second derivatives over short pieces are large sums."""
    out = np.zeros(evaluator.count)
    for group in evaluator.groups:
        weight = np.abs(group.matrix).sum(axis=1) / group.scale[:, None]
        out[group.rows] = 1e-14 / STEP * weight * (300.0 if group.torque else 1.0)
    return out


@pytest.mark.parametrize("method", ["bernstein", "grid"])
@pytest.mark.parametrize("name", MOTIONS)
def test_jacobian_and_gradient(name: str, method: str) -> None:
    evaluator, x = at_random(MOTIONS[name](), method)
    jacobian = Jacobian(evaluator)
    assert len(set(zip(jacobian.row.tolist(), jacobian.column.tolist(), strict=True))) == len(jacobian.row)
    found = dense(jacobian, jacobian.values(x), (evaluator.count, len(x)))
    wanted = differences(evaluator.rows, x)
    size = np.abs(wanted).max(axis=1, keepdims=True)
    assert (np.abs(found - wanted) <= 1e-7 * np.maximum(size, 1.0) + rounding(evaluator)[:, None]).all()
    slope = differences(evaluator.cost, x)
    assert np.allclose(cost_gradient(evaluator, x), slope, rtol=1e-7, atol=1e-7 * np.abs(slope).max())


@pytest.mark.parametrize("name", MOTIONS)
def test_hessian(name: str) -> None:
    evaluator, x = at_random(MOTIONS[name]())
    n = len(x)
    multipliers = np.random.default_rng(5).normal(size=evaluator.count)
    jacobian, hessian = Jacobian(evaluator), Hessian(evaluator)
    assert (hessian.row >= hessian.column).all()

    def slope(y: Array) -> Array:
        rows = dense(jacobian, jacobian.values(y), (evaluator.count, n))
        return np.asarray(1.3 * cost_gradient(evaluator, y) + multipliers @ rows)

    lower = dense(hessian, hessian.values(x, multipliers, 1.3), (n, n))
    found = lower + np.tril(lower, -1).T
    wanted = differences(slope, x)
    assert np.allclose(found, wanted, rtol=0, atol=1e-7 * np.abs(wanted).max())


@pytest.mark.parametrize("name", MOTIONS)
def test_the_tree_leaves_out_only_zeros(name: str) -> None:
    evaluator, x = at_random(MOTIONS[name]())
    shape = (evaluator.count, len(x))
    filtered, full = Jacobian(evaluator), Jacobian(evaluator, tree=False)
    assert np.array_equal(dense(filtered, filtered.values(x), shape), dense(full, full.values(x), shape))
