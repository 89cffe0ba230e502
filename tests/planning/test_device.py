"""Motions whose functions a device evaluates: OpenCL, on PoCL, beside the CPU."""

from __future__ import annotations

import pickle
import threading
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import BSpline

from robomorph import ArgumentError, TargetError
from robomorph.ir.interpret import interpret
from robomorph.planning import Motion, Plan, load_scenario
from robomorph.planning.device import DeviceNodes, nodes, precision
from robomorph.planning.device.states import states_program
from robomorph.planning.problem import Problem
from robomorph.planning.solvers.native import native_problem
from robomorph.planning.solvers.native_problem import NativeProblem
from robomorph.targets.gpu.kernel import GpuKernel
from tests.planning.motions import COSTS, MOTIONS, arm
from tests.targets.gpu.toolchains import needs_opencl

SCENARIOS = ("squat", "feet", "kick")


@cache
def scenario(name: str) -> Motion:
    return load_scenario(name).motion()


@cache
def solved(name: str, cost: str | None, target: str, dtype: str) -> Plan:
    return scenario(name).solve(cost, target=target, dtype=dtype)


# --- the program that places nodes -------------------------------------------------------------------


def test_states_are_those_of_the_spline() -> None:
    motion = MOTIONS["everything"]()
    problem = motion.problem("jerk").problem
    count, nv, sigma = problem.pieces.basis.shape[2], problem.nv, 1.3
    rng = np.random.default_rng(0)
    control = rng.normal(size=problem.control.shape)
    knot = motion.knot
    spline = BSpline(knot * (np.arange(len(control) + 4) - 3.0), control, 3)
    program = states_program(problem.width, count, nv, 3)
    cosines = -np.cos(np.pi * np.arange(count) / (count - 1))
    for e, first in enumerate(problem.pieces.first):
        window = control[first : first + problem.width]
        given = {"control": window, "rate": np.array([1 / sigma]), "basis": problem.pieces.basis[e]}
        found = interpret(program, given)
        t = problem.pieces.start[e] + problem.pieces.seconds[e] * (1.0 + cosines) / 2.0
        for d, own in enumerate(found.values()):
            np.testing.assert_allclose(own, spline.derivative(d)(t) / sigma**d, atol=1e-9, rtol=1e-9)


# --- evaluation --------------------------------------------------------------------------------------


def pair(name: str, dtype: str) -> tuple[NativeProblem, NativeProblem, DeviceNodes, Any]:
    assembled = MOTIONS[name]().problem(COSTS)
    problem, functions = assembled.problem, assembled.functions
    device = DeviceNodes(problem, functions.kernels, "opencl", dtype)
    other = NativeProblem(problem, {"device": device.handed}, device, 1)
    return native_problem(problem, functions, 1), other, device, assembled


def point(native: NativeProblem, free: bool) -> Any:
    x = native.initial() + np.random.default_rng(1).normal(0.0, 0.2, native.sizes["variables"])
    if free:
        x[-1] = 1.2
    return x


def findings(native: NativeProblem, x: Any) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    count = native.sizes["rows"]
    multipliers, weights = rng.normal(size=count), rng.uniform(0.1, 2.0, count)
    out: dict[str, Any] = {"changed": native.refresh_margins(x), "margins": native.bounds()[2]}
    out["cost"], out["rows"] = native.values(x)
    out["slope"], out["times"] = native.linearise(x), native.times(x)
    out["transposed"] = native.transposed_times(multipliers)
    out["condensed"] = native.condensed(0.7, multipliers, weights, True)
    return out


@needs_opencl
@pytest.mark.parametrize(("dtype", "error"), [("float64", 1e-11), ("float32", 2e-3)])
@pytest.mark.parametrize("name", MOTIONS)
def test_all_that_a_solver_asks_for(name: str, dtype: str, error: float) -> None:
    usual, other, device, assembled = pair(name, dtype)
    x = point(usual, name == "stretching")
    found = findings(other, x)
    assert device.error is None
    expected = findings(usual, x)
    for what in ("rows", "margins"):  # sums and differences of values, which are themselves rounded
        off, allowed = np.abs(found.pop(what) - expected.pop(what)), gains(assembled.problem, what)
        assert (off[: len(allowed)] <= 30 * np.finfo(dtype).eps * allowed).all(), what
        assert off[len(allowed) :].max() < 1e-12, what
    for what, exact in expected.items():
        size = 1.0 + float(np.abs(exact).max())
        np.testing.assert_allclose(found[what], exact, rtol=0, atol=error * size, err_msg=what)


def gains(problem: Problem, what: str) -> Any:
    """How much of an error in values shows in rows or margins, those of exact rows left out."""
    matrices = [np.abs(m).sum(axis=-1) for m in problem.matrices]
    if what == "margins":
        pairs = zip(matrices, problem.fine, strict=True)
        matrices = [np.full(len(m), 2.0 * np.abs(fine).sum()) for m, fine in pairs]
    largest = np.array([2.0] * problem.channels + [300.0] * problem.nv)
    rows = problem.rows
    parts = [
        matrices[k] * size for k, size in zip(rows.matrix, largest[rows.function] / rows.scale, strict=True)
    ]
    return np.concatenate(parts)


