"""Options about the robot that several commands take, and the robot they describe."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from robomorph.paths import user_path

if TYPE_CHECKING:
    from robomorph.robot import Robot

DEFAULT_ROBOT = "iiwa14"


def add_robot_options(parser: argparse.ArgumentParser, *, default: str | None = None) -> None:
    """ROBOT and what may be changed about it while loading; ROBOT may be left out if there is a default."""
    text = "a built-in name (see `robomorph robots`) or the path of a URDF file"
    if default is None:
        parser.add_argument("robot", metavar="ROBOT", help=text)
    else:
        parser.add_argument(
            "robot", metavar="ROBOT", nargs="?", default=default, help=f"{text} (default {default})"
        )
    group = parser.add_argument_group("the robot")
    group.add_argument("--floating-base", action="store_true", help="the root link moves freely")
    group.add_argument("--no-mimic", action="store_true", help="treat <mimic> joints as independent")
    group.add_argument(
        "--locked",
        metavar="JOINT=VALUE",
        action="append",
        default=[],
        type=locked_joint,
        help="hold a joint still at a value in rad or m (several numbers, separated by commas, for planar "
        "and floating joints); may be repeated",
    )
    group.add_argument(
        "--gravity", metavar="X,Y,Z", type=numbers, help="m/s^2 in the world's axes (default 0,0,-9.81)"
    )
    group.add_argument(
        "--snap", metavar="RAD", type=float, help="take angles this close to right angles as exact"
    )
    group.add_argument("--strict", action="store_true", help="treat warnings about the robot as errors")


def path_text(text: str) -> str:
    """The path of a file or folder; `~` is the home folder, which shells leave alone in --option=~/file."""
    return str(user_path(text))


def names(text: str) -> list[str]:
    """Names separated by commas."""
    found = [part.strip() for part in text.split(",") if part.strip()]
    if not found:
        raise argparse.ArgumentTypeError(f"expected names separated by commas, found {text!r}")
    return found


def numbers(text: str) -> list[float]:
    """Numbers separated by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected numbers separated by commas, found {text!r}") from None


def locked_joint(text: str) -> tuple[str, float | list[float]]:
    """JOINT=VALUE, split at the last '=' as a joint's name may hold one."""
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"expected JOINT=VALUE such as elbow=1.57, found {text!r}")
    values = numbers(value)
    return name, values[0] if len(values) == 1 else values


def load_options(args: argparse.Namespace) -> dict[str, Any]:
    """The keyword arguments of `robomorph.load` that the options stand for."""
    options: dict[str, Any] = {
        "floating_base": args.floating_base,
        "mimic": not args.no_mimic,
        "locked": dict(args.locked),
        "strict": args.strict,
    }
    if args.gravity is not None:
        options["gravity"] = args.gravity
    if args.snap is not None:
        options["snap"] = args.snap
    return options


def load_robot(args: argparse.Namespace) -> tuple[Robot, list[str]]:
    """The robot of the options, and the warnings about it (which are shown too)."""
    from robomorph.cli.terminal import warnings_shown
    from robomorph.loading import load

    with warnings_shown() as messages:
        robot = load(args.robot, **load_options(args))
    return robot, messages
