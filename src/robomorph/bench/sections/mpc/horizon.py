"""The longest horizon that ten iterations fit into 4 ms and into 1 ms, on one core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from robomorph.bench.functions import PREDICTIVE_CONTROL
from robomorph.bench.goals import Goal
from robomorph.bench.mpc.horizons import longest
from robomorph.bench.mpc.problem import ControlProblem
from robomorph.bench.mpc.problems import far, limited
from robomorph.bench.mpc.steps import ticks
from robomorph.bench.records import OURS, Record, first
from robomorph.bench.sections.section import Job, Records, Section, TableData
from robomorph.bench.session import Session

NAME = "horizon"
RATES = (250.0, 1000.0)  # Hz
FREE, BOUND = "without limits", "all limits"
ITERATIONS = 10
_ROUNDS, _QUICK_ROUNDS = 40, 10
_START = 16
PAPERS = {250.0: "80, 100 to 115 with its accelerator", 1000.0: "under 25"}
_CASES = (("iiwa14", FREE), ("iiwa14", BOUND), ("hyq", FREE), ("atlas", FREE))


def _jobs(session: Session) -> list[Job]:
    chosen = _CASES[:2] if session.quick else _CASES
    return [Job(f"{robot}, {case}", partial(_run, session, robot, case)) for robot, case in chosen]


def _run(session: Session, robot: str, case: str) -> list[Record]:
    problem = (far if case == FREE else limited)(robot, 0, _START)
    return [_record(session, robot, case, problem, rate) for rate in RATES]


def _record(session: Session, robot: str, case: str, problem: ControlProblem, rate: float) -> Record:
    rounds, taken = _QUICK_ROUNDS if session.quick else _ROUNDS, {}

    def seconds(steps: int) -> float:
        found = ticks(replace(problem, horizon=steps), rounds, ITERATIONS)
        taken[steps] = found.iterations
        return found.wall.median_ns * 1e-9

    steps, spent = longest(seconds, 1.0 / rate, _START)
    figures = {"steps": float(steps), "seconds": spent, "done": float(taken.get(steps, 0)), "rate": rate}
    return Record(NAME, robot, PREDICTIVE_CONTROL, OURS, f"{rate:g} Hz", case=case, figures=figures)


def _tables(records: Records) -> list[TableData]:
    rows = [
        (
            r.robot,
            r.case,
            r.how,
            f"{r.figures['steps']:.0f}",
            f"{r.figures['seconds'] * 1e3:.3f}",
            f"{r.figures['done']:.0f}",
            PAPERS[r.figures["rate"]] if r.robot == "iiwa14" else "-",
        )
        for r in records
    ]
    return [
        TableData(
            f"steps of the horizon that {ITERATIONS} iterations have time for, on one core",
            ("robot", "case", "rate", "steps", "ms, median", "iterations", "the papers' manipulator"),
            rows,
            left=3,
            caption="Wall time of whole calls of step() in a loop, each from the next node of the plan "
            "before, by the median.",
        )
    ]


def _steps(rate: float) -> Callable[[Records], float | None]:
    def find(records: Records) -> float | None:
        found = first(records, robot="iiwa14", case=FREE, how=f"{rate:g} Hz")
        return None if found is None else found.figures["steps"]

    return find


_GOALS = (
    Goal("iiwa14, 250 Hz: steps without limits", 400.0, "", _steps(250.0)),
    Goal("iiwa14, 1 kHz: steps without limits", 100.0, "", _steps(1000.0)),
)
SECTION = Section(NAME, _jobs, _tables, _GOALS)
