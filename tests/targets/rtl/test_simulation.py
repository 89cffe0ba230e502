"""Designs in simulation: equal to the interpreter to the bit, and to the schedule to the cycle."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings

import robomorph
from robomorph.accelerators.accuracy import error_report
from robomorph.compiler.chip import make_accelerator
from robomorph.compiler.program import compile_fixed
from robomorph.compiler.specialise import make_request
from robomorph.errors import ArgumentError, OverflowWarning, TargetError
from robomorph.targets.fixed_point.boundary import Compute
from robomorph.targets.rtl.accelerator import Accelerator
from robomorph.targets.rtl.measure import Measured, measure
from robomorph.targets.rtl.options import Options
from robomorph.targets.rtl.simulate import Simulation, lint
from robomorph.targets.rtl.synthesis import check_by_yosys
from tests.oracle.random_trees import RandomRobot, random_robots
from tests.targets.rtl.accelerators import ANCHOR, PAPERS, accelerator
from tests.targets.rtl.toolchains import needs_verilator, yosys_problem

pytestmark = needs_verilator


def check(a: Accelerator, states: int, *, optimise: bool = False, compute: Compute | None = None) -> Measured:
    """Lint, bits, and cycles."""
    assert lint(a.design) == ""
    simulation = Simulation(a.design, optimise=optimise)
    found = measure(a, a.sample(states, seed=9), simulation=simulation, compute=compute)
    assert found.exact, found
    stats = a.design.stats
    assert (found.latency, found.last_word) == (stats.latency, stats.last_word)
    assert found.interval == pytest.approx(stats.interval, abs=0.51)
    return found


def check_at_length(a: Accelerator, states: int, *, optimise: bool = True) -> Measured:
    """The same, Yosys's reading as well; says what was found (pytest -s shows it). The reference is compiled:
    tests/targets/fixed holds it to the interpreter, on as many states."""
    cells = f"{check_by_yosys(a.design)} cells" if yosys_problem() is None else yosys_problem()
    found = check(a, states, optimise=optimise, compute=compile_fixed(a.fixed).run)
    print(f"\n{a.design.top}: {found}; {a.design.stats.multipliers} multipliers; Yosys: {cells}")
    return found


def test_iiwa_inverse_dynamics_with_sines_on_the_chip() -> None:
    check(accelerator("iiwa14", "inverse_dynamics", interval=24, format="Q16.16"), 200)


def test_iiwa_papers_design() -> None:
    """The gradient with M^-1 given: every bit under pauses, and every cycle."""
    a = accelerator("iiwa14", "forward_dynamics_gradient", **PAPERS, interval=24)
    found = check(a, 60)
    assert found.latency <= 34 and found.interval <= 24.01
    assert a.design.stats.multipliers <= 900


def test_branched_robot() -> None:
    check(accelerator("hyq", "inverse_dynamics", interval=48, bits=24, trig="host"), 60)


def test_complete_gradient_of_a_small_chain() -> None:
    """Reciprocals, sines, cosines and overflows all at once: some states are out of range."""
    a = accelerator("chain:2", "forward_dynamics_gradient", interval=10, bits=18, speed=0.5, acceleration=0.5)
    wild = a.sample(300, seed=1)
    wild["qd"] = 8.0 * wild["qd"]
    found = measure(a, wild)
    assert found.exact
    assert 0 < found.overflows < 300


def test_narrow_words_drop_more_bits_than_they_have() -> None:
    """With 8 bits, binary points lie so far apart that whole words are rounded away."""
    check(accelerator("iiwa14", "inverse_dynamics", interval=24, bits=8, trig="host"), 30)


def test_new_state_every_cycle() -> None:
    a = accelerator("chain:2", "inverse_dynamics", interval=1, bits=16, trig="host")
    assert measure(a, a.sample(100, seed=3)).exact


def test_kernel_call_and_overflow_warning() -> None:
    robot = robomorph.load("chain:2")
    kernel: Any = robot.compile("inverse_dynamics", target="rtl", interval=8)
    q, qd = robot.random_state(0, (2, 3))
    qdd = np.ones((2, 3, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tau = kernel(q, qd, qdd)
    np.testing.assert_allclose(tau, robot.inverse_dynamics(q, qd, qdd), atol=1e-5)
    assert kernel.stats.design.interval == 8
    assert "rm_mul" in kernel.source.code
    with pytest.warns(OverflowWarning, match="6 of 6 states"):
        kernel(q, qd, 1e5 * qdd)
    assert kernel.overflow.all()
    with pytest.raises(TargetError, match="trace=True"):
        kernel(q, qd, qdd, waveform="waves.vcd")
    with pytest.raises(ArgumentError, match="nonsense"):
        robot.compile("inverse_dynamics", target="rtl", nonsense=1)


def test_waveforms_are_written_or_refused(tmp_path: Path) -> None:
    robot = robomorph.load("chain:2")
    kernel: Any = robot.compile("inverse_dynamics", target="rtl", interval=8, trace=True)
    state = np.zeros((3, 2))
    kernel(state, state, state, waveform=tmp_path / "waves.vcd")
    assert "$enddefinitions" in (tmp_path / "waves.vcd").read_text()
    with pytest.raises(TargetError, match="cannot write"):
        kernel(state, state, state, waveform=tmp_path / "nowhere" / "waves.vcd")


@seed(4)
@settings(
    max_examples=10, deadline=None, database=None, derandomize=False, suppress_health_check=list(HealthCheck)
)
@given(random=random_robots(most_joints=3))
def test_ten_random_robots(random: RandomRobot) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = robomorph.load(random.text, floating_base=random.floating, mimic=random.mimic)
    request = make_request(robot.model, "inverse_dynamics")
    a = make_accelerator(robot.specialiser, request, Options(interval=16, bits=20))
    check(a, 40)


def anchor_states(n: int) -> dict[str, np.ndarray]:
    """The anchor's protocol, with gravity."""
    rng = np.random.default_rng(0)
    robot = robomorph.load("iiwa14")
    q = rng.uniform(-np.pi, np.pi, (n, 7))
    qd, qdd = rng.uniform(-1, 1, (2, n, 7))
    return {"q": q, "qd": qd, "qdd": qdd, "minv": robot.mass_matrix_inverse(q)}


