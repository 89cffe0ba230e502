"""TRAC-IK's protocol: random reachable poses of real arms from mid-range; and how near `nearest` is."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.bench.peers.kdl import KDL_ABSENT, kdl_interpreter, solve_with_kdl, whole_configurations
from robomorph.bench.peers.trac_ik import present_peers
from robomorph.bench.sections.section import TableData
from robomorph.bench.solution_check import (
    ARMS,
    Arm,
    IkOutcome,
    PinocchioCheck,
    arm_path,
    least_seconds,
    load_arm,
)
from robomorph.ik import IKResult
from robomorph.ik.problem import default_start
from robomorph.robot import Robot

Array = npt.NDArray[Any]
TOLERANCE = 1e-5
_RESTARTS = 200  # as many as ours
_SOLVED = {"iiwa14": 99.99}
_SOLVED_ELSEWHERE = 99.9
_FASTER = 25.0
_NEAR = 95.0
_ROUNDS = 3


def run_arms(outcome: IkOutcome, step: Any) -> None:
    """Every arm that is installed: the share solved, checked by Pinocchio, and the time per pose."""
    rows: list[tuple[str, ...]] = []
    for arm in ARMS:
        source = arm_path(arm)
        if source is None:
            outcome.notes.append(f"{arm.name} is absent: pip install example-robot-data")
            continue
        step(f"arms: {arm.name}")
        rows += _one_arm(outcome, arm, source)
    outcome.tables.append(
        TableData(
            "TRAC-IK's protocol: random reachable poses, start at mid-range, 1e-5 m and rad",
            ("robot", "solver", "poses", "solved", "us per pose", "times ours"),
            rows,
            left=2,
            caption="Solved: claimed, inside the limits, and confirmed by Pinocchio's forward kinematics. "
            f"Ours is timed in one batch, the least of {_ROUNDS}; the others once on each pose. KDL's LMA "
            f"restarts at random up to {_RESTARTS} times, only its own calls are timed.",
        )
    )


def _one_arm(outcome: IkOutcome, arm: Arm, source: str) -> list[tuple[str, ...]]:
    robot = load_arm(source)
    check = PinocchioCheck(robot, source)
    count = 500 if outcome.quick else 10_000
    poses, starts = make_poses(robot, arm.frame, count)
    result = robot.inverse_kinematics(poses, arm.frame, starts, nearest=False)
    good = result.success & check.holds(result.q, arm.frame, poses, TOLERANCE)
    check.confirm(outcome, arm.name, result, good)
    _explain(outcome, arm, result)

    def solve(threads: int | None) -> Any:
        return robot.inverse_kinematics(poses, arm.frame, starts, nearest=False, threads=threads)

    ours = 1e6 * least_seconds(lambda: solve(1), _ROUNDS) / count
    every = 1e6 * least_seconds(lambda: solve(None), _ROUNDS) / count
    share = 100.0 * float(good.mean())
    outcome.figures.setdefault("arms", {})[arm.name] = {
        "robomorph": ours,
        "all_threads": every,
        "solved": share,
    }
    outcome.goal(f"{arm.name}, solved", _SOLVED.get(arm.name, _SOLVED_ELSEWHERE), "%", share)
    rows = [
        (arm.name, "robomorph, one thread", str(count), f"{share:.2f}%", f"{ours:.2f}", "1"),
        (
            arm.name,
            "robomorph, all threads",
            str(count),
            f"{share:.2f}%",
            f"{every:.2f}",
            f"{every / ours:.2f}",
        ),
    ]
    return rows + _others(outcome, arm, source, robot, check, poses, starts, ours)


def make_poses(robot: Robot, frame: str, count: int) -> tuple[Array, Array]:
    """Poses (n, 4, 4) of random configurations inside the limits, and starts (n, nq) at mid-range."""
    poses = np.ascontiguousarray(robot.forward_kinematics(robot.random_state(2015, count).q, frame))
    return poses, np.tile(default_start(robot), (count, 1))


def _explain(outcome: IkOutcome, arm: Arm, result: IKResult) -> None:
    """Every failure by the number of its pose, grouped by its cause."""
    groups: dict[str, list[int]] = {}
    for k in np.flatnonzero(~result.success):
        cause = str(result.reason[k]).partition(":")[0].partition(";")[0]
        groups.setdefault(cause, []).append(int(k))
    for cause, poses in groups.items():
        numbers = ", ".join(map(str, poses))
        first = result.reason[poses[0]]
        outcome.notes.append(
            f"{arm.name}: {len(poses)} unsolved, {cause}: poses {numbers}; the first: {first}"
        )


def _others(
    outcome: IkOutcome,
    arm: Arm,
    source: str,
    robot: Robot,
    check: PinocchioCheck,
    poses: Array,
    starts: Array,
    ours: float,
) -> list[tuple[str, ...]]:
    """KDL with restarts, and the peers that are installed, on the first of the same problems."""
    rows = []
    few = slice(0, 100 if outcome.quick else 1000)
    figures = outcome.figures["arms"][arm.name]
    if kdl_interpreter() is not None:
        answers = solve_with_kdl(
            robot, arm.frame, pack(poses[few]), starts[few], tolerance=TOLERANCE, restarts=_RESTARTS
        )
        q = whole_configurations(robot, arm.frame, starts[few], answers)
        rows.append(_row(arm, "KDL LMA, restarts", check, q, poses[few], answers.seconds, ours))
        figures["kdl"] = 1e6 * float(answers.seconds.mean())
    if arm.name == "iiwa14":
        ratio = figures["kdl"] / ours if "kdl" in figures else None
        outcome.goal(f"{arm.name}, batch over KDL's LMA with restarts, one thread", _FASTER, "x", ratio)
    for peer in present_peers():
        try:
            found = peer.solve(robot, source, arm.frame, poses[few], starts[few], TOLERANCE)
        except Exception as error:  # a peer that cannot do this robot is no failure of ours
            outcome.notes.append(f"{peer.title} on {arm.name}: {error}")
            continue
        rows.append(_row(arm, peer.title, check, found.q, poses[few], found.seconds, ours, peer.slack))
        figures[peer.title] = 1e6 * float(found.seconds.mean())
    return rows


def pack(poses: Array) -> Array:
    """(n, 12): position, then rotation row by row."""
    return np.concatenate([poses[:, :3, 3], poses[:, :3, :3].reshape(-1, 9)], axis=1)


def _row(
    arm: Arm,
    title: str,
    check: PinocchioCheck,
    q: Array,
    poses: Array,
    seconds: Array,
    ours: float,
    slack: float = 1.0,
) -> tuple[str, ...]:
    good = check.holds(q, arm.frame, poses, slack * TOLERANCE)
    theirs = 1e6 * float(seconds.mean())
    share = 100.0 * float(good.mean())
    return (arm.name, title, str(len(poses)), f"{share:.2f}%", f"{theirs:.1f}", f"{theirs / ours:.0f}")


def run_nearest(outcome: IkOutcome, step: Any) -> None:
    """`nearest=True` against the nearest of 64 random restarts of KDL's LMA, start at mid-range."""
    if kdl_interpreter() is None:
        outcome.notes.append(f"nearest was not measured. {KDL_ABSENT}")
        for arm in ARMS[:2]:
            outcome.goal(_nearest_goal(arm), _NEAR, "%", None)
        return
    rows = []
    for arm in ARMS[:2]:
        source = arm_path(arm)
        if source is None:
            outcome.notes.append(f"{arm.name} is absent: pip install example-robot-data")
            outcome.goal(_nearest_goal(arm), _NEAR, "%", None)
            continue
        step(f"nearest: {arm.name}")
        rows.append(_nearest_row(outcome, arm, source))
    outcome.tables.append(
        TableData(
            "nearest=True against the nearest of 64 random restarts of KDL's LMA",
            ("robot", "poses", "as near", "mean distance", "KDL's", "us per pose", "KDL's"),
            rows,
            caption="Distance: length of q - q0 over all joints, q0 at mid-range; as near: within 1e-3 rad. "
            "Poses: those that KDL solved, every solution confirmed by Pinocchio; what we leave unsolved is "
            f"not near. Ours is timed in one batch on all threads, the least of {_ROUNDS}; KDL's calls once.",
        )
    )


