"""From a motion to a plan: guesses, ends, solver, answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from robomorph.errors import ArgumentError
from robomorph.given.numbers import whole_number
from robomorph.planning.assemble import Assembled
from robomorph.planning.contradictions import contradiction
from robomorph.planning.device import check_place
from robomorph.planning.ends import broken_ends, coarse_ends
from robomorph.planning.evaluate import Evaluator
from robomorph.planning.explain import explain, explain_coarse, explain_ends
from robomorph.planning.plan import Plan
from robomorph.planning.problem import Array
from robomorph.planning.progress import ProgressLine
from robomorph.planning.solvers import solver_of
from robomorph.planning.solvers.native import prepare
from robomorph.planning.solvers.outcome import SOLVED, Outcome, Task
from robomorph.runtime import get_default_threads

if TYPE_CHECKING:
    from robomorph.planning.motion import Motion

_NOISE = 0.3  # rad or m, of further starts
_NOISE_ROWS = 1024  # that are drawn and dropped at a time
_DISTINCT = 1e-3  # rad or m: plans that are nearer to each other are the same


@dataclass(frozen=True)
class Search:
    """How a motion is looked for; see `Motion.solve`."""

    cost: Any
    solver: str | None
    method: str
    points: int
    threads: int | None
    guess: Any
    starts: int
    callback: Any
    progress: bool
    target: str
    dtype: str
    options: dict[str, Any]


def search(motion: Motion, how: Search) -> Plan:
    begin = time.perf_counter()
    name = chosen_solver(how)
    if how.callback is not None and not callable(how.callback):
        raise ArgumentError(f"callback: expected a function or None, found {how.callback!r}")
    solve = solver_of(name)
    starts = whole_number("starts", how.starts, 1, 10_000)
    threads = 0 if how.threads is None else whole_number("threads", how.threads, 1, 1024)
    check_place(how.target, how.dtype, name)
    assembled = motion.problem(how.cost, how.method, how.points)
    guess = first_guess(motion, assembled, how.guess)
    if assembled.impossible is None:
        assembled.impossible = _why_not(motion, assembled)
    impossible = assembled.impossible
    made = time.perf_counter() - begin
    record = _Record(motion, assembled, how.method, name)
    if impossible:
        plan = record.plan(None, guess.x)
        return replace(plan, reason=impossible, times={"problem": made, "total": made})
    with ProgressLine(how.progress, how.callback) as line:
        tasks = [
            Task(
                assembled.evaluator,
                x,
                None,
                how.cost is not None,
                threads,
                line.callback,
                how.options,
                guess.multipliers if k == 0 else None,
                how.target,
                how.dtype,
            )
            for k, x in enumerate(_starts(assembled.evaluator, guess.x, starts))
        ]
        outcomes = _solve_all(solve, tasks, line, parallel=name == "native" and how.target == "cpu")
    plans = sorted((record.plan(o, o.x) for o in outcomes), key=lambda p: (not p.success, p.cost))
    times = {"problem": made, **plans[0].times, "total": time.perf_counter() - begin}
    return replace(plans[0], times=times, others=_distinct(plans))


def _why_not(motion: Motion, assembled: Assembled) -> str:
    """Why there is nothing to look for, as far as that is seen at once."""
    return (
        explain_ends(broken_ends(motion, assembled))
        or explain_coarse(*coarse_ends(motion, assembled))
        or contradiction(assembled)
    )


def _solve_all(
    solve: Callable[[Task], Outcome], tasks: list[Task], line: ProgressLine, parallel: bool
) -> list[Outcome]:
    """Every start, several at a time where the solver leaves Python alone: each on one thread then, which
    changes no answer."""
    workers = min(len(tasks), tasks[0].threads or get_default_threads())
    if parallel and workers > 1:
        prepare(tasks[0])  # what must be compiled is compiled once
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(solve, [replace(task, threads=1) for task in tasks]))
    out: list[Outcome] = []
    for task in tasks:
        out.append(solve(task))
        if line.stopped:
            break
    return out


def _distinct(plans: list[Plan]) -> tuple[Plan, ...]:
    """Other plans that succeeded, by cost, each once."""
    kept = plans[:1]
    for plan in plans[1:]:
        apart = (np.abs(plan.control - other.control).max() > _DISTINCT for other in kept)
        if plan.success and all(apart):
            kept.append(plan)
    return tuple(kept[1:])


def chosen_solver(how: Search) -> str:
    """The native solver, unless something needs the other."""
    kinks = how.method == "paper"
    if kinks and how.solver not in (None, "ipopt"):
        raise ArgumentError(
            f"solver: method 'paper' has rows with kinks: expected 'ipopt', found {how.solver!r}"
        )
    return how.solver or ("ipopt" if kinks else "native")


@dataclass(frozen=True)
class Guess:
    """x (n,), and multipliers (rows,) of a plan of a problem like this one, if there are any."""

    x: Array
    multipliers: Array | None = None


def first_guess(motion: Motion, assembled: Assembled, guess: Any) -> Guess:
    evaluator, control = assembled.evaluator, assembled.problem.control
    if guess is None:
        return Guess(evaluator.variables(control))
    plan = guess if isinstance(guess, Plan) else None
    try:
        given = np.asarray(guess if plan is None else plan.control, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.zeros(())
    if given.shape != control.shape or not np.isfinite(given).all():
        raise ArgumentError(
            f"guess: expected a plan or finite control points {control.shape}, found shape {given.shape}"
        )
    if plan is None:
        return Guess(evaluator.variables(given))
    sigma = plan.seconds / motion.duration.nominal if motion.duration.free else 1.0
    known = plan.multipliers if plan.success else None
    fits = known is not None and len(known) == evaluator.count and plan.method == assembled.method
    return Guess(evaluator.variables(given, sigma), known if fits else None)


def _starts(evaluator: Evaluator, x: Array, count: int) -> list[Array]:
    """The guess, and others around it."""
    points = evaluator.problem.blocks * evaluator.problem.nv
    noise = start_noise(points, 0, count)
    return [np.concatenate([x[:points] + n, x[points:]]) for n in noise]


def start_noise(points: int, first: int, count: int, seed: int = 0) -> Array:
    """(count, points): what further starts add to the guess, from the start with that number on. None for the
    first of all. Rows follow from seed and number, whatever else is drawn."""
    rng, skipped = np.random.default_rng(seed), 0
    while skipped < first:
        skipped += len(rng.normal(0.0, _NOISE, (min(_NOISE_ROWS, first - skipped), points)))
    noise = rng.normal(0.0, _NOISE, (count, points))
    if first == 0:
        noise[:1] = 0.0
    return noise


@dataclass(frozen=True)
class _Record:
    """What every plan of a search has in common."""

    motion: Motion
    assembled: Assembled
    method: str
    solver: str

    def plan(self, outcome: Outcome | None, x: Array) -> Plan:
        evaluator, motion = self.assembled.evaluator, self.motion
        nominal = motion.duration.nominal
        sigma = 1.0 if self.assembled.problem.duration is None else float(x[-1])
        return Plan(
            robot=motion.robot,
            success=outcome is not None and outcome.status == SOLVED,
            reason="" if outcome is None else explain(self.assembled, evaluator, outcome),
            control=evaluator.control(x),
            seconds=nominal * sigma,
            cost=evaluator.cost(x),
            iterations=0 if outcome is None else outcome.iterations,
            times={} if outcome is None else outcome.seconds,
            requirements=tuple(stretched(r, sigma, nominal) for r in motion.requirements),
            method=self.method,
            solver=self.solver,
            ends=motion.ends,
            multipliers=None if outcome is None else outcome.multipliers,
            device=None if outcome is None else outcome.device,
            assembled=self.assembled,
        )


def stretched(requirement: Any, sigma: float, nominal: float) -> Any:
    """A requirement with its window in the plan's own time; the nominal one is this long (s)."""
    begin, end = requirement.window
    if sigma == 1.0:
        return requirement
    window, shares = (begin * sigma, end * sigma), (begin / nominal, end / nominal)
    return replace(requirement, window=window, shares=shares)
