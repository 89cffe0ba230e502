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
from robomorph.bench.chain_problems import CHAINS, PAPER_TIMES, TOLERANCE, ChainProblems, chain_problems
from robomorph.bench.functions import INVERSE_KINEMATICS
from robomorph.bench.goals import Goal
from robomorph.bench.measuring import time_calls
from robomorph.bench.records import OURS, REFUSED, Record, select
from robomorph.bench.records import Timing as TimingRecord
from robomorph.bench.sections.section import Job, Records, Section, TableData
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
CLOCK_MHZ = 400.0  # stated; docs/ik-chip.md has what synthesis found
TARGETS, _QUICK_TARGETS, _TIMED = 200, 20, 50
ROUNDS = 2  # of each timing; the least counts
# Cycles of an iteration of IKAcc, derived: the paper's times at 1 GHz over estimates of its iterations, of
# which it prints none; per chain the least of three ways, the most favourable to it (docs/ik-chip.md).
DERIVED = dict(zip(CHAINS, (2598, 3915, 12857, 17281, 16373), strict=True))
CPU, CHIP, OPENCL = "CPU, one thread", "chip", "OpenCL"
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
    chains = CHAINS[:2] if session.quick else CHAINS
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
    return records + _opencl(session, robot, problems)


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


def _on_cpu(session: Session, check: PinocchioCheck, problems: ChainProblems, method: str) -> Record:
    """One solve at a time on one thread, called from Python."""
    robot = check.robot
    few = [problems.slice(i, i + 1) for i in range(min(_TIMED, len(problems.targets)))]

    def all_of_them() -> None:
        for one in few:
            _solved(robot, one, method, threads=1)

    found = _solved(robot, problems, method)
    good = check.holds(found.q, "tool", problems.targets, TOLERANCE)
    figures = {
        "problems": float(len(good)),
        "iterations": float(found.iterations.mean()),
        "solved": float((found.success & good).mean()),
        REFUSED: float(check.refused(session, f"{robot.name}, {method}", found, good)),
    }
    return _record(robot, CPU, method, figures, time_calls(all_of_them, ROUNDS, len(few)))


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
    """All targets in one launch, where there is a device."""
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


def _joints(record: Record) -> int:
    return int(record.figures["joints"])


def _by_chain(records: Records, case: str) -> dict[str, dict[int, Record]]:
    """Records of a case by how, then by chain."""
    found: dict[str, dict[int, Record]] = {}
    for record in select(records, case=case):
        found.setdefault(record.how, {})[_joints(record)] = record
    return found


def microseconds(record: Record) -> float:
    """Of a solve: cycles at the stated clock, or as measured."""
    f = record.figures
    if record.case == CHIP:
        return (f["outside"] + f["iterations"] * f["cycles"]) / CLOCK_MHZ
    return record.best_ns / 1e3


def _tables(records: Records) -> list[TableData]:
    chains = sorted({_joints(r) for r in records})
    columns = tuple(f"N = {n}" for n in chains)
    return [
        _cycle_table(records, chains, columns),
        _iteration_table(records, chains, columns),
        _time_table(records, chains, columns),
    ]


def _cycle_table(records: Records, chains: list[int], columns: tuple[str, ...]) -> TableData:
    rows = [
        (
            name,
            *(f"{by[n].figures['cycles']:.0f} ({DERIVED[n] / by[n].figures['cycles']:.1f}x)" for n in chains),
        )
        for name, by in _by_chain(records, CHIP).items()
    ]
    rows.append(("IKAcc, derived, favourable", *(f"{DERIVED[n]:,}" for n in chains)))
    return TableData(
        "cycles of an iteration",
        ("chip", *columns),
        rows,
        caption="By the formula that simulation meets exactly. In brackets: how many times fewer than "
        "IKAcc's, which are derived, not printed: the paper's times at 1 GHz over estimates of its "
        "iterations, the least of three ways.",
    )


def _against_ikacc(record: Record) -> str:
    cycles = record.figures["cycles"]
    return f"{cycles:.0f} ({DERIVED[_joints(record)] / cycles:.1f}x)"


def _iteration_table(records: Records, chains: list[int], columns: tuple[str, ...]) -> TableData:
    rows = []
    for case in (CHIP, CPU, OPENCL):
        for name, by in _by_chain(records, case).items():
            if case == CHIP and "units" in name and not name.endswith(("4 units", "K = 16")):
                continue  # units change cycles, not answers
            cells = (f"{by[n].figures['iterations']:.4g} ({by[n].figures['solved']:.1%})" for n in chains)
            rows.append((f"{case}: {name.replace(', 4 units', '')}", *cells))
    count = int(records[0].figures["problems"])
    return TableData(
        "mean iterations to 1e-2 m, set B, and how many were solved",
        ("method", *columns),
        rows,
        caption=f"{count} targets a chain; every answer confirmed by Pinocchio. The chip's threshold is "
        "lowered by its declared own error.",
    )


def _time_table(records: Records, chains: list[int], columns: tuple[str, ...]) -> TableData:
    rows = [
        (f"{case}: {name}", *(f"{microseconds(by[n]):.4g}" for n in chains))
        for case in (CHIP, CPU, OPENCL)
        for name, by in _by_chain(records, case).items()
    ]
    rows += [
        (f"{name}, the paper's", *(f"{1e3 * by[n]:.4g}" for n in chains)) for name, by in PAPER_TIMES.items()
    ]
    return TableData(
        "the paper's Table 2: microseconds per solve, set B, 1e-2 m",
        ("on", *columns),
        rows,
        caption=f"Chip: cycles at a stated clock of {CLOCK_MHZ:.0f} MHz, one problem in flight, streams not "
        f"counted. CPU: one thread, one solve at a time from Python, the least of {ROUNDS} rounds. OpenCL: "
        "all targets in one launch; PoCL runs on the same cores and says nothing about a GPU. The paper's "
        "are of other machines and other targets.",
    )


def _cycles_at(joints: int, how: str) -> Callable[[Records], float | None]:
    def value(records: Records) -> float | None:
        found = [r for r in select(records, case=CHIP, how=how) if _joints(r) == joints]
        return found[0].figures["cycles"] if found else None

    return value


def _least_solved(records: Records) -> float | None:
    return min((100.0 * r.figures["solved"] for r in select(records, case=CHIP)), default=None)


_GOALS = (
    Goal(
        "cycles of an iteration, 100 joints, 16 units",
        1000.0,
        "",
        _cycles_at(100, WAYS[1].name),
        at_least=False,
    ),
    Goal(
        "cycles of an iteration, 100 joints, 4 units",
        2300.0,
        "",
        _cycles_at(100, WAYS[0].name),
        at_least=False,
    ),
    Goal(
        "cycles of an iteration, 12 joints, 16 units", 190.0, "", _cycles_at(12, WAYS[1].name), at_least=False
    ),
    Goal(
        "cycles of an iteration, 12 joints, 4 units", 350.0, "", _cycles_at(12, WAYS[0].name), at_least=False
    ),
    Goal(
        "cycles of an iteration, 100 joints, Newton",
        1050.0,
        "",
        _cycles_at(100, WAYS[5].name),
        at_least=False,
    ),
    Goal("solved by the chip, the least of all", 100.0, "%", _least_solved),
)

SECTION = Section(NAME, _jobs, _tables, _GOALS)
