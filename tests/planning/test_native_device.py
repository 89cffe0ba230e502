"""Native motion problems whose functions a device evaluates, against the same with kernels on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from robomorph.planning.solvers.native_problem import NativeProblem
from tests.planning.invented import Kernels, invented_problem
from tests.planning.invented_device import InventedDevice
from tests.planning.test_native_problem import CASES


def pair(name: str, dtype: str = "float64") -> tuple[NativeProblem, NativeProblem, InventedDevice, Any]:
    rng = np.random.default_rng(5)
    problem, functions = invented_problem(rng, **CASES[name])
    kernels, device = Kernels(functions), InventedDevice(problem, functions, dtype)
    usual = NativeProblem(problem, kernels.table, kernels, 1)
    other = NativeProblem(problem, {"device": device.handed}, device, 2)
    x = usual.initial() + 0.1 * rng.normal(size=problem.variables)
    if problem.duration is not None:
        x[-1] = 1.2
    return usual, other, device, x


def findings(native: NativeProblem, x: Any) -> list[Any]:
    """Everything that is asked of a problem."""
    rng = np.random.default_rng(6)
    count = native.sizes["rows"]
    multipliers, weights = rng.normal(size=count), rng.uniform(0.1, 2.0, count)
    out = [native.refresh_margins(x), *native.bounds(), *native.values(x)]
    out += [native.linearise(x), native.times(x), native.transposed_times(multipliers)]
    native.values(x + 0.1)  # a trial elsewhere must not disturb what was linearised
    out += [native.condensed(0.7, multipliers, weights, True)]
    return [*out, native.condensed(0.7, multipliers, weights, False)]


@pytest.mark.parametrize("name", CASES)
def test_a_device_gives_the_same(name: str) -> None:
    usual, other, device, x = pair(name)
    for a, b in zip(findings(usual, x), findings(other, x), strict=True):
        size = 1.0 + float(np.abs(np.where(np.isfinite(a), a, 0.0)).max())
        np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-11 * size)  # second derivatives are differences
    # One call each: none for a Gauss-Newton matrix, whose second derivatives nobody asks for.
    assert device.jobs == ["margins", "values", "derivatives", "values", "hessians"]


@pytest.mark.parametrize("name", ["all", "many nodes"])
def test_single_precision_is_rounded_once(name: str) -> None:
    usual, other, _, x = pair(name, "float32")
    for a, b in zip(findings(usual, x), findings(other, x), strict=True):
        size = max(1.0, float(np.abs(np.where(np.isfinite(a), a, 0.0)).max()))
        np.testing.assert_allclose(b, a, atol=3e-5 * size)
    assert not np.array_equal(other.values(x)[1], usual.values(x)[1])  # it is single


@pytest.mark.parametrize("job", ["values", "margins", "derivatives"])
def test_a_device_that_failed_is_left_alone(job: str) -> None:
    _, other, device, x = pair("all")
    device.fail = job
    found: dict[str, Callable[[], Any]] = {
        "values": lambda: np.isnan(other.values(x)[0]),
        "margins": lambda: other.refresh_margins(x) is False,
        "derivatives": lambda: other.linearise(x) is None,
    }
    assert found[job]() and device.jobs == [job]
    assert np.isnan(other.values(x)[0]) and device.jobs == [job]


def test_noise_is_a_part_of_margins() -> None:
    rng = np.random.default_rng(8)
    problem, functions = invented_problem(rng, **CASES["all"])
    kernels = Kernels(functions)
    noise = rng.random(len(problem.rows.piece))
    plain, noisy = (NativeProblem(problem, kernels.table, kernels, 1, n) for n in (None, noise))
    x = plain.initial()
    plain.refresh_margins(x), noisy.refresh_margins(x)
    sizes = [len(problem.matrices[k]) for k in problem.rows.matrix]
    extra = np.zeros(plain.sizes["rows"])
    extra[: sum(sizes)] = np.repeat(noise, sizes)
    np.testing.assert_allclose(noisy.bounds()[2], plain.bounds()[2] + extra)
    for wrong in (noise[1:], -noise, np.full_like(noise, np.nan)):
        with pytest.raises(ValueError, match=r"rows\.noise: expected"):
            NativeProblem(problem, kernels.table, kernels, 1, wrong)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d.pop("run"), "expected run and single"),
        (lambda d: d.update(run=3), "expected run and single"),
        (lambda d: d.update(control=d["control"][:-1]), "control: expected a contiguous array of"),
        (lambda d: d.update(control=d["control"].astype(np.float32)), "control: expected"),
        (lambda d: d.update(multipliers=np.asfortranarray(d["multipliers"])), "multipliers: expected"),
        (lambda d: d.update(tables=[]), "a dictionary of tables"),
        (lambda d: d["tables"].update(values=np.zeros(3)), "values: expected a contiguous array"),
        (lambda d: d["tables"].pop("gradients"), "tables of the channels are missing"),
        (lambda d: d["tables"].pop("further_torques"), "tables of the torques are missing"),
        (lambda d: d["tables"].pop("q_qd"), "all second derivatives of the torques or none"),
        (lambda d: d.update(single=True), "values: expected a contiguous array"),
    ],
)
def test_native_code_trusts_nothing(change: Any, says: str) -> None:
    rng = np.random.default_rng(9)
    problem, functions = invented_problem(rng, **CASES["all"])
    device = InventedDevice(problem, functions)
    handed = {**device.handed, "tables": dict(device.tables)}
    change(handed)
    with pytest.raises((TypeError, ValueError), match=says):
        NativeProblem(problem, {"device": handed}, device, 1)
