"""The study of number formats: its parts against kernels and the fixed-point interpreter, and its tables."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import ArgumentError, Robot
from robomorph.cli import mpc_formats
from robomorph.cli.parser import Parser
from robomorph.mpc import Controller
from robomorph.mpc.studies.code import PythonCode
from robomorph.mpc.studies.format_loops import LoopRun, format_loops, scenarios
from robomorph.mpc.studies.format_verdict import loop_ratio, verdict
from robomorph.mpc.studies.formats import FORMS, FormatStudy, Run, format_study, steps
from robomorph.mpc.studies.gradients import States, make_gradient
from robomorph.mpc.studies.hard import EASY, HARD, families, instances
from robomorph.mpc.studies.reaches import random_reach, reach_problem
from robomorph.mpc.studies.replaced import ReplacedGradient
from tests.oracle.chains import chain

Array = npt.NDArray[np.float64]
METHODS = ("id", "ddp")


@cache
def small() -> Robot:
    return robomorph.load(chain("revolute z", "revolute y", "revolute x"))


def states(count: int = 20) -> States:
    rng = np.random.default_rng(0)
    robot = small()
    q, qd, qdd = rng.uniform(-1.0, 1.0, (3, count, robot.nv))
    return States(q, qd, qdd, np.asarray(robot.mass_matrix_inverse(q)))


# --- a function in the place of a kernel ---------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_float64_in_python_is_the_kernel(method: str) -> None:
    robot = small()
    problem = reach_problem(robot, 15)
    reach = random_reach(robot, np.random.default_rng(3), 0.5)
    kernels = ReplacedGradient(problem, make_gradient(robot, "float64", 1.0, 1.0))
    results = [
        Controller(problem, method=method, kernels=given).step(
            reach.start, 0.0 * reach.start, reach.reference
        )
        for given in (None, kernels)
    ]
    kernels.again()
    assert kernels.gradient.states > 0
    assert results[0].iterations == results[1].iterations
    assert results[1].cost == pytest.approx(results[0].cost, rel=1e-12)
    assert np.allclose(results[0].torques, results[1].torques, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_what_python_raises_is_raised_after_the_step(method: str) -> None:
    robot = small()
    problem = reach_problem(robot, 5)
    kernels = ReplacedGradient(problem, make_gradient(robot, "float64", 1.0, 1.0))

    def fail(at: States) -> Any:
        raise RuntimeError(f"at {len(at.q)} states")

    kernels.gradient.torques = kernels.gradient.accelerations = fail  # type: ignore[method-assign]
    reach = random_reach(robot, np.random.default_rng(3), 0.5)
    result = Controller(problem, method=method, kernels=kernels).step(
        reach.start, 0.0 * reach.start, reach.reference
    )
    assert not result.converged
    with pytest.raises(RuntimeError, match="at 8 states"):
        kernels.again()
    kernels.again()  # once


def test_code_keeps_lanes_and_sizes_apart() -> None:
    seen: list[tuple[Array, Array]] = []

    def evaluate(a: Array, b: Array) -> tuple[Array, Array]:
        seen.append((a.copy(), b.copy()))
        return 2.0 * a, a[:, :1] + b[:, :1]

    code = PythonCode(evaluate, (3, 2), (3, 1), 4)
    given = [np.arange(12.0).reshape(3, 4), np.arange(8.0).reshape(2, 4)]
    wanted = [np.zeros((3, 4)), np.zeros((1, 4))]
    import ctypes

    pointers = ctypes.POINTER(ctypes.c_void_p)
    function = ctypes.CFUNCTYPE(None, pointers, pointers, ctypes.c_void_p)(code.address)
    function(
        (ctypes.c_void_p * 2)(*(x.ctypes.data for x in given)),
        (ctypes.c_void_p * 2)(*(x.ctypes.data for x in wanted)),
        None,
    )
    assert np.array_equal(seen[0][0], given[0].T)
    assert np.array_equal(wanted[0], 2.0 * given[0])
    assert np.array_equal(wanted[1][0], given[0][0] + given[1][0])


# --- gradients -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["float64", "float32"])
def test_floats_are_the_robots_own(name: str) -> None:
    robot, at = small(), states()
    gradient = make_gradient(robot, name, 1.0, 1.0)
    tolerance = 1e-12 if name == "float64" else 1e-4
    exact = robot.inverse_dynamics_gradient(at.q, at.qd, at.qdd)
    assert np.allclose(gradient.torques(at).dq, exact.dtau_dq, rtol=0, atol=tolerance)
    assert np.allclose(gradient.torques(at).dqd, exact.dtau_dqd, rtol=0, atol=tolerance)
    assert np.allclose(gradient.mass(at), robot.mass_matrix(at.q), rtol=0, atol=tolerance)
    tau = robot.inverse_dynamics(at.q, at.qd, at.qdd)
    forward = robot.forward_dynamics_gradient(at.q, at.qd, tau)
    found = gradient.accelerations(at)
    assert np.allclose(found.dq, forward.dqdd_dq, rtol=0, atol=100 * tolerance)
    assert np.allclose(found.dqd, forward.dqdd_dqd, rtol=0, atol=100 * tolerance)
    if name == "float32":
        assert not np.array_equal(found.dq, forward.dqdd_dq)


@pytest.mark.parametrize("name", ["Q14.6", "16 bit"])
def test_fixed_point_is_the_chips(name: str) -> None:
    """To the bit, by the interpreter of the accelerator that the papers' preset makes."""
    robot, at = small(), states()
    gradient = make_gradient(robot, name, 2.0, 20.0)
    options = {"format": name} if name[0] == "Q" else {"bits": 16, "speed": 2.0, "acceleration": 20.0}
    kernel: Any = robot.compile("forward_dynamics_gradient", target="rtl", preset="papers", **options)
    chip = kernel.accelerator
    assert at.minv is not None
    expected, result = chip.interpret({"q": at.q, "qd": at.qd, "qdd": at.qdd, "minv": at.minv})
    found = gradient.accelerations(at)
    assert np.array_equal(found.dq, expected["dqdd_dq"])
    assert np.array_equal(found.dqd, expected["dqdd_dqd"])
    assert (gradient.states, gradient.saturated) == (len(at.q), int(result.overflow.sum()))


