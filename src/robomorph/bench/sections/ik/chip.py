"""The Quick-IK paper's tables of its accelerator, redrawn with our chip, our CPU and OpenCL beside it.

Iterations and successes are the chip's own, word by word (its definition); cycles are its formula's, which
simulation meets exactly (tests/targets/rtl/ik); times are cycles at a stated clock. What stands for IKAcc's
cycles is derived from the paper's times, as it prints none.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from robomorph.accelerators.ik.chain import make_chain
from robomorph.accelerators.ik.make import IkChip, make_chip
from robomorph.bench.chain_problems import CHAINS, TOLERANCE, ChainProblems, chain_problems
from robomorph.bench.functions import INVERSE_KINEMATICS
from robomorph.bench.goals import Goal
from robomorph.bench.ik_chip_tables import CHIP, CPU, OPENCL, ROUNDS, chip_tables, joints_of
from robomorph.bench.measuring import time_calls
from robomorph.bench.records import OURS, REFUSED, Record, select
from robomorph.bench.records import Timing as TimingRecord
from robomorph.bench.sections.section import Job, Records, Section
from robomorph.bench.session import Session
from robomorph.bench.solution_check import PinocchioCheck
from robomorph.errors import TargetError
from robomorph.ik import IKResult
from robomorph.loading import load
from robomorph.robot import Robot
from robomorph.targets.gpu.devices import open_gpu
from robomorph.targets.rtl.ik.definition import solve
from robomorph.targets.rtl.ik.plan import HEADER_OUT, Knobs, Widths
from robomorph.targets.rtl.ik.stream_words import CONVERGED, problem_words
from robomorph.targets.rtl.ik.timing import Timing

NAME = "chip"
TARGETS, _QUICK_TARGETS, _TIMED = 200, 10, 50
_CPU_METHODS = ("quick-ik", "relaxed-quick-ik", "speculative-newton", "lm")


class Way(NamedTuple):
    """A chip and a mode: name, bits of the mode, units, speculations."""

    name: str
    mode: int
    units: int
    speculations: int

    @property
    def newton(self) -> bool:
        return bool(self.mode & 2)

    @property
    def relaxed(self) -> bool:
        return bool(self.mode & 1)


WAYS = (
    Way("Quick-IK, 4 units", 0, 4, 64),
    Way("Quick-IK, 16 units", 0, 16, 64),
    Way("Quick-IK, 32 units, two rounds", 0, 32, 64),
    Way("relaxed, 4 units", 1, 4, 64),
    Way("relaxed, 16 units", 1, 16, 64),
    Way("Newton, 4 units, K = 16", 2, 4, 16),
)


def _jobs(session: Session) -> list[Job]:
    chains = dict.fromkeys((CHAINS[0], CHAINS[-1])) if session.quick else CHAINS
    return [Job(f"chain of {joints}", partial(_run, session, joints)) for joints in chains]


def _run(session: Session, joints: int) -> list[Record]:
    robot = load(f"chain:{joints}")
    check = PinocchioCheck(robot, f"chain:{joints}")
    problems = chain_problems(robot, "B", _QUICK_TARGETS if session.quick else TARGETS)
    answered: dict[int, dict[str, float]] = {}
    records = []
    for way in WAYS:
        chip = _chip(robot, way)
        if way.mode not in answered:  # units change cycles, not answers
            answered[way.mode] = _answers(session, check, chip, way, problems)
        timing = Timing(chip.plan)
        cycles = timing.iteration(way.speculations, newton=way.newton, relaxed=way.relaxed)
        whole = float(timing.solve(0, way.speculations, newton=way.newton, relaxed=way.relaxed))
        figures = {**answered[way.mode], "cycles": float(cycles), "outside": whole}
        records.append(_record(robot, CHIP, way.name, figures))
    records += [_on_cpu(session, check, problems, method) for method in _CPU_METHODS]
    records.append(_on_cpu(session, check, problems, "lm", batch=True))
    return records + _opencl(session, robot, problems.first(_TIMED))


def _chip(robot: Robot, way: Way) -> IkChip:
    chain = make_chain(robot.model, "tool", robot.limits.lower, robot.limits.upper)
    return make_chip(chain, Widths(), Knobs(units=way.units, speculations=way.speculations, problems=1))


def _answers(
    session: Session, check: PinocchioCheck, chip: IkChip, way: Way, problems: ChainProblems
) -> dict[str, float]:
    """Iterations and successes of the chip's definition; what Pinocchio refuses of them."""
    target, _ = chip.target_words(problems.targets)
    theta, whole = chip.theta_words(problems.starts)
    count = len(target)
    limits = np.full(count, chip.threshold_words(TOLERANCE))
    log = way.speculations.bit_length() - 1
    words = problem_words(target, limits, 10_000, way.mode, log, 0, np.arange(count), theta)
    answers = solve(chip.plan, words)
    q = chip.configurations(answers.words[:, HEADER_OUT:], whole, problems.starts)
    good = check.holds(q, "tool", problems.targets, TOLERANCE)
    claimed = answers.status == CONVERGED
    if not good[claimed].all():
        session.note(f"chip: {check.robot.name}, {way.name}: {int((claimed & ~good).sum())} answers refused")
    return {
        "problems": float(count),
        "iterations": float(answers.iterations.mean()),
        "solved": float((claimed & good).mean()),
        REFUSED: float((claimed & ~good).sum()),
    }


