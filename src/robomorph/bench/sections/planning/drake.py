"""Drake's KinematicTrajectoryOptimization on our arm motion: the same splines, limits and objective."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from robomorph.bench.measuring import summarise
from robomorph.bench.peers.drake_trajectory import ArmMotion, DrakeTrajectory
from robomorph.bench.planning.motion_check import ALLOWED, MotionCheck
from robomorph.bench.planning.problems import Case
from robomorph.bench.planning.solving import (
    figures_of,
    measured,
    median_ns,
    record,
    show_ms,
    show_violation,
    threads_of,
    timed,
)
from robomorph.bench.records import Record
from robomorph.bench.sections.section import Job, Records, Section, TableData
from robomorph.bench.session import Session, in_short
from robomorph.model.sources import urdf_text
from robomorph.planning.motion import Motion

NAME = "drake"
POINTS = (1, 2, 5)  # of an interval, at which Drake holds efforts
_CASES = (Case("arm", "iiwa14"), Case("swing", "iiwa14"))
_COST = {"time": 1.0}
_ROUNDS = 5


def _jobs(session: Session) -> list[Job]:
    if DrakeTrajectory not in session.present:
        session.note(f"drake was not measured: {session.absent.get(DrakeTrajectory.name)}")
        return []
    return [Job(case.label, partial(_run, session, case)) for case in _CASES]


def _run(session: Session, case: Case) -> list[Record]:
    scenario = case.load()
    motion, check, threads = scenario.motion(), MotionCheck(scenario), threads_of(session)
    plan, timing = timed(motion, _COST, _ROUNDS, solver="native", threads=threads)
    figures = figures_of(plan) | measured(session, case.label, check, plan)
    out = [record(NAME, case.robot, case.scenario, "robomorph", figures, timing, threads=threads)]
    for points in POINTS[:2] if session.quick else POINTS:
        try:
            out.append(_theirs(case, check, motion, points))
        except Exception as error:  # a peer's trouble must not end the run
            session.note(f"drake with {points} points: {in_short(error)}")
    return out


def _theirs(case: Case, check: MotionCheck, motion: Motion, points: int) -> Record:
    found, spent, success = DrakeTrajectory(_described(check, motion)).solve(points)
    worst = check.worst_of(found)[0]
    figures = {"solved": float(success), "seconds": found.seconds, "violation": max(0.0, worst.scaled)}
    how = f"Drake, efforts at {points} points"
    timing = summarise([spent], spent)
    return record(NAME, case.robot, case.scenario, how, figures, timing, DrakeTrajectory.name)


def _described(check: MotionCheck, motion: Motion) -> ArmMotion:
    given: Any = check.scenario.robot
    ((link, (mass, place)),) = given.options["payloads"].items()
    limits, held = check.robot.limits, check.scenario.tables["limits"]
    names = ["lower", "upper", *(["velocity"] if held.get("velocity") else [])]
    assert motion.start is not None and motion.end is not None and motion.duration.bounds is not None
    return ArmMotion(
        urdf=urdf_text(given.source),
        root=motion.robot.link_names[0],
        joints=tuple(motion.robot.velocity_names),
        start=motion.start[0],
        end=motion.end[0],
        seconds=motion.duration.bounds,
        intervals=motion.intervals,
        limits={name: np.array(limits[name]) for name in names},
        torque=np.array(limits["effort"]) * float(held["torque"]),
        link=link,
        load=(float(mass), (float(place[0]), float(place[1]), float(place[2]))),
    )


def _tables(records: Records) -> list[TableData]:
    rows = [
        (
            r.robot,
            r.case,
            r.how if r.figures["solved"] else f"{r.how} (failed)",
            f"{r.figures['seconds']:.4f}",
            show_violation(r),
            show_ms(median_ns(r)),
        )
        for r in records
    ]
    caption = (
        "Minimum time from rest to rest, cubic splines with the same knots, limits of position, torque and "
        "(in `arm`) speed; efforts at so many points of an interval. "
        f"Violations: at 10 kHz by Pinocchio, as a share of the limit (none: below {ALLOWED:g}). Drake's "
        "program is made and solved once, with the solver that it chooses."
    )
    columns = ("robot", "scenario", "who", "duration, s", "violation", "ms")
    return [TableData("Drake's KinematicTrajectoryOptimization", columns, rows, left=3, caption=caption)]


SECTION = Section(NAME, _jobs, _tables)