@needs_opencl
def test_one_copy_each_way_and_what_they_carry() -> None:
    usual, other, device, assembled = pair("stretching", "float32")
    problem = assembled.problem
    findings(other, point(usual, True))
    pieces, count = problem.pieces.count, problem.pieces.basis.shape[2]
    nv, channels, width = problem.nv, problem.channels, problem.width
    states, further = pieces * count, pieces * (count - 1)
    given = pieces * (width * nv + 1)
    rows = states * (channels + nv)
    expected = {
        "values": (given, rows),
        "margins": (given, rows + further * (channels + nv)),
        "derivatives": (given, rows + states * (channels * nv + 3 * nv * nv)),
        "hessians": (states * (channels + nv), states * 5 * nv * nv),
    }
    for job, (numbers_in, numbers_out) in expected.items():
        traffic = device.traffic[job]
        assert traffic.calls == 1
        for moved, numbers in ((traffic.bytes_in, numbers_in), (traffic.bytes_out, numbers_out)):
            assert 4 * numbers <= moved <= 4 * numbers + 6 * 1024, job  # arrays start at multiples of 1024


# --- plans -------------------------------------------------------------------------------------------


@needs_opencl
@pytest.mark.parametrize("cost", ["jerk", None])
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_same_plans(name: str, cost: str | None) -> None:
    usual, plan = solved(name, cost, "cpu", "float64"), solved(name, cost, "opencl", "float64")
    assert usual.success and plan.success and plan.reason == "solved"
    assert plan.iterations == usual.iterations
    np.testing.assert_allclose(plan.control, usual.control, atol=1e-6)
    assert plan.cost == pytest.approx(usual.cost, rel=1e-7)
    assert usual.device is None and plan.device is not None and plan.device.violation is None
    assert (plan.device.target, plan.device.dtype) == ("opencl", "float64")
    assert plan.device.jobs["hessians"].calls <= plan.iterations < plan.device.total.calls


@needs_opencl
@pytest.mark.parametrize("name", SCENARIOS)
def test_single_precision_holds_what_it_promises(name: str) -> None:
    """Rows keep within bounds in float64, at every instant; the cost is near, not at its least."""
    for cost in ("jerk", None):
        usual, plan = solved(name, cost, "cpu", "float64"), solved(name, cost, "opencl", "float32")
        assert plan.success and plan.device is not None
        assert plan.device.violation == 0.0 and 0.0 < plan.device.noise < 0.01
        assert (
            plan.reason.startswith("solved; functions were in float32") and "every row holds" in plan.reason
        )
        assert plan.violations(2000.0) == ()
        assert usual.cost * (1 - 1e-9) <= plan.cost <= 1.02 * usual.cost


@needs_opencl
@pytest.mark.parametrize("name", ["squat", "kick"])
def test_the_noise_of_rows_is_what_it_is_said_to_be(name: str) -> None:
    motion, plan = scenario(name), solved(name, "jerk", "cpu", "float64")
    assembled = motion.problem("jerk")
    evaluator, problem = assembled.evaluator, assembled.problem
    device = DeviceNodes(problem, assembled.functions.kernels, "opencl", "float32")
    said = precision.row_noise(device, evaluator, evaluator.variables(problem.control))
    other = NativeProblem(problem, {"device": device.handed}, device, 1)
    x = evaluator.variables(plan.control)
    beyond = np.abs(other.values(x)[1] - evaluator.rows(x))[: evaluator.first_row[len(said)]]
    worst = np.repeat(said, np.diff(evaluator.first_row)[: len(said)])
    assert (beyond <= worst).mean() > 0.999 and (beyond <= 2.0 * worst).all()
    assert beyond.max() > 0.02 * worst.max()  # and not said to be far more than it is


@needs_opencl
def test_minimum_time_with_torques() -> None:
    found = load_scenario("arm")
    usual, plan = (found.motion().solve("time", target=target) for target in ("cpu", "opencl"))
    assert usual.success and plan.success
    assert plan.seconds == pytest.approx(usual.seconds, rel=1e-6)
    single = found.motion().solve("time", target="opencl", dtype="float32")
    assert single.device is not None and single.device.violation is not None
    if single.success:  # never better than it can be, and it holds
        assert usual.seconds * (1 - 1e-6) <= single.seconds <= 1.05 * usual.seconds
        assert single.violations(2000.0) == ()
    else:
        assert "float32" in single.reason


@needs_opencl
def test_joints_alone_leave_the_device_nothing_to_do() -> None:
    motion = Motion(arm(), 1.0, 8, start=np.zeros(7), end=np.full(7, 0.3)).limits()
    usual, plan = (motion.solve(target=target) for target in ("cpu", "opencl"))
    assert plan.success
    np.testing.assert_allclose(plan.control, usual.control, atol=1e-9)