def _nearest_goal(arm: Arm) -> str:
    return f"{arm.name}, nearest: as near as the best of 64 restarts of KDL"


def _nearest_row(outcome: IkOutcome, arm: Arm, source: str) -> tuple[str, ...]:
    robot = load_arm(source)
    check = PinocchioCheck(robot, source)
    poses, starts = make_poses(robot, arm.frame, 50 if outcome.quick else 300)
    result = robot.inverse_kinematics(poses, arm.frame, starts)
    good = check.holds(result.q, arm.frame, poses, TOLERANCE)
    check.confirm(outcome, f"{arm.name}, nearest", result, good)
    answers = solve_with_kdl(
        robot, arm.frame, pack(poses), starts, tolerance=TOLERANCE, restarts=64, best_of=True
    )
    q = whole_configurations(robot, arm.frame, starts, answers)
    asked = check.holds(q, arm.frame, poses, TOLERANCE)
    theirs, ours = (np.linalg.norm(x - starts, axis=-1) for x in (q, result.q))
    near = 100.0 * float((good & (ours <= theirs + 1e-3))[asked].mean())
    outcome.goal(_nearest_goal(arm), _NEAR, "%", near)
    outcome.figures.setdefault("nearest", {})[arm.name] = near
    seconds = least_seconds(partial(robot.inverse_kinematics, poses, arm.frame, starts), _ROUNDS)
    both = asked & good
    return (
        arm.name,
        str(int(asked.sum())),
        f"{near:.1f}%",
        f"{ours[both].mean():.4f}",
        f"{theirs[both].mean():.4f}",
        f"{1e6 * seconds / len(poses):.0f}",
        f"{1e6 * answers.seconds.mean():.0f}",
    )