def test_saturated_states_are_counted() -> None:
    at = states()
    gradient = make_gradient(small(), "Q8.8", 1.0, 1.0)
    gradient.torques(at._replace(qdd=1000.0 * at.qdd))
    assert gradient.states == len(at.q)
    assert 0 < gradient.saturated <= gradient.states


def test_no_gradient_is_none() -> None:
    at = states()
    gradient = make_gradient(small(), "none", 1.0, 1.0)
    for found in (*gradient.torques(at), *gradient.accelerations(at)):
        assert found.shape == (len(at.q), 3, 3)
        assert not found.any()
    assert np.allclose(gradient.mass(at), small().mass_matrix(at.q))


@pytest.mark.parametrize("name", ["float16", "Q14", "bits", "", "Q40.40"])
def test_unknown_formats_are_refused_by_name(name: str) -> None:
    with pytest.raises(ArgumentError, match="format: expected none, float64"):
        make_gradient(small(), name, 1.0, 1.0)


# --- the study -----------------------------------------------------------------------------------------


@cache
def study() -> FormatStudy:
    return format_study(small(), ("Q16.16", "none"), horizon=12, iterations=8, count=2)


def test_a_study_has_every_run() -> None:
    found = study()
    assert found.formats == ("float64", "Q16.16", "none")
    assert [family.name for family in found.families] == ["easy", "far", "cheap", "limited"]
    assert len(found.runs) == len(FORMS) * 3 * (1 + 3 * 2)
    for form in FORMS:
        for family in found.families:
            assert set(found.ratios(form.name, "float64", family.name)) == {1.0}
        # Whoever has no gradient cannot be better at the end than who has one, but for another valley.
        assert all(ratio > 0.99 for ratio in found.ratios(form.name, "none", "easy"))
        exact = found.ratios(form.name, "Q16.16", "easy")
        assert exact[0] == pytest.approx(1.0, abs=1e-3)
    for run in found.runs:
        assert len(run.costs) <= 2 * 8 + 1
        assert run.states > 0 or run.gradient == "none"


def test_problems_are_always_the_same() -> None:
    robot = small()
    first, again = (instances(robot, HARD[0], 3, 10) for _ in range(2))
    for a, b in zip(first, again, strict=True):
        assert np.array_equal(a.reach.goal, b.reach.goal)
    assert not np.array_equal(first[0].reach.goal, first[1].reach.goal)
    assert [family.name for family in families(robot)] == ["far", "cheap", "limited"]
    free = robomorph.load(chain("continuous z", "revolute y"))
    assert [family.name for family in families(free)] == ["far", "cheap"]


