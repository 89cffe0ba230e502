"""`robomorph ik`: a configuration that brings a frame to a position or pose."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from robomorph.ik import IKResult
    from robomorph.robot import Robot

_EPILOG = """\
examples:
  robomorph ik iiwa14 --position 0.4 0.2 0.6
  robomorph ik iiwa14 --position 0.4 0.2 0.6 --rpy 0 3.14159 0 --solutions 4
  robomorph ik iiwa14 --position 0.4 0.2 0.6 --method quick-ik --on opencl
  robomorph ik arm.urdf --frame tool0 --position 0.3 0 0.5 --q0 0,-1.5,1.5,0,0,0 --json
  robomorph ik iiwa14 --path poses.csv --html motion.html

exit codes: 0 solved, 1 not solved, or not all of a path (the reason is printed), 2 wrong usage or bad input
"""
_ROUNDS = 20


class _Methods(Collection[str]):
    """Names of the methods, looked up when asked for: `robomorph --help` need not load the solver."""

    def __iter__(self) -> Iterator[str]:
        from robomorph.ik.methods import METHODS

        return iter(METHODS)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return any(name == known for known in self)


class _Devices(_Methods):
    """Names of what a search can run on."""

    def __iter__(self) -> Iterator[str]:
        from robomorph.ik.devices import device_names

        return iter(device_names())


def add_parser(subparsers: Any) -> None:
    from robomorph.cli.options import add_robot_options, path_text
    from robomorph.cli.outputs import HTML_HELP
    from robomorph.cli.parser import is_number, numbers

    parser = subparsers.add_parser(
        "ik",
        help="solve inverse kinematics for a position, a pose or a path",
        description="Finds joint positions inside the limits that bring a frame to a position, or with --rpy "
        "to a pose; shows the answer, its errors, the time it took and a picture of the arm. --path takes "
        "positions or poses of a file instead, each solved from the solution before it.",
        epilog=_EPILOG,
    )
    add_robot_options(parser)
    parser.add_argument("--frame", help="link to move (default: the end, if the robot has one)")
    vectors = {
        "--position": ("X Y Z", "m"),
        "--rpy": ("R P Y", "roll, pitch and yaw of the frame (rad)"),
        "--q0": ("Q ...", "start, numbers separated by commas or spaces"),
    }
    for flag, (metavar, text) in vectors.items():
        parser.add_list(flag, metavar=metavar, read=numbers, accepts=is_number, help=text)
    text = "x y z or x y z qx qy qz qw a line, perhaps after a time (.csv; .npz: docs/viewer.md)"
    parser.add_argument("--path", metavar="FILE", type=path_text, help=text)
    parser.add_argument("--tolerance", type=float, default=1e-5, help="m and rad (default 1e-5)")
    parser.add_argument("--any", action="store_true", help="the first solution, not the nearest to the start")
    parser.add_argument("--solutions", metavar="N", type=int, default=1, help="as many distinct solutions")
    parser.add_list(
        "--fixed", metavar="JOINT ...", read=list, repeatable=True, help="keep these joints; may be repeated"
    )
    parser.add_argument(
        "--method", metavar="NAME", choices=_Methods(), default="lm", help="%(choices)s (default lm)"
    )
    parser.add_argument(
        "--on",
        metavar="DEVICE",
        choices=_Devices(),
        default="cpu",
        help="what the search runs on: %(choices)s (default cpu); GPUs take positions and --method quick-ik",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random starts")
    parser.add_argument("--html", metavar="FILE", type=path_text, help=HTML_HELP)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def run(args: argparse.Namespace) -> int:
    import numpy as np

    from robomorph.cli.ik_path import check_path_options, run_path
    from robomorph.cli.options import load_robot
    from robomorph.cli.outputs import check_outputs
    from robomorph.cli.terminal import make_console, print_json
    from robomorph.ik.problem import only_tip

    check_path_options(args)
    _require_three(args)
    check_outputs(None, None, args.html)
    robot, messages = load_robot(args)
    frame = args.frame or only_tip(robot)
    options = {
        "tolerance": args.tolerance,
        "nearest": not args.any,
        "method": args.method,
        "seed": args.seed,
        "on": args.on,
        "fixed": fixed_joints(robot, [word for words in args.fixed or [] for word in words]),
    }
    if args.path is not None:
        return run_path(args, robot, frame, options)
    options["solutions"] = args.solutions
    target = np.array(args.position) if args.rpy is None else pose_of(args.position, args.rpy)
    q0 = None if args.q0 is None else np.array(args.q0)
    result = robot.inverse_kinematics(target, frame, q0, **options)  # compiles, if nothing is cached
    seconds = float("inf")
    for _ in range(_ROUNDS):
        begin = time.perf_counter()
        robot.inverse_kinematics(target, frame, q0, **options)
        seconds = min(seconds, time.perf_counter() - begin)
    if args.html:
        _save_page(robot, target, result, args.html)
    if args.json:
        print_json({**describe(robot, frame, result, seconds), "warnings": messages})
    else:
        _print(make_console(), robot, frame, result, seconds)
    return 0 if np.any(result.success) else 1


def _require_three(args: argparse.Namespace) -> None:
    from robomorph.errors import ArgumentError

    for flag, values in (("--position", args.position), ("--rpy", args.rpy)):
        if values is not None and (len(values) != 3 or not all(map(math.isfinite, values))):
            raise ArgumentError(f"{flag}: expected three finite numbers, found {values}")


def fixed_joints(robot: Robot, words: list[str]) -> tuple[str, ...]:
    """Joints separated by commas or spaces; a comma that is part of a joint's name is no separator."""
    found = [[word] if word in robot.joint_names else word.split(",") for word in words]
    return tuple(part.strip() for parts in found for part in parts)


