"""From a motion to a plan: guesses, ends, solver, answer."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from robomorph.errors import ArgumentError
from robomorph.planning.assemble import Assembled
from robomorph.planning.ends import broken_ends
from robomorph.planning.evaluate import Evaluator
from robomorph.planning.explain import explain, explain_ends
from robomorph.planning.given import whole_number
from robomorph.planning.plan import Plan
from robomorph.planning.problem import Array
from robomorph.planning.progress import ProgressLine
from robomorph.planning.solvers import solver_of
from robomorph.planning.solvers.outcome import SOLVED, Outcome, Task

if TYPE_CHECKING:
    from robomorph.planning.motion import Motion

_NOISE = 0.3  # rad or m, of further starts


def search(motion: Motion, **given: Any) -> Plan:
    begin = time.perf_counter()
    solve = solver_of(given["solver"])
    starts = whole_number("starts", given["starts"], 1, 10_000)
    threads = 0 if given["threads"] is None else whole_number("threads", given["threads"], 1, 1024)
    if given["target"] != "cpu":
        raise ArgumentError(f"target: expected 'cpu', found {given['target']!r}")
    assembled = motion.problem(given["cost"], given["method"], given["points"])
    evaluator = assembled.evaluator
    guess, sigma = first_guess(motion, assembled, given["guess"])
    broken = broken_ends(motion, assembled)
    made = time.perf_counter() - begin
    if broken:
        plan = _plan(motion, assembled, evaluator, None, evaluator.variables(guess, sigma), given)
        return replace(plan, reason=explain_ends(broken), times={"problem": made, "total": made})
    with ProgressLine(given["progress"], given["callback"]) as line:
        best: Plan | None = None
        for x in _starts(evaluator, guess, sigma, starts):
            margins = evaluator.margins(x)
            has_cost = given["cost"] is not None
            task = Task(evaluator, x, margins, has_cost, threads, line.step, given["options"])
            outcome = solve(task)
            plan = _plan(motion, assembled, evaluator, outcome, outcome.x, given)
            if best is None or (not plan.success, plan.cost) < (not best.success, best.cost):
                best = plan
            if line.stopped:
                break
    assert best is not None
    times = {"problem": made, **best.times, "total": time.perf_counter() - begin}
    return replace(best, times=times)


def first_guess(motion: Motion, assembled: Assembled, guess: Any) -> tuple[Array, float]:
    """Control points (P, nv) with the ends as they are given, and sigma."""
    control = assembled.problem.control
    if guess is None:
        return control, 1.0
    given = guess.control if isinstance(guess, Plan) else np.asarray(guess, dtype=np.float64)
    if given.shape != control.shape or not np.isfinite(given).all():
        raise ArgumentError(
            f"guess: expected a plan or finite control points {control.shape}, found shape {given.shape}"
        )
    fixed = (assembled.problem.block_of < 0)[:, None]
    sigma = (
        guess.seconds / motion.duration.nominal if isinstance(guess, Plan) and motion.duration.free else 1.0
    )
    return np.where(fixed, control, given), sigma


def _starts(evaluator: Evaluator, guess: Array, sigma: float, count: int) -> list[Array]:
    rng = np.random.default_rng(0)
    noise = [rng.normal(0.0, _NOISE, guess.shape) * (k > 0) for k in range(count)]
    return [evaluator.variables(guess + n, sigma) for n in noise]


def _plan(
    motion: Motion,
    assembled: Assembled,
    evaluator: Evaluator,
    outcome: Outcome | None,
    x: Array,
    given: dict[str, Any],
) -> Plan:
    nominal = motion.duration.nominal
    sigma = 1.0 if assembled.problem.duration is None else float(x[-1])
    requirements = tuple(stretched(r, sigma) for r in motion.requirements)
    return Plan(
        robot=motion.robot,
        success=outcome is not None and outcome.status == SOLVED,
        reason="" if outcome is None else explain(assembled, evaluator, outcome),
        control=evaluator.control(x),
        seconds=nominal * sigma,
        cost=evaluator.cost(x),
        iterations=0 if outcome is None else outcome.iterations,
        times={} if outcome is None else outcome.seconds,
        requirements=requirements,
        method=given["method"],
        solver=given["solver"],
        ends=motion.ends,
        assembled=assembled,
        multipliers=None if outcome is None else outcome.multipliers,
    )


def stretched(requirement: Any, sigma: float) -> Any:
    """A requirement with its window in the plan's own time."""
    begin, end = requirement.window
    return requirement if sigma == 1.0 else replace(requirement, window=(begin * sigma, end * sigma))
