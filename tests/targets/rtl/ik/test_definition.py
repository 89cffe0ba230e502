"""The definition against float64: solved, within the threshold and the declared bound, in about as many
iterations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robomorph.bench.chain_problems import chain_problems
from robomorph.errors import ArgumentError
from robomorph.targets.rtl.ik.plan import CORDIC, HEADER_OUT, MULTIPLY, TURNINGS, Knobs, Widths
from robomorph.targets.rtl.ik.stream_words import CONVERGED
from tests.targets.rtl.ik.solves import MODES, case, loaded

THRESHOLD = 1e-2
SAME_METHOD = {"quick-ik": "quick-ik", "relaxed": "relaxed-quick-ik", "newton": "speculative-newton"}


@pytest.mark.parametrize(("joints", "count"), [(12, 40), (25, 15), (50, 6), (100, 3)])
@pytest.mark.parametrize("mode", ["quick-ik", "relaxed", "newton"])
def test_set_b_is_solved(joints: int, count: int, mode: str) -> None:
    _solved(joints, count, mode)


@pytest.mark.parametrize(
    ("joints", "count", "mode"),
    [
        *((12, 10, "quick-ik"), (12, 10, "newton"), (50, 3, "newton")),
        *(pytest.param(n, 50, "quick-ik", marks=pytest.mark.slow) for n in (12, 50, 100)),
        *(pytest.param(n, 200, "newton", marks=pytest.mark.slow) for n in (12, 50, 100)),
    ],
)
def test_set_b_is_solved_without_multipliers(joints: int, count: int, mode: str) -> None:
    _solved(joints, count, mode, CORDIC)


@pytest.mark.slow
@pytest.mark.parametrize("joints", [12, 25, 50, 75, 100])
@pytest.mark.parametrize("mode", ["quick-ik", "relaxed", "newton"])
def test_set_b_is_solved_a_thousand_times(joints: int, mode: str) -> None:
    iterations = _solved(joints, 1000, mode)
    print(f"  float64, on the CPU: {_float64_iterations(joints, 1000, mode):.4g} iterations")
    if mode == "newton":
        assert iterations <= 16.0


def _float64_iterations(joints: int, count: int, mode: str) -> float:
    """The mean, of the same problems by the CPU's method of that name."""
    robot = loaded(f"chain:{joints}")[0]
    problems = chain_problems(robot, "B", count)
    result = robot.inverse_kinematics(
        problems.targets,
        "tool",
        problems.starts,
        method=SAME_METHOD[mode],
        speculations=16 if mode == "newton" else 64,
        tolerance=THRESHOLD,
        max_iterations=10_000,
    )
    assert result.success.all()
    return float(result.iterations.mean())


def _solved(joints: int, count: int, mode: str, turning: str = MULTIPLY) -> float:
    one = case(f"chain:{joints}", turning=turning)
    words, targets, starts = one.set_b(count, mode=MODES[mode], k_log=4 if mode == "newton" else 6)
    answers = one.solve(words)
    true, own = one.errors(answers, targets, starts)
    apart, declared = float(np.abs(true - own).max()), one.chip.own_error
    assert (answers.status == CONVERGED).all() and not answers.overflow.any()
    assert true.max() <= THRESHOLD
    assert apart <= declared
    mean = float(answers.iterations.mean())
    print(
        f"chain:{joints} {mode}: {count} of {count} solved, {mean:.4g} iterations, largest error "
        f"{true.max():.3e} m, {apart:.1e} m from the chip's own at most (declared: {declared:.1e} m)"
    )
    return mean


@pytest.mark.parametrize("name", ["chain:25", "iiwa14", "hyq", "atlas", *(f"mixed:{k}" for k in range(6))])
@pytest.mark.parametrize("turning", TURNINGS)
def test_positions_are_within_the_declared_bound(name: str, turning: str) -> None:
    """Of random configurations, judged without a step."""
    one = case(name, turning=turning)
    starts = one.robot.random_state(rng=4, batch=(2000,)).q
    targets = one.robot.forward_kinematics(one.robot.random_state(rng=5, batch=(2000,)).q, one.frame)[
        :, :3, 3
    ]
    true, own = one.errors(one.solve(one.words(targets, starts, cap=0)), targets, starts)
    assert np.abs(true - own).max() <= one.chip.own_error


