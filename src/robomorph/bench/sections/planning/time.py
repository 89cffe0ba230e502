"""Minimum-time arm motions whose torque limits bind, and toppra's timing of the same path."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.bench.goals import Goal
from robomorph.bench.measuring import summarise
from robomorph.bench.peers.toppra import Toppra
from robomorph.bench.planning.motion_check import ALLOWED, RATE, MotionCheck
from robomorph.bench.planning.pinocchio_motion import SplineMotion
from robomorph.bench.planning.problems import Case, changed, installed
from robomorph.bench.planning.solving import (
    figures_of,
    measured,
    median_ns,
    record,
    show_ms,
    threads_of,
    timed,
)
from robomorph.bench.records import OURS, Record, select
from robomorph.bench.sections.section import Job, Records, Section, TableData
from robomorph.bench.session import Session, in_short
from robomorph.planning.plan import Plan

Array = npt.NDArray[np.float64]
NAME = "time"
ARMS = ("iiwa14", "panda")
INTERVALS = (12, 24, 48)
GRIDS = ((100, "Collocation"), (100, "Interpolation"), (1000, "Interpolation"))  # of toppra
_WAYPOINTS = 400
_ROUNDS = 5


def _jobs(session: Session) -> list[Job]:
    if Toppra not in session.present:
        session.note(f"time: ours alone. toppra is absent: {session.absent.get(Toppra.name)}")
    cases = installed([Case("arm", arm) for arm in ARMS], session.note)
    counts = INTERVALS[:2] if session.quick else INTERVALS
    return [
        Job(f"{case.robot}, {n} intervals", partial(_run, session, case, n)) for case in cases for n in counts
    ]


def _run(session: Session, case: Case, intervals: int) -> list[Record]:
    def more(tables: dict[str, Any]) -> None:
        tables["motion"] = {**tables["motion"], "intervals": intervals}

    scenario = changed(case.load(), more)
    check, threads = MotionCheck(scenario), threads_of(session)
    options: dict[str, Any] = {"solver": "native", "threads": threads}
    plan, timing = timed(scenario.motion(), {"time": 1.0, "jerk": 1e-8}, _ROUNDS, **options)
    where = f"{case.label}, {intervals} intervals"
    if not plan.success:
        session.note(f"{where}: {plan.reason}")
    share = float(scenario.tables["limits"]["torque"])
    figures = figures_of(plan) | measured(session, where, check, plan)
    figures["torque"] = check.torque_excess(SplineMotion(plan.control, plan.seconds)).scaled
    name = f"{intervals} intervals"
    out = [record(NAME, case.robot, name, "robomorph", figures, timing, threads=threads)]
    if Toppra in session.present and plan.success:
        for grid in GRIDS:
            out += _theirs(session, case, name, check, plan, share, grid)
    return out


def _theirs(
    session: Session,
    case: Case,
    name: str,
    check: MotionCheck,
    plan: Plan,
    share: float,
    grid: tuple[int, str],
) -> list[Record]:
    """toppra on way points of our path, equally far from each other, with Pinocchio's dynamics."""
    limits, velocity = check.robot.limits, check.robot.limits["velocity"]
    most = share * limits["effort"]

    def torque(q: Array, qd: Array, qdd: Array) -> Array:
        return np.asarray(check.robot.torques(q[None], qd[None], qdd[None])[0])

    try:
        found = Toppra.retime(_path(plan), velocity, most, torque, *grid)
    except Exception as error:  # a peer's trouble must not end the run
        session.note(f"toppra with {grid[0]} points on {case.robot}, {name}: {in_short(error)}")
        return []
    t = np.linspace(0.0, found.seconds, max(2, round(found.seconds * RATE) + 1))
    q, qd, qdd = found.states(t)
    over = np.abs(check.robot.torques(q, qd, qdd)) / most - 1.0
    fast = np.abs(qd) / velocity - 1.0
    figures = {
        "solved": 1.0,
        "seconds": found.seconds,
        "torque": float(over.max()),
        "violation": float(max(fast.max(), over.max())),
    }
    timing = summarise([found.compute_s], found.compute_s)
    return [
        record(NAME, case.robot, name, f"toppra, {grid[0]}, {grid[1].lower()}", figures, timing, Toppra.name)
    ]


def _path(plan: Plan) -> Array:
    """(n, nv) at equal steps of the joints' path."""
    motion = SplineMotion(plan.control, plan.seconds)
    fine = motion(np.linspace(0.0, plan.seconds, 20_001))
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(fine, axis=0), axis=1))])
    steps = np.linspace(0.0, length[-1], _WAYPOINTS)
    return np.stack([np.interp(steps, length, column) for column in fine.T], axis=1)


def _tables(records: Records) -> list[TableData]:
    rows = [
        (
            r.robot,
            r.case,
            r.how if r.figures["solved"] else f"{r.how} (failed)",
            f"{r.figures['seconds']:.4f}",
            _share(r.figures["torque"]),
            _share(r.figures["violation"]),
            show_ms(median_ns(r)),
        )
        for r in records
    ]
    columns = ("robot", "path", "who", "duration, s", "torque beyond its limit", "worst of all", "ms")
    return [
        TableData(
            "minimum time with torques that bind, and toppra on the path that we found",
            columns,
            rows,
            left=3,
            caption="At 10 kHz by Pinocchio, as shares of the limits. Ours chooses path and timing together, "
            "within cubic splines of so many intervals, whose acceleration is continuous; toppra times that "
            "path anew, with accelerations that may jump, its torques held at so many grid points ("
            "collocation is its default). Its time: one run, with Pinocchio called from Python.",
        )
    ]


def _share(found: float) -> str:
    return "none" if found <= ALLOWED else f"{found:.2%}" if found > 1e-4 else "below 0.01%"


def _binds(records: Records) -> float | None:
    """% of its limit that the torque reaches, the least over the arms' finest motions."""
    finest = [select(records, robot=arm, who=OURS)[-1:] for arm in ARMS]
    return min((100.0 + 100.0 * r.figures["torque"] for found in finest for r in found), default=None)


def _ours_beyond(records: Records) -> float | None:
    return max((100.0 * max(0.0, r.figures["torque"]) for r in select(records, who=OURS)), default=None)


_GOALS = (
    Goal("torques bind: share of the limit that is used", 99.0, "%", _binds),
    Goal("torque beyond its limit, ours", 100.0 * ALLOWED, "%", _ours_beyond, False),
)
SECTION = Section(NAME, _jobs, _tables, _GOALS)