def test_errors_are_far_below_the_anchor() -> None:
    """Worst errors over 2,000 states, 32-bit words: at least ten times below 0.18 and 1.3e-3."""
    states = anchor_states(2000)
    gradient = error_report(accelerator("iiwa14", "forward_dynamics_gradient", **PAPERS), states)
    assert gradient.overflows == 0
    assert gradient.worst <= 0.018
    inverse = accelerator("iiwa14", "inverse_dynamics_gradient", trig="host", **ANCHOR)
    report = error_report(inverse, {name: states[name] for name in ("q", "qd", "qdd")})
    assert report.overflows == 0
    assert report.worst <= 1.3e-4


@pytest.mark.slow
def test_iiwa_papers_design_100_000_states() -> None:
    """At most 34 cycles, interval at most 24, at most 900 multipliers: in simulation, with pauses."""
    a = accelerator("iiwa14", "forward_dynamics_gradient", **PAPERS, interval=24)
    found = check_at_length(a, 100_000)
    assert found.latency <= 34 and found.interval <= 24.01
    assert a.design.stats.multipliers <= 900


@pytest.mark.slow
def test_iiwa_fast_design() -> None:
    a = accelerator("iiwa14", "forward_dynamics_gradient", **PAPERS, interval=8)
    assert check_at_length(a, 1000, optimise=False).interval <= 8.01


@pytest.mark.slow
def test_iiwa_complete_design() -> None:
    a = accelerator("iiwa14", "forward_dynamics_gradient", **ANCHOR, interval=48)
    check_at_length(a, 300, optimise=False)
    assert error_report(a, a.sample(500, seed=2)).worst < 0.018


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["inverse_dynamics", "inverse_dynamics_gradient"])
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_quadruped_10_000_states(floating: bool, algorithm: str) -> None:
    check_at_length(accelerator("hyq", algorithm, floating=floating, interval=32), 10_000)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["inverse_dynamics", "inverse_dynamics_gradient"])
def test_atlas(algorithm: str) -> None:
    a = accelerator("atlas", algorithm, interval=128, trig="host")
    assert len(a.source.specialiser.model.bodies) >= 30
    check_at_length(a, 50, optimise=False)