@pytest.mark.parametrize("name", ["iiwa14", "hyq", "atlas", *(f"mixed:{k}" for k in range(6))])
@pytest.mark.parametrize("mode", list(MODES.values()), ids=list(MODES))
def test_limits_are_kept(name: str, mode: int) -> None:
    one = case(name, speculations=16)
    starts = one.robot.random_state(rng=6, batch=(40,)).q
    targets = one.robot.forward_kinematics(one.robot.random_state(rng=7, batch=(40,)).q, one.frame)[:, :3, 3]
    answers = one.solve(one.words(targets, starts, mode=mode, cap=60))
    _, whole = one.chip.theta_words(starts)
    q = one.chip.configurations(answers.words[:, HEADER_OUT:], whole, starts)
    limits = one.robot.limits
    assert (q >= limits.lower).all() and (q <= limits.upper).all()


def test_angles_go_through_any_number_of_turns() -> None:
    one = case("chain:12")
    starts = np.random.default_rng(0).uniform(-3.0, 3.0, (5, 12))
    turned = starts + 2 * np.pi * np.random.default_rng(1).integers(-40, 40, (5, 12))
    words, whole = one.chip.theta_words(turned)
    apart = words - one.chip.theta_words(starts)[0]  # a word holds a turn either way
    np.testing.assert_array_equal(apart % (1 << one.chip.plan.widths.theta), 0)
    np.testing.assert_allclose(one.chip.configurations(words, whole, turned), turned, atol=1e-6)


def test_narrow_words_fail_where_the_study_says() -> None:
    """Steps too coarse for long chains: what breaks is seen, not hidden."""
    narrow = Widths(unit=14, angle=14, theta=14, guard=0, serial=14, serial_angle=14)
    one = case("chain:50", narrow, speculations=64)
    words, targets, starts = one.set_b(6, cap=150)
    answers = one.solve(words)
    assert (answers.status != CONVERGED).any()
    true, own = one.errors(answers, targets, starts)
    assert np.abs(true - own).max() <= one.chip.own_error


# Bits of unit and angle, theta, guard, serial.
CHOICES = [
    *((18, 18, 0, 18), (20, 20, 0, 20), (14, 24, 6, 20), (16, 20, 6, 18), (16, 24, 6, 20)),
    *((18, 20, 6, 18), (18, 20, 6, 20), (18, 24, 6, 18), (18, 24, 6, 20), (20, 24, 6, 20), (22, 24, 6, 22)),
]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["quick-ik", "newton"])
@pytest.mark.parametrize("bits", CHOICES, ids=str)
def test_what_widths_give(bits: tuple[int, int, int, int], mode: str) -> None:
    """Prints it; whatever the widths, what the chip holds for solved is."""
    unit, theta, guard, serial = bits
    one = case("chain:50", Widths(unit, unit, theta, guard, serial, min(serial, theta)))
    newton = mode == "newton"
    words, targets, starts = one.set_b(100, cap=2000, mode=MODES[mode], k_log=4 if newton else 6)
    answers = one.solve(words)
    true, own = one.errors(answers, targets, starts)
    solved, apart = answers.status == CONVERGED, float(np.abs(true - own).max())
    assert (true[solved] <= THRESHOLD).all() and apart <= one.chip.own_error
    print(
        f"chain:50 {mode}: unit and angle {unit}, theta {theta} and guard {guard}, serial {serial} bits: "
        f"{solved.sum()} of 100 solved, {answers.iterations.mean():.4g} iterations, {apart:.1e} m from the "
        f"truth at most (declared: {one.chip.own_error:.1e} m)"
    )


def test_the_same_problem_has_the_same_answer_anywhere() -> None:
    one = case("iiwa14")
    words = one.random(300, 2, mode=1, cap=40)
    together, alone = one.solve(words), one.solve(words[255:256])
    np.testing.assert_array_equal(together.words[255:256], alone.words)
    assert one.solve(words[:0]).words.shape == (0, one.chip.plan.output_words)


@pytest.mark.parametrize(
    ("kind", "given", "says"),
    [
        (Widths, {"unit": 30}, "unit: expected a whole number from 12 to 24, found 30"),
        (Widths, {"unit": 20, "serial": 18}, "serial: expected at least the 20 bits"),
        (Widths, {"theta": 16}, "angle: expected at most the 16 bits"),
        (Knobs, {"units": 3}, "units: expected a power of two, found 3"),
        (Knobs, {"units": 8, "speculations": 4}, "units: expected at most the 4 speculations"),
        (Knobs, {"speculations": 2048}, "speculations: expected a whole number from 1 to 1024"),
        (Knobs, {"evaluators": 8, "units": 4}, "evaluators: expected a whole number from 0 to 4"),
        (Knobs, {"turning": "divide"}, "turning: expected 'multiply' or 'cordic', found 'divide'"),
    ],
    ids=str,
)
def test_wrong_knobs_are_named(kind: type, given: dict[str, Any], says: str) -> None:
    with pytest.raises(ArgumentError, match=says):
        kind(**given)