def pose_of(position: list[float], rpy: list[float]) -> Any:
    """(4, 4) from a position and roll, pitch and yaw, as URDF means them: Rz(yaw) Ry(pitch) Rx(roll)."""
    import numpy as np

    pose = np.eye(4)
    for axis, angle in zip((2, 1, 0), reversed(rpy), strict=True):
        turn = np.eye(3)
        i, j = (axis + 1) % 3, (axis + 2) % 3
        turn[[i, j], [i, j]] = np.cos(angle)
        turn[j, i], turn[i, j] = np.sin(angle), -np.sin(angle)
        pose[:3, :3] = pose[:3, :3] @ turn
    pose[:3, 3] = position
    return pose


def describe(robot: Robot, frame: str, result: IKResult, seconds: float) -> dict[str, Any]:
    """The result as plain data."""
    return {
        "robot": robot.name,
        "frame": frame,
        "joints": list(robot.joint_names),
        "coordinates": list(robot.coordinate_names),
        "q": result.q,
        "success": result.success,
        "position_error_m": result.position_error,
        "rotation_error_rad": result.rotation_error,
        "iterations": result.iterations,
        "starts": result.starts,
        "active_limits": result.active_limits,
        "reason": result.reason,
        "seconds": seconds,
    }


def _save_page(robot: Robot, target: Any, result: IKResult, path: str) -> None:
    """The robot at the first solution, the others as ghosts, and the target."""
    import numpy as np

    from robomorph.viewer.exhibit import make_exhibit
    from robomorph.viewer.marks import target_marks

    q, success = np.atleast_2d(result.q), np.atleast_1d(result.success)
    exhibit = make_exhibit(robot, q=q[0], ghosts=list(q[1:][success[1:]]))
    exhibit.marks = target_marks(np.asarray(target)[None], success[:1], exhibit.shown[0].size)
    exhibit.save(path)


def _print(console: Console, robot: Robot, frame: str, result: IKResult, seconds: float) -> None:
    import numpy as np
    from rich.markup import escape

    from robomorph.cli.terminal import make_table
    from robomorph.ik.coordinates import coordinate_names
    from robomorph.report.arm_picture import draw_arm

    q = np.atleast_2d(result.q)
    valid = np.atleast_1d(result.success)
    shown = q[valid] if valid.any() else q[:1]
    signs = {-1: "at lower", 0: "", 1: "at upper"}
    active = np.atleast_2d(result.active_limits)[0]
    columns = ("coordinate", *(f"q{k + 1}" if len(shown) > 1 else "q" for k in range(len(shown))), "limit")
    table = make_table(f"{escape(robot.name)}: {escape(frame)}", columns)
    for i, name in enumerate(coordinate_names(robot)):
        limit = signs[int(active[i])] if len(shown) == 1 else ""
        table.add_row(escape(name), *(f"{row[i]: .6f}" for row in shown), limit)
    console.print(table)
    reason = str(np.atleast_1d(np.asarray(result.reason, object))[0])
    console.print(f"{reason}", markup=False, style="green" if valid.any() else "red")
    metres, radians = np.atleast_1d(result.position_error)[0], np.atleast_1d(result.rotation_error)[0]
    console.print(f"errors: {metres:.2e} m, {radians:.2e} rad", markup=False)
    console.print(
        f"{int(np.sum(result.iterations))} iterations, {seconds * 1e6:.0f} us a call (least of {_ROUNDS})",
        markup=False,
    )
    console.print(draw_arm(robot, shown[0], frame), markup=False, highlight=False)
