"""Native evaluation of motion problems against plain loops, complex steps and differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robomorph.planning.problem import Problem
from robomorph.planning.solvers.native_problem import NativeProblem
from tests.planning.invented import Invented, Kernels, Reference, by_complex_steps, invented_problem, second

CASES: dict[str, dict[str, Any]] = {
    "clamped": {},
    "periodic": {"blocks": "periodic"},
    "shared": {"blocks": "shared", "duration": (0.5, 2.0)},
    "duration": {"duration": (0.4, 3.0), "cost": (1.0, 0.0, 2.0)},
    "energy": {"cost": (0.0, 0.7, 0.0), "sparse": True},
    "all": {"duration": (0.4, 3.0), "cost": (0.5, 0.7, 2.0), "sparse": True},
    "many nodes": {"nodes": 11, "duration": (0.4, 3.0), "cost": (0.5, 0.7, 2.0), "points": 6},
    "one node": {"nodes": 1, "width": 2},
    "no torques": {"torque": False, "duration": (0.4, 3.0), "sparse": True},
    "no channels": {"channels": 0, "cost": (0.5, 0.7, 0.0)},
    "few": {"blocks": "few", "duration": (0.4, 3.0), "cost": (0.5, 0.7, 2.0), "sparse": True},
    "few, fixed duration": {"blocks": "few", "cost": (0.5, 0.7, 0.0)},
    "duration alone": {"blocks": "none", "duration": (0.4, 3.0), "cost": (0.5, 0.7, 2.0)},
    "wide": {"nv": 9, "channels": 2, "points": 5, "width": 3, "nodes": 4, "sparse": True},
}


def case(name: str, seed: int) -> tuple[NativeProblem, Reference, Any, Any]:
    rng = np.random.default_rng(seed)
    problem, functions = invented_problem(rng, **CASES[name])
    native = made(problem, functions)
    x = native.initial() + 0.1 * rng.normal(size=problem.variables)
    if problem.duration is not None:
        x[-1] = rng.uniform(0.7, 1.4)
    return native, Reference(problem, functions), x, rng


def made(problem: Problem, functions: Invented, threads: int = 1) -> NativeProblem:
    kernels = Kernels(functions)
    return NativeProblem(problem, kernels.table, kernels, threads)


@pytest.mark.parametrize("name", CASES)
def test_values_and_first_derivatives(name: str) -> None:
    native, reference, x, rng = case(name, 1)
    cost, rows = native.values(x)
    assert rows.shape == (native.sizes["rows"],) and native.sizes["variables"] == len(x)
    np.testing.assert_allclose(cost, reference.cost(x), rtol=1e-11)
    np.testing.assert_allclose(rows, reference.rows(x), rtol=1e-11, atol=1e-11)
    gradient = native.linearise(x)
    assert gradient is not None
    np.testing.assert_allclose(gradient, by_complex_steps(reference.cost, x), rtol=1e-10, atol=1e-10)
    jacobian = by_complex_steps(reference.rows, x)
    found = np.stack([native.times(e) for e in np.eye(len(x))], axis=-1)
    np.testing.assert_allclose(found, jacobian, rtol=1e-10, atol=1e-10)
    multipliers = rng.normal(size=len(rows))
    np.testing.assert_allclose(native.transposed_times(multipliers), multipliers @ jacobian, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_the_condensed_matrix(name: str) -> None:
    native, reference, x, rng = case(name, 2)
    native.linearise(x)
    native.values(x + 0.1)  # a trial elsewhere must not disturb what was linearised
    jacobian = by_complex_steps(reference.rows, x)
    weights = rng.uniform(-1.0, 3.0, len(jacobian))
    multipliers = rng.normal(size=len(jacobian))
    squares = jacobian.T @ (weights[:, None] * jacobian)
    bent = second(reference.cost, x)
    rows = second(lambda y: multipliers @ reference.rows(y), x)
    found = native.condensed(0.7, multipliers, weights, True)
    size = 1 + abs(found).max()
    np.testing.assert_allclose(found, 0.7 * bent + rows + squares, atol=3e-8 * size)
    none = np.zeros(len(jacobian))
    np.testing.assert_allclose(native.condensed(0.0, multipliers, weights, False), squares, atol=1e-11 * size)
    np.testing.assert_allclose(native.condensed(0.0, multipliers, none, True), rows, atol=3e-8 * size)
    if not reference.problem.cost.energy:  # the energy counts with its Gauss-Newton part then
        np.testing.assert_allclose(
            native.condensed(0.7, multipliers, none, False), 0.7 * bent, atol=3e-8 * size
        )


def test_without_exact_derivatives_the_energy_is_a_sum_of_squares() -> None:
    native, _, x, _ = case("energy", 3)
    native.linearise(x)
    none = np.zeros(native.sizes["rows"])
    assert np.linalg.eigvalsh(native.condensed(1.0, none, none, False)).min() > -1e-9


@pytest.mark.parametrize("name", CASES)
def test_margins(name: str) -> None:
    native, reference, x, _ = case(name, 4)
    problem = reference.problem
    before = native.bounds()
    expected = reference.margins(x)
    sizes = [len(problem.matrices[k]) for k in problem.rows.matrix]
    assert native.refresh_margins(x) is bool(expected.any())
    assert native.refresh_margins(x) is False
    lower, upper, margins = native.bounds()
    full = np.zeros(len(lower))
    full[: sum(sizes)] = np.repeat(expected, sizes)
    np.testing.assert_allclose(margins, full, rtol=1e-10, atol=1e-12)
    drawn = np.minimum(full, np.where(np.isinf(before[1] - before[0]), np.inf, (before[1] - before[0]) / 8))
    np.testing.assert_allclose(lower, before[0] + drawn)
    np.testing.assert_allclose(upper, before[1] - drawn)
    assert (lower <= upper).all()


def test_bounds_are_scaled() -> None:
    native, reference, _, _ = case("duration", 5)
    problem, rows = reference.problem, reference.problem.rows
    lower, upper, _ = native.bounds()
    sizes = [len(problem.matrices[k]) for k in rows.matrix]
    np.testing.assert_allclose(lower[: sum(sizes)], np.repeat(rows.lower / rows.scale, sizes))
    np.testing.assert_allclose(upper[: sum(sizes)], np.repeat(rows.upper / rows.scale, sizes))
    assert (lower[-1], upper[-1]) == problem.duration
    assert np.isinf(lower).any() and np.isinf(upper).any()


@pytest.mark.parametrize("name", ["all", "shared"])
def test_answers_do_not_depend_on_threads(name: str) -> None:
    rng = np.random.default_rng(6)
    problem, functions = invented_problem(rng, **CASES[name])
    results = []
    for threads in (1, 2, 5):
        native = made(problem, functions, threads)
        x, m, w = (np.linspace(0.8, 1.2, n) for n in (problem.variables, *[native.sizes["rows"]] * 2))
        for _ in range(3):
            native.refresh_margins(x)
            found = [*native.bounds(), *native.values(x), native.linearise(x), native.times(x)]
            found += [native.transposed_times(m), native.condensed(0.3, m, w, True)]
            results.append(b"".join(np.asarray(part).tobytes() for part in found))
    assert len(set(results)) == 1


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_point_without_values_is_told() -> None:
    native, _, x, _ = case("all", 7)
    bad = x.copy()
    bad[0] = np.inf
    assert np.isnan(native.values(bad)[0]) and native.linearise(bad) is None
    for sigma in (0.0, -1.0, np.nan):
        bad = x.copy()
        bad[-1] = sigma
        assert np.isnan(native.values(bad)[0]) and native.linearise(bad) is None
        assert native.refresh_margins(bad) is False
    assert np.isfinite(native.values(x)[0])
