"""One solve at a time on a chain of 100 joints, from the given start, against KDL on the same problems."""

from __future__ import annotations

from typing import Any

import numpy as np

from robomorph.bench.ik_chains import ChainProblems, chain_problems
from robomorph.bench.ik_kdl import kdl_interpreter, solve_with_kdl
from robomorph.bench.ik_session import IkOutcome, least_seconds
from robomorph.bench.sections.section import TableData
from robomorph.robot import Robot

JOINTS = 100
TOLERANCES = (1e-2, 1e-5)
_GOALS = {"lma": 12.0, "nr": 500.0}
_TITLES = {"lma": "KDL LMA, position weights", "nr": "KDL Newton with SVD"}


def run_single(outcome: IkOutcome, step: Any) -> None:
    """Microseconds per solve, one thread: robomorph's LM, KDL's LMA and KDL's SVD Newton."""
    from robomorph.loading import load

    step("single: chain of 100")
    robot = load(f"chain:{JOINTS}")
    problems = chain_problems(robot, "B", 20 if outcome.quick else 200)
    rows: list[tuple[str, ...]] = []
    figures: dict[str, Any] = {}
    for tolerance in TOLERANCES:
        ours, solved = _ours(robot, problems, tolerance)
        rows.append((f"{tolerance:g} m", "robomorph LM", f"{ours:.1f}", "1", f"{100 * solved:.1f}%"))
        figures[f"{tolerance:g}"] = {"robomorph": ours}
        for solver, title in _TITLES.items():
            theirs, good = _kdl(robot, problems, tolerance, solver, 10 if outcome.quick else 40)
            ratio = None if theirs is None else theirs / ours
            if theirs is not None and ratio is not None and good is not None:
                rows.append(
                    (f"{tolerance:g} m", title, f"{theirs:.1f}", f"{ratio:.1f}", f"{100 * good:.1f}%")
                )
                figures[f"{tolerance:g}"][solver] = theirs
            outcome.goal(f"chain:100, {tolerance:g} m, one solve over {title}", _GOALS[solver], "x", ratio)
    outcome.figures["single"] = figures
    outcome.tables.append(
        TableData(
            "chain of 100 joints, set B, given start, one solve, one thread",
            ("tolerance", "solver", "us per solve", "times ours", "solved"),
            rows,
            left=2,
            caption="The mean over the problems of the least of several calls each. Ours is the whole Python "
            "call; of KDL's only CartToJnt is timed. Newton runs on the first problems only.",
        )
    )
    if kdl_interpreter() is None:
        outcome.notes.append(
            "KDL is absent: install python3-pykdl and python3-numpy, or set ROBOMORPH_KDL_PYTHON"
        )


def _ours(robot: Robot, problems: ChainProblems, tolerance: float) -> tuple[float, float]:
    seconds, solved = [], []
    for target, q0 in zip(problems.targets, problems.starts, strict=True):

        def call(target: Any = target, q0: Any = q0) -> Any:
            return robot.inverse_kinematics(target, "tool", q0, tolerance=tolerance, nearest=False, starts=1)

        seconds.append(least_seconds(call, 20))
        found = robot.forward_kinematics(call().q, "tool")[:3, 3]
        solved.append(np.linalg.norm(found - target) <= tolerance)
    return 1e6 * float(np.mean(seconds)), float(np.mean(solved))


def _kdl(
    robot: Robot, problems: ChainProblems, tolerance: float, solver: str, newtons: int
) -> tuple[float | None, float | None]:
    """Microseconds and the share solved; Newton, a thousand times slower, does fewer problems."""
    if kdl_interpreter() is None:
        return None, None
    count = newtons if solver == "nr" else len(problems.targets)
    targets = np.concatenate(
        [problems.targets, np.tile(np.eye(3).ravel(), (len(problems.targets), 1))], axis=1
    )
    answers = solve_with_kdl(
        robot,
        "tool",
        targets[:count],
        problems.starts[:count],
        solver=solver,
        tolerance=tolerance,
        position_only=solver == "lma",
        repeats=1 if solver == "nr" else 3,
    )
    q = np.nan_to_num(answers.q)
    found = robot.forward_kinematics(q, "tool")[:, :3, 3]
    good = np.linalg.norm(found - problems.targets[:count], axis=-1) <= tolerance * (1 + 1e-6)
    return 1e6 * float(answers.seconds.mean()), float((good & np.isfinite(answers.q).all(axis=-1)).mean())
