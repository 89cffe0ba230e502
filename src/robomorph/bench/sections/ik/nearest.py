"""How near `nearest` is: against the nearest of 64 random restarts of KDL's LMA, start at mid-range."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from robomorph.bench.arms import ARMS, TOLERANCE, Arm, installed_arms, pose_problems
from robomorph.bench.functions import INVERSE_KINEMATICS
from robomorph.bench.goals import Goal
from robomorph.bench.measuring import time_calls
from robomorph.bench.peers.kdl import Kdl, solve_poses
from robomorph.bench.records import OURS, REFUSED, Record, first, select
from robomorph.bench.sections.section import Job, Records, Section, TableData, robots_of
from robomorph.bench.session import Session
from robomorph.bench.solution_check import PinocchioCheck

NAME = "nearest"
_RESTARTS = 64
_ROUNDS = 3
_SLACK = 1e-3  # rad: this much farther is as near


def _jobs(session: Session) -> list[Job]:
    if Kdl not in session.present:
        session.note(f"nearest was not measured. KDL is absent: {session.absent.get(Kdl.name)}")
        return []
    arms = installed_arms(_ARMS, session.note)
    return [Job(arm.name, partial(_run, session, arm, path)) for arm, path in arms]


def _run(session: Session, arm: Arm, source: str) -> list[Record]:
    problems = pose_problems(source, arm.frame, 50 if session.quick else 300)
    check = PinocchioCheck(problems.robot, source)
    solve = partial(problems.robot.inverse_kinematics, problems.poses, arm.frame, problems.starts)
    result = solve()
    good = check.holds(result.q, arm.frame, problems.poses, TOLERANCE)
    refused = check.refused(session, f"{arm.name}, nearest", result, good)
    answers = solve_poses(problems, restarts=_RESTARTS, best_of=True)
    asked = check.holds(answers.q, arm.frame, problems.poses, TOLERANCE)
    theirs, ours = (np.linalg.norm(q - problems.starts, axis=-1) for q in (answers.q, result.q))
    near, both = good & (ours <= theirs + _SLACK), asked & good
    count = float(asked.sum())
    figures = {
        "problems": count,
        "near": float(near[asked].mean()),
        "distance": float(ours[both].mean()),
        REFUSED: float(refused),
    }
    batch, threads = len(problems.poses), session.cpus
    timing = time_calls(solve, _ROUNDS, batch)
    shown = {"problems": count, "distance": float(theirs[both].mean())}
    return [
        Record(
            NAME,
            arm.name,
            INVERSE_KINEMATICS,
            OURS,
            "nearest=True",
            "float64",
            batch,
            threads,
            timing,
            figures=figures,
        ),
        Record(NAME, arm.name, INVERSE_KINEMATICS, Kdl.name, _THEIRS, timing=answers.timing, figures=shown),
    ]


def _tables(records: Records) -> list[TableData]:
    rows = []
    for arm in robots_of(records):
        ours, theirs = select(records, robot=arm)
        rows.append(
            (
                arm,
                f"{ours.figures['problems']:.0f}",
                f"{ours.figures['near']:.1%}",
                *(f"{record.figures['distance']:.4f}" for record in (ours, theirs)),
                *(f"{record.best_ns / 1e3:.0f}" for record in (ours, theirs)),
            )
        )
    return [
        TableData(
            "nearest=True against the nearest of 64 random restarts of KDL's LMA",
            ("robot", "poses", "as near", "mean distance", "KDL's", "us per pose", "KDL's"),
            rows,
            caption="Distance: length of q - q0 over all joints, q0 at mid-range; as near: within 1e-3 rad. "
            "Poses: those that KDL solved, every solution confirmed by Pinocchio; what we leave unsolved is "
            f"not near. Ours is timed in one batch on all threads, the least of {_ROUNDS}; KDL's calls once.",
        )
    ]


def _near(arm: str) -> Callable[[Records], float | None]:
    def share(records: Records) -> float | None:
        record = first(records, robot=arm, who=OURS)
        return None if record is None else 100.0 * record.figures["near"]

    return share


_ARMS = ARMS[:2]
_THEIRS = f"LMA, nearest of {_RESTARTS} restarts"
_GOALS = tuple(
    Goal(f"{arm.name}, nearest: as near as the best of 64 restarts of KDL", 95.0, "%", _near(arm.name))
    for arm in _ARMS
)
SECTION = Section(NAME, _jobs, _tables, _GOALS)
