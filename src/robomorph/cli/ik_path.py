"""`robomorph ik --path FILE`: inverse kinematics along poses of a file, each from the solution before it."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robomorph.given.pose_paths import PosePath
    from robomorph.ik import IKResult
    from robomorph.robot import Robot

_SHOWN = 40  # rows of the table
_RATE = 10.0  # poses a second of a path without times


def check_path_options(args: argparse.Namespace) -> None:
    """Refuse what a path has no use for, and a path and a position at once."""
    from robomorph.errors import ArgumentError

    if (args.path is None) == (args.position is None):
        found = "neither" if args.path is None else "both"
        raise ArgumentError(f"expected --position X Y Z or --path FILE, found {found}")
    if args.path is None:
        return
    for flag, given in (("--rpy", args.rpy is not None), ("--solutions", args.solutions != 1)):
        if given:
            raise ArgumentError(f"{flag}: not with --path: the file has the poses, and each has one solution")


def run_path(args: argparse.Namespace, robot: Robot, frame: str, options: dict[str, Any]) -> int:
    """Solve, show and perhaps write a page; 1 if a pose was not reached."""
    from robomorph.cli.terminal import make_console, print_json
    from robomorph.given.pose_paths import read_pose_path

    poses = read_pose_path(args.path)
    begin = time.perf_counter()
    # The first pose may be far from the start: it is searched for, the others are followed.
    first = robot.inverse_kinematics(poses.targets[0], frame, args.q0, **options)
    start = first.q if first else args.q0
    result = robot.inverse_kinematics(poses.targets, frame, start, path=True, **options)
    seconds = time.perf_counter() - begin
    if args.html:
        _save_page(robot, poses, result, args.html)
    if args.json:
        print_json(_described(robot, frame, poses, result, seconds))
    else:
        _print(make_console(), robot, frame, poses, result)
    return 0 if result else 1


def _described(robot: Robot, frame: str, poses: PosePath, result: IKResult, seconds: float) -> dict[str, Any]:
    rows = zip(
        result.q, result.success, result.reason, result.position_error, result.rotation_error, strict=True
    )
    return {
        "robot": robot.name,
        "frame": frame,
        "coordinates": list(robot.coordinate_names),
        "solved": int(result.success.sum()),
        "seconds": seconds,
        "poses": [
            {
                "time_s": None if poses.times is None else poses.times[k],
                "success": success,
                "reason": reason,
                "position_error_m": metres,
                "rotation_error_rad": radians,
                "q": q,
            }
            for k, (q, success, reason, metres, radians) in enumerate(rows)
        ],
    }


def _print(console: Any, robot: Robot, frame: str, poses: PosePath, result: IKResult) -> None:
    from rich.markup import escape

    from robomorph.cli.terminal import make_table

    count, solved = len(result.success), int(result.success.sum())
    failed = [k for k in range(count) if not result.success[k]]
    order = range(count) if count <= _SHOWN else [*failed, *(k for k in range(count) if k not in set(failed))]
    table = make_table(f"{escape(robot.name)}: {escape(frame)}", ("pose", "at s", "error m", "rad", "found"))
    table.columns[-1].justify, table.columns[-1].no_wrap = "left", False
    for k in sorted(order[:_SHOWN]):
        when = "" if poses.times is None else f"{poses.times[k]:.4g}"
        errors = (f"{e[k]:.1e}" for e in (result.position_error, result.rotation_error))
        table.add_row(str(k + 1), when, *errors, escape(str(result.reason[k])))
    console.print(table)
    if count > _SHOWN:
        console.print(f"{count - _SHOWN} more poses are not shown; --json has all", markup=False, style="dim")
    style = "green" if solved == count else "red"
    console.print(f"{solved} of {count} poses reached", markup=False, style=style)


def _save_page(robot: Robot, poses: PosePath, result: IKResult, path: str) -> None:
    from robomorph.viewer.exhibit import make_exhibit
    from robomorph.viewer.marks import target_marks
    from robomorph.viewer.trajectory import Trajectory, sample_times

    times = sample_times(len(result.q), _RATE) if poses.times is None else poses.times
    missed = int((~result.success).sum())
    name = f"path ({missed} poses not reached)" if missed else "path"
    exhibit = make_exhibit(robot, Trajectory(times, result.q, name=name))
    exhibit.marks = target_marks(poses.targets, result.success, exhibit.shown[0].size)
    exhibit.save(path)
