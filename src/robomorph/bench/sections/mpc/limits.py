"""Random problems whose limits bind: how many are solved, and do the limits hold at the nodes?"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from robomorph import mpc
from robomorph.bench.functions import PREDICTIVE_CONTROL
from robomorph.bench.goals import Goal
from robomorph.bench.measuring import summarise
from robomorph.bench.mpc.ours import our_problem
from robomorph.bench.mpc.problem import ControlProblem
from robomorph.bench.mpc.problems import HORIZON, limited, limited_pose
from robomorph.bench.mpc.referee import Judgement, Referee, Trajectory
from robomorph.bench.mpc.rows import ALLOWED
from robomorph.bench.records import OURS, REFUSED, Record
from robomorph.bench.sections.section import Job, Records, Section, TableData, show_ns
from robomorph.bench.session import Session

NAME = "limits"
ROBOT = "iiwa14"
_FIRST_SEED = 1000  # none of these problems is one of another section
_COUNT, _QUICK_COUNT = 500, 20  # of each kind
_PLAUSIBLE = 1e-6  # N m and rad/s
KINDS: dict[str, Callable[..., ControlProblem]] = {"joint reach": limited, "pose": limited_pose}


def _jobs(session: Session) -> list[Job]:
    return [Job(f"{kind}, N = {HORIZON}", partial(_run, session, kind)) for kind in KINDS]


def _run(session: Session, kind: str) -> list[Record]:
    count = _QUICK_COUNT if session.quick else _COUNT
    found, results, seconds = [], [], []
    for seed in range(_FIRST_SEED, _FIRST_SEED + count):
        problem = KINDS[kind](ROBOT, seed)
        controller = mpc.Controller(our_problem(problem))
        result = controller.step(problem.q, problem.v)
        controller.reset()
        begin = time.perf_counter()
        result = controller.step(problem.q, problem.v, out=result)
        seconds.append(time.perf_counter() - begin)
        judgement = Referee(problem).judge(Trajectory(result.q, result.qd, result.torques))
        if not (result.success and result.converged):
            session.note(f"{NAME}, {kind}, seed {seed}: {result.reason}")
        elif not _kept(judgement):
            session.note(f"{NAME}, {kind}, seed {seed}: reported as solved, and refused: {judgement}")
        found.append(judgement)
        results.append((bool(result.success), bool(result.converged), int(result.iterations)))
    return [_record(kind, found, results, seconds)]


def _kept(found: Judgement) -> bool:
    return found.violation <= ALLOWED and max(found.gap, found.torque_error) <= _PLAUSIBLE


def _record(
    kind: str, found: list[Judgement], results: list[tuple[bool, bool, int]], seconds: list[float]
) -> Record:
    claimed = [f for f, (success, _, _) in zip(found, results, strict=True) if success]
    iterations = [count for _, _, count in results]
    active = np.median([f.active for f in found], axis=0)
    figures = {
        "problems": float(len(found)),
        "kept": float(len(claimed)),
        "solved": float(sum(success and converged for success, converged, _ in results)),
        "iterations": float(np.median(iterations)),
        "most": float(max(iterations)),
        "violation": float(np.max([f.violation for f in claimed], initial=0.0)),
        REFUSED: float(sum(not _kept(f) for f in claimed)),
        **{f"active_{i}": float(active[i]) for i in range(3)},
    }
    timing = summarise(seconds, 0.0)
    return Record(NAME, ROBOT, PREDICTIVE_CONTROL, OURS, "step()", timing=timing, figures=figures, case=kind)


def _tables(records: Records) -> list[TableData]:
    rows = []
    for r in records:
        f = r.figures
        met = " / ".join(f"{f[f'active_{i}']:.0f}" for i in range(3))
        times = "-" if r.timing is None else show_ns(r.timing.median_ns)
        counts = (f"{f[name]:.0f}" for name in ("problems", "solved", "kept", "iterations", "most"))
        rows.append((r.robot, r.case, *counts, met, f"{f['violation']:.1e}", f"{f[REFUSED]:.0f}", times))
    columns = (
        "robot", "problem", "problems", "solved", "limits kept", "iterations, median", "most",
        "bounds met: torque / velocity / position", "worst violation", "refused", "median",
    )  # fmt: skip
    return [
        TableData(
            f"random problems with limits that bind, N = {HORIZON}",
            columns,
            rows,
            left=2,
            caption="Solved: optimal and within the limits. The worst violation of what was reported to "
            "keep them, at the nodes, by Pinocchio, in shares of the limits' ranges; above "
            f"{ALLOWED:g} it is refused.",
        )
    ]


def _worst(records: Records) -> float | None:
    return max((r.figures["violation"] for r in records), default=None)


def _share(records: Records) -> float | None:
    asked = sum(r.figures["problems"] for r in records)
    return 100.0 * sum(r.figures["solved"] for r in records) / asked if asked else None


_GOALS = (
    Goal("worst violation of what is reported as solved, scaled", ALLOWED, "", _worst, at_least=False),
    Goal("solved", 99.0, "%", _share),
)
SECTION = Section(NAME, _jobs, _tables, _GOALS)