@needs_opencl
def test_grids_starts_and_threads_of_the_caller() -> None:
    motion = scenario("squat")
    for points, starts in ((1, 1), (11, 2)):
        grid = {"method": "grid", "points": points, "starts": starts}
        usual, plan = (motion.solve(**grid, target=t) for t in ("cpu", "opencl"))  # type: ignore[arg-type]
        np.testing.assert_allclose(plan.control, usual.control, atol=1e-6)
    found: list[Plan] = []
    pool = [threading.Thread(target=lambda: found.append(motion.solve(target="opencl"))) for _ in range(3)]
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join()
    for plan in found:
        np.testing.assert_allclose(plan.control, solved("squat", "jerk", "cpu", "float64").control, atol=1e-6)


@needs_opencl
def test_the_split_of_times() -> None:
    usual, plan = solved("kick", "jerk", "cpu", "float64"), solved("kick", "jerk", "opencl", "float64")
    assert list(usual.split) == ["values", "gradients", "filling", "solver"]
    assert list(plan.split) == ["values", "gradients", "hessians", "filling", "solver"]
    for found in (usual, plan):
        parts = sum(found.times[name] for name in ("values", "derivatives", "condensing", "factor", "rest"))
        assert sum(found.split.values()) == pytest.approx(parts, rel=1e-6)
    again = pickle.loads(pickle.dumps(plan))
    assert again.device == plan.device and again.split == plan.split


# --- what goes wrong ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"target": "gpu"}, "target: expected cpu, cuda or opencl, found 'gpu'"),
        ({"target": "rtl"}, "target: expected cpu, cuda or opencl"),
        ({"target": None}, "target: expected"),
        ({"target": "opencl", "dtype": "float16"}, "dtype: expected float64 or float32, found 'float16'"),
        ({"dtype": "float32"}, "dtype: target 'cpu' plans in float64"),
        (
            {"target": "opencl", "solver": "ipopt"},
            "'opencl' works with solver 'native', found solver 'ipopt'",
        ),
        ({"target": "opencl", "method": "paper"}, "'opencl' works with solver 'native'"),
    ],
)
def test_refusals(given: dict[str, Any], says: str) -> None:
    motion = Motion(arm(), 1.0, 8, start=np.zeros(7), end=np.full(7, 0.3)).limits()
    with pytest.raises(ArgumentError, match=says):
        motion.solve(**given)


def test_a_target_without_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(target: str, index: int | None = None) -> None:
        raise TargetError(f'target "{target}": no device found')

    monkeypatch.setattr(nodes, "open_gpu", missing)
    for target in ("opencl", "cuda"):
        with pytest.raises(TargetError, match=f'target "{target}": no device found'):
            MOTIONS["everything"]().solve(target=target)


@needs_opencl
@pytest.mark.parametrize("after", [0, 7, 40])
@pytest.mark.parametrize("kind", [TargetError, KeyboardInterrupt])
def test_an_error_on_the_device_is_raised_at_once(
    after: int, kind: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    solved("squat", "jerk", "opencl", "float64")
    launch, calls = GpuKernel.launch, [0]

    def failing(self: GpuKernel, *args: Any) -> None:
        calls[0] += 1
        if calls[0] > after:
            raise kind("the device is gone")
        launch(self, *args)

    monkeypatch.setattr(GpuKernel, "launch", failing)
    with pytest.raises(kind, match="the device is gone"):
        scenario("squat").solve(target="opencl")
    assert calls[0] == after + 1


@needs_opencl
def test_a_plan_that_float64_refuses_is_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "violation", lambda evaluator, x: 3e-4)
    plan = scenario("squat").solve(target="opencl", dtype="float32")
    assert not plan.success
    assert "does not hold in float64: use dtype='float64'" in plan.reason and "0.0003" in plan.reason


def test_the_check_in_float64_sees_what_samples_see() -> None:
    plan, evaluator = solved("feet", "jerk", "cpu", "float64"), scenario("feet").problem("jerk").evaluator
    assert precision.violation(evaluator, evaluator.variables(plan.control)) <= 1e-6
    free = evaluator.problem.block_of >= 0
    for size in (1e-5, 1e-3, 1e-1):
        control = plan.control.copy()
        control[free] += np.random.default_rng(3).normal(0.0, size, control[free].shape)
        broken = max(-m.scaled for m in replace(plan, control=control).violations(2000.0))
        found = precision.violation(evaluator, evaluator.variables(control))
        assert found >= 0.999 * broken > 1e-6


@needs_opencl
def test_what_float32_cannot_see_is_refused() -> None:
    motion = MOTIONS["everything"]()  # accelerations over short pieces
    with pytest.raises(
        ArgumentError, match=r"float32 knows a row \(acceleration of a task\) at t = .* use dtype"
    ):
        motion.solve(target="opencl", dtype="float32")


@needs_opencl
def test_callbacks_stop_it() -> None:
    plan = scenario("kick").solve(target="opencl", callback=lambda state: state.iteration < 3)
    assert not plan.success and plan.iterations == 3 and "stopped by the callback" in plan.reason