def run_of(problem: str, family: str, gradient: str, cost: float) -> Run:
    return Run(problem, family, "forward", gradient, (10.0, cost), cost, 100, 0)


def test_the_verdict_says_what_the_figures_say() -> None:
    runs = [run_of("easy 1", "easy", "float64", 1.0), run_of("easy 1", "easy", "Q14.6", 1.001)]
    for k, cost in enumerate([1.0, 1.2, math.inf]):
        runs += [run_of(f"far {k}", "far", "float64", 1.0), run_of(f"far {k}", "far", "Q14.6", cost)]
    made = FormatStudy("arm", 10, 5, ("float64", "Q14.6"), (EASY, HARD[0]), tuple(runs))
    loops = [
        LoopRun("jumps", "forward", gradient, cost, 0.0, "", 1, 0)
        for gradient, cost in (("float64", 2.0), ("Q14.6", 5.0))
    ]
    assert made.ratios("forward", "Q14.6", "far") == [1.0, 1.2, math.inf]
    assert loop_ratio(loops, "forward", "Q14.6", "jumps") == 2.5
    (line,) = [x for x in verdict_of_forward(made, loops) if x.startswith("forward, Q14.6")]
    assert "easy holds (worst +0.1%)" in line
    assert "far 1 of 3 within 1% (worst fails)" in line
    assert "loop jumps: 2.5 times" in line


def verdict_of_forward(made: FormatStudy, loops: list[LoopRun]) -> list[str]:
    """Only one form was made."""
    others = [form.name for form in FORMS[1:]]
    runs = [*made.runs, *(Run(r.problem, r.family, o, *_rest(r)) for o in others for r in made.runs)]
    more = [LoopRun(r.scenario, o, *_loop_rest(r)) for o in others for r in loops]
    full = FormatStudy(made.robot, 10, 5, made.formats, made.families, tuple(runs))
    return verdict(full, [*loops, *more])


def _rest(run: Run) -> Any:
    return run.gradient, run.costs, run.cost, run.states, run.saturated


def _loop_rest(run: LoopRun) -> Any:
    return run.gradient, run.cost, run.left, run.reason, run.states, run.saturated


@pytest.mark.slow
def test_closed_loops_run_in_every_form() -> None:
    runs = format_loops(small(), ("Q16.16", "none"))
    assert len(runs) == len(FORMS) * 3 * len(scenarios(small()))
    for form in FORMS:
        assert loop_ratio(runs, form.name, "float64", "easy") == 1.0
        assert loop_ratio(runs, form.name, "Q16.16", "easy") == pytest.approx(1.0, abs=0.02)


# --- the command ---------------------------------------------------------------------------------------


def parsed(*words: str) -> Any:
    parser = Parser(prog="robomorph mpc formats")
    mpc_formats.add_arguments(parser)
    return parser.parse_args(list(words))


def test_the_command_prints_tables_and_json(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(chain("revolute z", "revolute y"))
    words = [str(file), "--formats", "Q16.16,none", "--problems", "1", "--horizon", "8", "--no-loop"]
    assert mpc_formats.run(parsed(*words, "--iterations", "4")) == 0
    shown = capsys.readouterr()
    assert "Q16.16" in shown.out
    assert "within 1%" in shown.out
    assert steps(("Q16.16", "none")) == shown.err.count("formats ")
    pytest.importorskip("matplotlib")
    plots = tmp_path / "plots"
    assert mpc_formats.run(parsed(*words, "--iterations", "4", "--json", "--plots", str(plots))) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["iterations"] == 4
    assert {run["gradient"] for run in document["runs"]} == {"float64", "Q16.16", "none"}
    assert len(list(plots.glob("formats_*.png"))) == len(FORMS)


def test_the_command_refuses_bad_numbers() -> None:
    with pytest.raises(ArgumentError, match="--problems"):
        mpc_formats.run(parsed("iiwa14", "--problems", "0"))
    with pytest.raises(ArgumentError, match="format: expected none"):
        mpc_formats.run(
            parsed("iiwa14", "--formats", "Q99", "--problems", "1", "--horizon", "3", "--no-loop")
        )


@pytest.mark.parametrize(
    ("ratio", "text"), [(1.0, "0"), (1.05, "+5.0e-02"), (7.0, "7x"), (math.inf, "fails"), (0.9, "-1.0e-01")]
)
def test_excesses_are_told_shortly(ratio: float, text: str) -> None:
    assert mpc_formats.excess(ratio) == text
