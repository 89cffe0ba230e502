"""First guesses that are nonsense: 0.3 rad of noise on all control points."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import partial

import numpy as np

from robomorph.bench.goals import Goal
from robomorph.bench.measuring import summarise
from robomorph.bench.planning.motion_check import MotionCheck
from robomorph.bench.planning.problems import SCENARIOS, TORQUES, Case, installed
from robomorph.bench.planning.solving import measured, median_ns, record, show_ms, threads_of
from robomorph.bench.records import REFUSED, Record
from robomorph.bench.sections.section import Job, Records, Section, TableData
from robomorph.bench.session import Session

NAME = "noise"
NOISE = 0.3  # rad, standard deviation
SEEDS, _QUICK_SEEDS = 100, 5
_RATE = 500.0  # samples a second of the check of each
_CASES = tuple(Case(scenario, "atlas") for scenario in (*SCENARIOS, TORQUES))
_SOLVED = 95.0  # %


def _jobs(session: Session) -> list[Job]:
    first = secrets.randbelow(2**31)  # nobody has tuned anything on these
    cases = installed(_CASES, session.note)
    session.note(f"noise: seeds from {first} on")
    return [Job(case.label, partial(_run, session, case, first)) for case in cases]


def _run(session: Session, case: Case, first: int) -> list[Record]:
    scenario = case.load()
    motion, check = scenario.motion(), MotionCheck(scenario)
    count = _QUICK_SEEDS if session.quick else SEEDS
    straight = motion.problem("jerk").problem.control
    motion.solve("jerk", solver="native", threads=threads_of(session))
    seconds, iterations, solved, refused, worst = [], [], 0, 0.0, 0.0
    for seed in range(first, first + count):
        guess = straight + np.random.default_rng(seed).normal(0.0, NOISE, straight.shape)
        plan = motion.solve("jerk", solver="native", threads=threads_of(session), guess=guess)
        seconds.append(plan.times["total"])
        if not plan.success:
            session.note(f"{case.label}, seed {seed}: {plan.reason}")
            continue
        found = measured(session, f"{case.label}, seed {seed}", check, plan, _RATE)
        solved, refused = solved + 1, refused + found[REFUSED]
        worst = max(worst, found["violation"])
        iterations.append(plan.iterations)
    figures = {
        "seeds": float(count),
        "first_seed": float(first),
        "solved": solved / count,
        "iterations": float(np.median(iterations)) if iterations else 0.0,
        "most_iterations": float(max(iterations, default=0)),
        "slowest_s": max(seconds),
        "violation": worst,
        REFUSED: refused,
    }
    return [record(NAME, case.robot, case.scenario, "native", figures, summarise(seconds, 0.0))]


def _tables(records: Records) -> list[TableData]:
    rows = [
        (
            r.robot,
            r.case,
            f"{r.figures['seeds']:.0f}",
            f"{r.figures['solved']:.0%}",
            f"{r.figures['iterations']:.0f}",
            f"{r.figures['most_iterations']:.0f}",
            show_ms(median_ns(r)),
            show_ms(1e9 * r.figures["slowest_s"]),
        )
        for r in records
    ]
    columns = ("robot", "scenario", "seeds", "solved", "iterations", "at most", "ms", "slowest")
    caption = (
        f"Jerk cost, normal noise of {NOISE:g} rad on all control points that are free, medians. Every plan "
        f"is confirmed by Pinocchio at {_RATE:g} Hz."
    )
    return [TableData("first guesses with noise", columns, rows, left=2, caption=caption)]


def _share(case: str) -> Callable[[Records], float | None]:
    def find(records: Records) -> float | None:
        found = next((r for r in records if r.case == case), None)
        return None if found is None or found.figures["seeds"] < SEEDS else 100.0 * found.figures["solved"]

    return find


_GOALS = tuple(
    Goal(f"{case.scenario}: solved from noise", _SOLVED, "%", _share(case.scenario)) for case in _CASES
)
SECTION = Section(NAME, _jobs, _tables, _GOALS)
