"""Reaches and poses without limits, against crocoddyl and mim-solvers."""

from __future__ import annotations

from functools import partial

from robomorph.bench.goals import Goal
from robomorph.bench.mpc.contest import Rules
from robomorph.bench.mpc.problem import ProblemSet
from robomorph.bench.mpc.problems import HORIZON, pose, reach
from robomorph.bench.mpc.rows import contest, contest_table, faster
from robomorph.bench.peers.control_peer import ControlPeer
from robomorph.bench.peers.crocoddyl import Crocoddyl, MimSolvers
from robomorph.bench.records import Record
from robomorph.bench.sections.section import Job, Records, Section, TableData
from robomorph.bench.session import Session

NAME = "free"
REACH, POSE = f"joint reach, N = {HORIZON}", f"pose, N = {HORIZON}"
_RULES = Rules(tolerance=1e-6)
_ROUNDS, _QUICK_ROUNDS = 15, 3
# Robot, problem, how many of them, peers.
CONTESTS: tuple[tuple[str, str, int, tuple[type[ControlPeer], ...]], ...] = (
    ("iiwa14", REACH, 10, (Crocoddyl, MimSolvers)),
    ("iiwa14", POSE, 10, (Crocoddyl, MimSolvers)),
    ("hyq", REACH, 10, (Crocoddyl, MimSolvers)),
    ("atlas", REACH, 3, (Crocoddyl, MimSolvers)),
)


def _jobs(session: Session) -> list[Job]:
    return [
        Job(f"{robot}, {case}, {peer.title}", partial(_run, session, robot, case, count, peer))
        for robot, case, count, peers in (CONTESTS[:2] if session.quick else CONTESTS)
        for peer in (peers[:1] if session.quick else peers)
    ]


def _run(session: Session, robot: str, case: str, count: int, peer: type[ControlPeer]) -> list[Record]:
    make = pose if case == POSE else reach
    problems = tuple(make(robot, seed) for seed in range(3 if session.quick else count))
    rounds = _QUICK_ROUNDS if session.quick else _ROUNDS
    return contest(session, NAME, ProblemSet(case, problems), peer, _RULES, rounds)


def _tables(records: Records) -> list[TableData]:
    caption = (
        "Both begin at rest and are timed with exactly the iterations that each needs for a cost within 1e-6 "
        "of the best that either converged to (100 iterations). Costs are the referee's, by Pinocchio, from "
        "positions, velocities and torques; the torques alone must drive the robot to the same. Means over "
        "the problems of which that is true; where it is not, who converged to a lower cost is said, and no "
        "time counts. Ours: whole calls of step() from Python."
    )
    return [contest_table("without limits", caption, records)]


_GOALS = (
    Goal("iiwa14, joint reach: faster than crocoddyl", 25.0, "x", faster("iiwa14", REACH, Crocoddyl)),
    Goal("iiwa14, joint reach: faster than mim-solvers", 20.0, "x", faster("iiwa14", REACH, MimSolvers)),
    Goal("iiwa14, pose: faster than crocoddyl", 14.0, "x", faster("iiwa14", POSE, Crocoddyl)),
    Goal("hyq, joint reach: faster than crocoddyl", 14.0, "x", faster("hyq", REACH, Crocoddyl)),
    Goal("atlas, joint reach: faster than crocoddyl", 14.0, "x", faster("atlas", REACH, Crocoddyl)),
)
SECTION = Section(NAME, _jobs, _tables, _GOALS)
