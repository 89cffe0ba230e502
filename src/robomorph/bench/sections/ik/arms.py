"""TRAC-IK's protocol: random reachable poses of real arms from mid-range."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.bench.arms import ARMS, TOLERANCE, Arm, PoseProblems, installed_arms, pose_problems
from robomorph.bench.functions import INVERSE_KINEMATICS
from robomorph.bench.goals import Goal
from robomorph.bench.measuring import time_calls
from robomorph.bench.peers.ik_peer import IkPeer
from robomorph.bench.peers.kdl import RESTARTS, Kdl
from robomorph.bench.records import OURS, REFUSED, Record, Timing, first, select, speedup
from robomorph.bench.sections.section import Job, Records, Section, TableData, robots_of
from robomorph.bench.session import Session, in_short
from robomorph.bench.solution_check import PinocchioCheck
from robomorph.ik import IKResult

NAME = "arms"
_BATCH = "batch"
_ROUNDS = 3
_SOLVED = {"iiwa14": 99.99}
_SOLVED_ELSEWHERE = 99.9


def _jobs(session: Session) -> list[Job]:
    arms = installed_arms(ARMS, session.note)
    return [Job(arm.name, partial(_run, session, arm, path)) for arm, path in arms]


def _run(session: Session, arm: Arm, source: str) -> list[Record]:
    """Ours on one thread and on all, then every solver that is installed on the first of the problems."""
    problems = pose_problems(source, arm.frame, 500 if session.quick else 10_000)
    check = PinocchioCheck(problems.robot, source)
    solve = partial(_solve, problems)
    result = solve(None)
    good = result.success & check.holds(result.q, arm.frame, problems.poses, TOLERANCE)
    refused = check.refused(session, arm.name, result, good)
    explain(session, arm, result)
    records = []
    for threads in dict.fromkeys((1, session.cpus)):
        timing = time_calls(partial(solve, threads), _ROUNDS, len(problems.poses))
        figures = {"solved": float(good.mean()), REFUSED: float(refused)}
        records.append(_record(arm, OURS, _BATCH, problems, timing, figures, threads))
    few = problems.first(100 if session.quick else 1000)
    for peer in session.present:
        if issubclass(peer, IkPeer):
            records += _theirs(session, arm, peer, few, check)
    return records


def _solve(problems: PoseProblems, threads: int | None) -> IKResult:
    return problems.robot.inverse_kinematics(
        problems.poses, problems.frame, problems.starts, nearest=False, threads=threads
    )


def _theirs(
    session: Session, arm: Arm, peer: type[IkPeer], problems: PoseProblems, check: PinocchioCheck
) -> list[Record]:
    try:
        answers = peer.solve(problems)
    except Exception as error:  # a peer that cannot do this robot is no failure of ours
        session.note(f"{peer.title} on {arm.name}: {in_short(error)}")
        return []
    good = check.holds(answers.q, arm.frame, problems.poses, peer.slack * problems.tolerance)
    return [_record(arm, peer.name, peer.title, problems, answers.timing, {"solved": float(good.mean())})]


def _record(
    arm: Arm,
    who: str,
    how: str,
    problems: PoseProblems,
    timing: Timing,
    figures: dict[str, float],
    threads: int = 1,
) -> Record:
    return Record(
        NAME,
        arm.name,
        INVERSE_KINEMATICS,
        who,
        how,
        batch=len(problems.poses) if who == OURS else 1,
        threads=threads,
        timing=timing,
        figures={"problems": float(len(problems.poses)), **figures},
    )


def explain(session: Session, arm: Arm, result: IKResult) -> None:
    """Notes every failure by the number of its pose, grouped by its cause."""
    groups: dict[str, list[int]] = {}
    unsolved: npt.NDArray[Any] = np.flatnonzero(~result.success)
    for k in unsolved:
        cause = str(result.reason[k]).partition(":")[0].partition(";")[0]
        groups.setdefault(cause, []).append(int(k))
    for cause, poses in groups.items():
        numbers = ", ".join(map(str, poses))
        reason = result.reason[poses[0]]
        session.note(f"{arm.name}: {len(poses)} unsolved, {cause}: poses {numbers}; the first: {reason}")


def _tables(records: Records) -> list[TableData]:
    rows = []
    for arm in robots_of(records):
        mine = select(records, robot=arm)
        ours = first(mine, who=OURS, threads=1)
        rows += [_row(record, ours) for record in mine]
    return [
        TableData(
            "TRAC-IK's protocol: random reachable poses, start at mid-range, 1e-5 m and rad",
            ("robot", "solver", "poses", "solved", "us per pose", "times ours"),
            rows,
            left=2,
            caption="Solved: claimed, inside the limits, and confirmed by Pinocchio's forward kinematics. "
            f"Ours is timed in one batch, the least of {_ROUNDS}; the others once on each pose. KDL's LMA "
            f"restarts at random up to {RESTARTS} times, only its own calls are timed.",
        )
    ]


def _row(record: Record, ours: Record | None) -> tuple[str, ...]:
    mine = record.who == OURS
    ratio = 1.0 / (speedup(record, ours) or float("nan"))
    return (
        record.robot,
        f"robomorph, {'one thread' if record is ours else 'all threads'}" if mine else record.how,
        f"{record.figures['problems']:.0f}",
        f"{record.figures['solved']:.2%}",
        f"{record.best_ns / 1e3:.{2 if mine else 1}f}",
        "1" if record is ours else f"{ratio:.{2 if mine else 0}f}",
    )


def _solved(arm: str) -> Callable[[Records], float | None]:
    def share(records: Records) -> float | None:
        record = first(records, robot=arm, who=OURS)
        return None if record is None else 100.0 * record.figures["solved"]

    return share


def _over_kdl(records: Records) -> float | None:
    mine = select(records, robot=ARMS[0].name)
    return speedup(first(mine, who=OURS, threads=1), first(mine, who=Kdl.name))


def _goals() -> tuple[Goal, ...]:
    solved = [
        Goal(f"{arm.name}, solved", _SOLVED.get(arm.name, _SOLVED_ELSEWHERE), "%", _solved(arm.name))
        for arm in ARMS
    ]
    faster = Goal(f"{ARMS[0].name}, batch over KDL's LMA with restarts, one thread", 25.0, "x", _over_kdl)
    return (solved[0], faster, *solved[1:])


SECTION = Section(NAME, _jobs, _tables, _goals())
