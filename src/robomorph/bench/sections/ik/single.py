"""One solve at a time on a chain of 100 joints, from the given start, against KDL on the same problems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.bench.chain_problems import ChainProblems, chain_problems
from robomorph.bench.functions import INVERSE_KINEMATICS
from robomorph.bench.goals import Goal
from robomorph.bench.measuring import seconds_of_calls, timing_of_each
from robomorph.bench.peers.ik_peer import Answers
from robomorph.bench.peers.kdl import Kdl, solve_with_kdl
from robomorph.bench.records import OURS, REFUSED, Record, Timing, first
from robomorph.bench.sections.section import Job, Records, Section, TableData
from robomorph.bench.session import Session
from robomorph.bench.solution_check import PinocchioCheck
from robomorph.ik import IKResult
from robomorph.loading import load

Array = npt.NDArray[Any]
NAME = "single"
JOINTS = 100
TOLERANCES = (1e-2, 1e-5)
REPEATS = 5  # of every call, ours and KDL's alike; the least counts
_SOURCE = f"chain:{JOINTS}"
_CAPTION = (
    f"The mean over the problems of the least of {REPEATS} calls each, ours and KDL's alike. Ours is the "
    "whole Python call; of KDL's only its own calls are timed. The slow solvers do the first problems only, "
    "and are compared with ours on those. Solved: confirmed by Pinocchio's forward kinematics. KDL's Newton "
    "solver (NR) cannot leave orientation out, so its row asks for more; the row above it takes the same "
    "steps for the position."
)


@dataclass(frozen=True)
class Rival:
    """A solver of KDL's, by the name that its worker knows. `goal`: how many times our time it shall take."""

    solver: str
    title: str
    position_only: bool = True
    slow: bool = False
    goal: float | None = None


RIVALS = (
    Rival("lma", "KDL LMA, position", goal=12.0),
    Rival("svd", "KDL Newton with SVD (wdls), position", slow=True, goal=500.0),
    Rival("nr", "KDL Newton with SVD (pinv), whole pose: a harder task", position_only=False, slow=True),
)


def _jobs(session: Session) -> list[Job]:
    if Kdl not in session.present:
        session.note(f"single: ours alone. KDL is absent: {session.absent.get(Kdl.name)}")
    return [Job(f"chain of {JOINTS}, {t:g} m", partial(_run, session, t)) for t in TOLERANCES]


def _run(session: Session, tolerance: float) -> list[Record]:
    """Robomorph's LM, KDL's LMA and KDL's SVD Newton, all on one thread."""
    robot = load(_SOURCE)
    check = PinocchioCheck(robot, _SOURCE)
    problems = chain_problems(robot, "B", 20 if session.quick else 200)
    few = problems.first(5 if session.quick else 40)
    seconds, ours = _ours(session, check, problems, tolerance)
    records = [ours]
    for rival in RIVALS if Kdl in session.present else ():
        part = few if rival.slow else problems
        answers = _kdl(check, part, tolerance, rival)
        times = answers.timing.best_ns / timing_of_each(seconds[:, : len(part.targets)]).best_ns
        # NR judges each component: its answer may be the diagonal of a cube away.
        slack = 1.0 if rival.position_only else 3**0.5
        good = check.holds(answers.q, "tool", part.targets, slack * tolerance)
        figures = {"solved": float(good.mean()), "times_ours": times}
        records.append(_record(Kdl.name, rival.title, tolerance, answers.timing, part, figures))
    return records


def _case(tolerance: float) -> str:
    return f"{tolerance:g} m"


def _record(
    who: str, how: str, tolerance: float, timing: Timing, problems: ChainProblems, figures: dict[str, float]
) -> Record:
    figures = {"problems": float(len(problems.targets)), **figures}
    return Record(
        NAME, _SOURCE, INVERSE_KINEMATICS, who, how, timing=timing, figures=figures, case=_case(tolerance)
    )


def _ours(
    session: Session, check: PinocchioCheck, problems: ChainProblems, tolerance: float
) -> tuple[Array, Record]:
    """Seconds (REPEATS, n) of every call, and the record with the share that is claimed and holds."""
    robot = check.robot

    def solve(targets: Array, starts: Array) -> IKResult:
        return robot.inverse_kinematics(targets, "tool", starts, tolerance=tolerance, nearest=False, starts=1)

    pairs = zip(problems.targets, problems.starts, strict=True)
    seconds = np.array([seconds_of_calls(partial(solve, *pair), REPEATS)[1:] for pair in pairs]).T
    result = solve(problems.targets, problems.starts)
    good = check.holds(result.q, "tool", problems.targets, tolerance)
    refused = check.refused(session, f"{_SOURCE}, {_case(tolerance)}", result, good)
    figures = {"solved": float((result.success & good).mean()), "times_ours": 1.0, REFUSED: float(refused)}
    timing = timing_of_each(seconds)
    return seconds, _record(OURS, "robomorph LM, position", tolerance, timing, problems, figures)


def _kdl(check: PinocchioCheck, problems: ChainProblems, tolerance: float, rival: Rival) -> Answers:
    turns = np.tile(np.eye(3).ravel(), (len(problems.targets), 1))
    return solve_with_kdl(
        check.robot,
        "tool",
        np.concatenate([problems.targets, turns], axis=1),
        problems.starts,
        solver=rival.solver,
        tolerance=tolerance,
        position_only=rival.position_only,
        repeats=REPEATS,
    )


def _tables(records: Records) -> list[TableData]:
    rows = [
        (
            record.case,
            record.how,
            f"{record.figures['problems']:.0f}",
            f"{record.best_ns / 1e3:.1f}",
            f"{record.figures['times_ours']:.1f}",
            f"{record.figures['solved']:.1%}",
        )
        for record in records
    ]
    return [
        TableData(
            "chain of 100 joints, set B, given start, one solve, one thread",
            ("tolerance", "solver", "problems", "us per solve", "times ours", "solved"),
            rows,
            left=2,
            caption=_CAPTION,
        )
    ]


def _times_ours(tolerance: float, rival: Rival) -> Callable[[Records], float | None]:
    def ratio(records: Records) -> float | None:
        record = first(records, case=_case(tolerance), how=rival.title)
        return None if record is None else record.figures["times_ours"]

    return ratio


_GOALS = tuple(
    Goal(f"{_SOURCE}, {_case(t)}, one solve over {rival.title}", rival.goal, "x", _times_ours(t, rival))
    for t in TOLERANCES
    for rival in RIVALS
    if rival.goal is not None
)
SECTION = Section(NAME, _jobs, _tables, _GOALS)
