"""One solve at a time on a chain of 100 joints, from the given start, against KDL on the same problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.bench.chain_problems import ChainProblems, chain_problems
from robomorph.bench.peers.kdl import KDL_ABSENT, kdl_interpreter, solve_with_kdl
from robomorph.bench.sections.section import TableData
from robomorph.bench.solution_check import IkOutcome, PinocchioCheck, least_seconds

Array = npt.NDArray[Any]
JOINTS = 100
TOLERANCES = (1e-2, 1e-5)
REPEATS = 5  # of every call, ours and KDL's alike; the least counts


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


def run_single(outcome: IkOutcome, step: Any) -> None:
    """Microseconds per solve, one thread: robomorph's LM, KDL's LMA and KDL's SVD Newton."""
    from robomorph.loading import load

    step("single: chain of 100")
    source = f"chain:{JOINTS}"
    robot = load(source)
    check = PinocchioCheck(robot, source)
    problems = chain_problems(robot, "B", 20 if outcome.quick else 200)
    few = 5 if outcome.quick else 40
    rows: list[tuple[str, ...]] = []
    figures: dict[str, Any] = {}
    for tolerance in TOLERANCES:
        ours, solved = _ours(outcome, check, problems, tolerance)
        count = len(problems.targets)
        mean = float(ours.mean())
        rows.append(_row(tolerance, "robomorph LM, position", count, mean, 1.0, solved))
        figures[f"{tolerance:g}"] = {"robomorph": mean}
        for rival in RIVALS:
            part = problems.first(few) if rival.slow else problems
            found = _kdl(check, part, tolerance, rival)
            ratio = None if found is None else found[0] / float(ours[: len(part.targets)].mean())
            if found is not None and ratio is not None:
                rows.append(_row(tolerance, rival.title, len(part.targets), found[0], ratio, found[1]))
                figures[f"{tolerance:g}"][rival.solver] = found[0]
            if rival.goal is not None:
                what = f"chain:100, {tolerance:g} m, one solve over {rival.title}"
                outcome.goal(what, rival.goal, "x", ratio)
    outcome.figures["single"] = figures
    outcome.tables.append(_table(rows))
    if kdl_interpreter() is None:
        outcome.notes.append(KDL_ABSENT)


def _row(tolerance: float, title: str, count: int, us: float, ratio: float, solved: float) -> tuple[str, ...]:
    return f"{tolerance:g} m", title, str(count), f"{us:.1f}", f"{ratio:.1f}", f"{100 * solved:.1f}%"


def _table(rows: list[tuple[str, ...]]) -> TableData:
    return TableData(
        "chain of 100 joints, set B, given start, one solve, one thread",
        ("tolerance", "solver", "problems", "us per solve", "times ours", "solved"),
        rows,
        left=2,
        caption=f"The mean over the problems of the least of {REPEATS} calls each, ours and KDL's alike. "
        "Ours is the whole Python call; of KDL's only its own calls are timed. The slow solvers do the first "
        "problems only, and are compared with ours on those. Solved: confirmed by Pinocchio's forward "
        "kinematics. KDL's Newton solver (NR) cannot leave "
        "orientation out, so its row asks for more; the row above it takes the same steps for the position.",
    )


def _ours(
    outcome: IkOutcome, check: PinocchioCheck, problems: ChainProblems, tolerance: float
) -> tuple[Array, float]:
    """Microseconds of each problem, and the share that is claimed and holds."""
    robot, seconds = check.robot, []
    for target, q0 in zip(problems.targets, problems.starts, strict=True):

        def call(target: Any = target, q0: Any = q0) -> Any:
            return robot.inverse_kinematics(target, "tool", q0, tolerance=tolerance, nearest=False, starts=1)

        seconds.append(least_seconds(call, REPEATS))
    result = robot.inverse_kinematics(
        problems.targets, "tool", problems.starts, tolerance=tolerance, nearest=False, starts=1
    )
    good = check.holds(result.q, "tool", problems.targets, tolerance)
    check.confirm(outcome, f"chain:{JOINTS}, {tolerance:g} m", result, good)
    return 1e6 * np.array(seconds), float((result.success & good).mean())


def _kdl(
    check: PinocchioCheck, problems: ChainProblems, tolerance: float, rival: Rival
) -> tuple[float, float] | None:
    """Microseconds and the share solved, or None without KDL."""
    if kdl_interpreter() is None:
        return None
    turns = np.tile(np.eye(3).ravel(), (len(problems.targets), 1))
    answers = solve_with_kdl(
        check.robot,
        "tool",
        np.concatenate([problems.targets, turns], axis=1),
        problems.starts,
        solver=rival.solver,
        tolerance=tolerance,
        position_only=rival.position_only,
        repeats=REPEATS,
    )
    # NR judges each component: its answer may be the diagonal of a cube away.
    slack = 1.0 if rival.position_only else 3**0.5
    good = check.holds(answers.q, "tool", problems.targets, slack * tolerance)
    return 1e6 * float(answers.seconds.mean()), float(good.mean())
