"""Quick-IK on devices beside the CPU's, on the paper's chains: the same search, and the time it takes."""

from __future__ import annotations

from functools import partial

import numpy as np

from robomorph.bench.chain_problems import CHAINS, TOLERANCE, ChainProblems, chain_problems
from robomorph.bench.functions import INVERSE_KINEMATICS
from robomorph.bench.measuring import time_calls
from robomorph.bench.records import OURS, REFUSED, Record, select
from robomorph.bench.sections.section import Job, Records, Section, TableData
from robomorph.bench.session import Session
from robomorph.bench.solution_check import PinocchioCheck
from robomorph.errors import TargetError
from robomorph.ik import IKResult
from robomorph.loading import load
from robomorph.robot import Robot
from robomorph.targets.gpu.devices import open_gpu

NAME = "devices"
DEVICES = ("opencl", "cuda")
TARGETS, _QUICK_TARGETS = 200, 20
ROUNDS = 2  # of each timing; the least counts
NUDGE = 1e-15  # rad: about what rounding makes of an angle
_CPU = "cpu"
_NUDGED = f"{_CPU}, starts {NUDGE:g} rad aside"


def _jobs(session: Session) -> list[Job]:
    chains = CHAINS[:2] if session.quick else CHAINS
    return [Job(f"chain of {joints}", partial(_run, session, joints)) for joints in chains]


def _run(session: Session, joints: int) -> list[Record]:
    """All targets in one call, on the CPU and on every device that is there."""
    source = f"chain:{joints}"
    robot = load(source)
    check = PinocchioCheck(robot, source)
    problems = chain_problems(robot, "B", _QUICK_TARGETS if session.quick else TARGETS)
    cpu = _solve(robot, problems, _CPU)
    records = [_measured(session, check, source, problems, _CPU, cpu, cpu)]
    beside = ChainProblems(problems.targets, problems.starts + NUDGE)
    records.append(_measured(session, check, source, beside, _NUDGED, cpu, _solve(robot, beside, _CPU)))
    for on in DEVICES:
        try:
            named = f"{on}, {open_gpu(on).name}"
            found = _solve(robot, problems, on)
        except TargetError as error:
            session.note(f"devices: {on} was not measured: {error}")
            continue
        records.append(_measured(session, check, source, problems, named, cpu, found))
    return records


def _solve(robot: Robot, problems: ChainProblems, on: str) -> IKResult:
    return robot.inverse_kinematics(
        problems.targets, "tool", problems.starts, tolerance=TOLERANCE, method="quick-ik", on=on
    )


def _measured(
    session: Session,
    check: PinocchioCheck,
    source: str,
    problems: ChainProblems,
    how: str,
    cpu: IKResult,
    found: IKResult,
) -> Record:
    good = check.holds(found.q, "tool", problems.targets, TOLERANCE)
    same = found.iterations == cpu.iterations
    away = np.abs(found.q - cpu.q).max(axis=-1)
    figures = {
        "joints": float(check.robot.nq),
        "problems": float(len(problems.targets)),
        "iterations": float(found.iterations.mean()),
        "solved": float((found.success & good).mean()),
        REFUSED: float(check.refused(session, f"{source}, {how}", found, good)),
        "same_iterations": float(same.mean()),
        **{f"away_{name}": float(np.quantile(away, part)) for name, part in _QUANTILES.items()},
    }
    on = how.split(",")[0]
    timing = time_calls(partial(_solve, check.robot, problems, on), ROUNDS, len(problems.targets))
    return Record(NAME, source, INVERSE_KINEMATICS, OURS, how, timing=timing, figures=figures, case="set B")


_QUANTILES = {"half": 0.5, "nine_tenths": 0.9, "all": 1.0}


def _tables(records: Records) -> list[TableData]:
    rows = []
    for r in records:
        (base,) = select(records, robot=r.robot, how=_CPU)
        figures = r.figures
        rows.append(
            (
                r.robot,
                r.how,
                f"{r.best_ns / 1e6:.4g}",
                f"{r.best_ns / base.best_ns:.3g}x",
                f"{figures['iterations']:.4g}",
                f"{figures['solved']:.1%}",
                f"{figures['same_iterations']:.1%}",
                *(f"{figures[f'away_{name}']:.0e}" for name in _QUANTILES),
            )
        )
    columns = (
        "chain", "on", "ms a solve", "of the CPU's", "iterations", "solved", "same iterations",
        "half within", "90% within", "all within",
    )  # fmt: skip
    caption = (
        f"Set B to 1e-2 m, 64 speculations, {int(records[0].figures['problems'])} targets in one call, the "
        f"least of {ROUNDS} rounds; the CPU on all threads. Solved: confirmed by Pinocchio. Same iterations: "
        "as the CPU's search; within: the largest difference of a coordinate (rad). Long searches let "
        f"rounding grow, as the row shows whose starts are {NUDGE:g} rad aside. PoCL runs on the same cores "
        "as the CPU's own kernels: its time says nothing about a GPU."
    )
    return [TableData("Quick-IK on devices", columns, rows, left=2, caption=caption)]


SECTION = Section(NAME, _jobs, _tables)
