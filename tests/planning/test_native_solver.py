"""The native solver from Python: optima by NumPy's measure, the same on all threads; every way out."""

from __future__ import annotations

import _thread
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

from robomorph import ArgumentError
from robomorph.planning.evaluate import Evaluator
from robomorph.planning.jacobian import Jacobian, cost_gradient
from robomorph.planning.motion import Motion
from robomorph.planning.solvers.native import native_problem, solve
from robomorph.planning.solvers.outcome import INFEASIBLE, SOLVED, STOPPED, Outcome, Task
from robomorph.runtime import _native
from robomorph.tasks import Position
from tests.planning.motions import FRAME, MOTIONS, arm, everything, states


def task(motion: Motion, cost: Any = "jerk", **fields: Any) -> Task:
    assembled = motion.problem(cost)
    evaluator = Evaluator(assembled.problem, assembled.functions)
    x = evaluator.variables(assembled.problem.control)
    return Task(evaluator, x, evaluator.margins(x), cost is not None, **fields)


def reach() -> Motion:
    """An arm around a corner, with limits that bind."""
    q0, q1 = states()
    motion = Motion(arm(), 6.0, 6, start=q0, end=q1).limits(torque=0.9)
    return motion.keep(Position(FRAME), (-2, -2, 0.2), (2, 2, 2), during=(1.0, 5.0))


@pytest.mark.parametrize("name", MOTIONS)
def test_rows_and_derivatives_are_those_of_numpy(name: str) -> None:
    motion = MOTIONS[name]()
    assembled = motion.problem({"jerk": 1.0, "energy": 2.0})
    evaluator, rng = Evaluator(assembled.problem, assembled.functions), np.random.default_rng(1)
    native = native_problem(assembled.problem, assembled.functions)
    x = native.initial() + 0.05 * rng.normal(size=native.sizes["variables"])
    cost, rows = native.values(x)
    np.testing.assert_allclose(cost, evaluator.cost(x), rtol=1e-12)
    np.testing.assert_allclose(rows, evaluator.rows(x), rtol=1e-9, atol=1e-9)
    found = native.linearise(x)
    assert found is not None
    expected = cost_gradient(evaluator, x)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * abs(expected).max())
    jacobian = Jacobian(evaluator)
    direction, product = rng.normal(size=len(x)), np.zeros(len(rows))
    np.add.at(product, jacobian.row, jacobian.values(x) * direction[jacobian.column])
    np.testing.assert_allclose(native.times(direction), product, rtol=1e-9, atol=1e-9 * abs(product).max())


def is_optimal(given: Task, outcome: Outcome) -> None:
    """The conditions of an optimum, by the NumPy evaluator."""
    evaluator, x, m = given.evaluator, outcome.x, outcome.multipliers
    lower, upper = evaluator.bounds(outcome.margins)
    rows = evaluator.rows(x)
    assert (rows - upper).max() < 1e-6 and (lower - rows).max() < 1e-6
    jacobian, gradient = Jacobian(evaluator), cost_gradient(evaluator, x)
    residual = gradient.copy()
    np.add.at(residual, jacobian.column, jacobian.values(x) * m[jacobian.row])
    size = max(1.0, abs(gradient).max())
    assert abs(residual).max() < 1e-4 * size
    for bound, own in ((upper - rows, np.maximum(m, 0)), (rows - lower, np.maximum(-m, 0))):
        assert (own[np.isinf(bound)] == 0).all() or abs(own[np.isinf(bound)]).max() < 1e-12
        assert abs(np.where(np.isinf(bound), 0.0, bound) * own).max() < 1e-4 * size


def stretched() -> Motion:
    q0, q1 = states()
    return Motion(arm(), (3.0, 12.0), 8, start=q0, end=q1).limits(torque=0.8)


def round_trip() -> Motion:
    motion = Motion(arm(), 4.0, 9, periodic=True).limits(torque=0.8)
    motion.keep(Position(FRAME), (0.3, -0.5, 0.2), (0.8, 0.5, 0.8))
    motion.keep(Position(FRAME), (-1, 0.3, 0.2), (1, 1, 1), during=(0.5, 0.7))
    return motion.keep(Position(FRAME), (-1, -1, 0.2), (1, -0.3, 1), during=(2.5, 2.7))