def _on_cpu(
    session: Session, check: PinocchioCheck, problems: ChainProblems, method: str, *, batch: bool = False
) -> Record:
    """On one thread, called from Python: one solve at a time, or all targets in one call."""
    robot = check.robot
    few = [problems.slice(i, i + 1) for i in range(min(_TIMED, len(problems.targets)))]
    calls, solves = ([problems], len(problems.targets)) if batch else (few, len(few))

    def all_of_them() -> None:
        for one in calls:
            _solved(robot, one, method, threads=1)

    found = _solved(robot, problems, method)
    good = check.holds(found.q, "tool", problems.targets, TOLERANCE)
    figures = {
        "problems": float(len(good)),
        "iterations": float(found.iterations.mean()),
        "solved": float((found.success & good).mean()),
        REFUSED: float(check.refused(session, f"{robot.name}, {method}", found, good)),
    }
    how = f"{method}, in a batch" if batch else method
    return _record(robot, CPU, how, figures, time_calls(all_of_them, ROUNDS, solves))


def _solved(robot: Robot, problems: ChainProblems, method: str, **options: Any) -> IKResult:
    return robot.inverse_kinematics(
        problems.targets,
        "tool",
        problems.starts,
        tolerance=TOLERANCE,
        method=method,
        nearest=False,
        starts=1,
        max_iterations=10_000,
        **options,
    )


def _opencl(session: Session, robot: Robot, problems: ChainProblems) -> list[Record]:
    """Some targets in one launch, where there is a device."""
    try:
        name = open_gpu("opencl").name
        found = _solved(robot, problems, "quick-ik", on="opencl")
    except TargetError as error:
        session.note(f"chip: OpenCL was not measured: {error}")
        return []
    count = len(problems.targets)
    timing = time_calls(partial(_solved, robot, problems, "quick-ik", on="opencl"), ROUNDS, count)
    figures = {
        "problems": float(count),
        "iterations": float(found.iterations.mean()),
        "solved": float(found.success.mean()),
    }
    return [_record(robot, OPENCL, f"quick-ik, {name}", figures, timing)]


def _record(
    robot: Robot, case: str, how: str, figures: dict[str, float], timing: TimingRecord | None = None
) -> Record:
    numbers = {"joints": float(robot.nq), **figures}
    return Record(
        NAME, f"chain:{robot.nq}", INVERSE_KINEMATICS, OURS, how, timing=timing, figures=numbers, case=case
    )


def _cycles_at(joints: int, how: str) -> Callable[[Records], float | None]:
    def value(records: Records) -> float | None:
        found = [r for r in select(records, case=CHIP, how=how) if joints_of(r) == joints]
        return found[0].figures["cycles"] if found else None

    return value


def _least_solved(records: Records) -> float | None:
    return min((100.0 * r.figures["solved"] for r in select(records, case=CHIP)), default=None)


_CYCLES = ((100, 1, 1000.0), (100, 0, 2300.0), (12, 1, 190.0), (12, 0, 350.0), (100, 5, 1050.0))
_GOALS = (
    *(
        Goal(
            f"cycles of an iteration, {joints} joints, {WAYS[way].name}",
            most,
            "",
            _cycles_at(joints, WAYS[way].name),
            at_least=False,
        )
        for joints, way, most in _CYCLES
    ),
    Goal("solved by the chip, the least of all", 100.0, "%", _least_solved),
)

SECTION = Section(NAME, _jobs, chip_tables, _GOALS)