@pytest.mark.parametrize(
    ("motion", "cost"),
    [
        (reach, "jerk"),
        (reach, "energy"),
        (stretched, {"time": 1.0, "jerk": 1e-5}),
        (stretched, {"time": 1.0, "energy": 0.5}),
        (round_trip, "jerk"),
    ],
)
def test_an_answer_is_an_optimum(motion: Any, cost: Any) -> None:
    given = task(motion(), cost)
    outcome = solve(given)
    assert outcome.status == SOLVED, outcome.message
    is_optimal(given, outcome)
    assert outcome.iterations > 0 and outcome.seconds["condensing"] > 0 and outcome.counts["factor"] > 0


def test_the_same_bits_on_any_number_of_threads() -> None:
    answers = {solve(task(reach(), threads=threads)).x.tobytes() for threads in (1, 2, 3)}
    assert len(answers) == 1


def test_without_cost_a_motion_that_holds() -> None:
    given = task(reach(), None)
    outcome = solve(given)
    assert outcome.status == SOLVED
    rows = given.evaluator.rows(outcome.x)
    lower, upper = given.evaluator.bounds()
    assert (rows >= lower - 1e-7).all() and (rows <= upper + 1e-7).all()


def test_what_cannot_be_is_told() -> None:
    motion = reach().keep(Position(FRAME), (-5, -5, 5), (5, 5, 6), during=(2.0, 4.0))  # out of reach
    outcome = solve(task(motion))
    assert outcome.status == INFEASIBLE


def test_a_warm_start_is_quick() -> None:
    given = task(reach())
    first = solve(given)
    again = solve(Task(given.evaluator, first.x, first.margins, True, multipliers=first.multipliers))
    assert again.status == SOLVED and again.iterations <= max(4, first.iterations // 2)
    np.testing.assert_allclose(again.x, first.x, atol=1e-4)


# --- callbacks ----------------------------------------------------------------------------------------------


def test_a_callback_sees_every_iteration_and_may_stop() -> None:
    seen: list[Any] = []
    outcome = solve(task(reach(), callback=seen.append))
    assert [state.iteration for state in seen] == list(range(1, outcome.iterations + 1))
    assert seen[-1].violation < 1e-6
    stopped = solve(task(reach(), callback=lambda state: state.iteration < 3))
    assert stopped.status == STOPPED and stopped.iterations == 3


def test_what_a_callback_raises_comes_out() -> None:
    def fails(state: Any) -> bool:
        raise LookupError("no")

    with pytest.raises(LookupError, match="no"):
        solve(task(reach(), callback=fails))
    assert solve(task(reach())).status == SOLVED


def test_an_interrupt_ends_the_search() -> None:
    given = task(everything(), options={"tolerance": 0.0, "iterations": 10**9, "feasibility": -1e9})
    timer = threading.Timer(0.3, _thread.interrupt_main)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs tests may ignore interrupts
    begin = time.monotonic()
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            while time.monotonic() - begin < 30:  # the solver may give up before the interrupt comes
                solve(given)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - begin < 30


def test_a_problem_in_use_is_refused() -> None:
    assembled = reach().problem("jerk")
    native = native_problem(assembled.problem, assembled.functions)
    errors: list[str] = []

    def again(state: Any) -> bool:
        try:
            native.values(native.problem.control.ravel())
        except RuntimeError as error:
            errors.append(str(error))
        return False

    _native.motion_solve(native.capsule, native.initial(), {}, again, None)
    assert errors and "in use" in errors[0]
    assert np.isfinite(native.values(native.initial())[0])


# --- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"speed": 1}, "no option 'speed'"),
        ({"iterations": -1}, "iterations"),
        ({"tolerance": "x"}, "options"),
    ],
)
def test_unknown_options_are_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        solve(task(reach(), options=options))


def test_wrong_arguments_raise() -> None:
    assembled = reach().problem("jerk")
    native = native_problem(assembled.problem, assembled.functions)
    short = np.zeros(3)
    rows, n = native.sizes["rows"], native.sizes["variables"]
    for call in (native.values, native.linearise, native.times, native.refresh_margins):
        with pytest.raises(ValueError, match="numbers"):
            call(short)
    with pytest.raises(ValueError, match="multipliers"):
        native.transposed_times(short)
    with pytest.raises(ValueError, match="weights"):
        native.condensed(1.0, np.zeros(rows), short)
    with pytest.raises(ValueError, match="multipliers"):
        _native.motion_solve(native.capsule, np.zeros(n), {}, None, short)
    with pytest.raises((TypeError, ValueError)):
        _native.motion_values("no problem", short)
    with pytest.raises(KeyError, match="missing"):
        _native.motion_problem({}, {}, 1, None)
    with pytest.raises(ArgumentError, match="functions of a robot"):
        native_problem(assembled.problem, None)
