"""Options about the robot that every command takes which loads one, and the robot they describe."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from robomorph.cli.joint_options import add_joint_options, joint_load_options
from robomorph.cli.parser import Parser, is_number, names, numbers
from robomorph.paths import user_path

if TYPE_CHECKING:
    from robomorph.robot import Robot

DEFAULT_ROBOT = "iiwa14"


def add_robot_options(parser: Parser, *, default: str | None = None, several: bool = False) -> None:
    """ROBOT and what may be changed about it while loading; ROBOT may be left out if there is a default.
    several: a list of them, `robots`, and what is changed is changed about each."""
    text = "a built-in name (see `robomorph robots`), or the path of a URDF, MJCF or xacro file"
    if several:
        parser.robot = parser.add_argument("robots", metavar="ROBOT", nargs="*", help=text)
    elif default is None:
        parser.robot = parser.add_argument("robot", metavar="ROBOT", help=text)
    else:
        parser.robot = parser.add_argument(
            "robot", metavar="ROBOT", nargs="?", help=f"{text} (default {default})"
        )
        parser.default_robot = default
    group = parser.add_argument_group("the robot")
    group.add_argument("--root", metavar="LINK", help="make this link the root, in place of the file's")
    group.add_argument("--floating-base", action="store_true", help="the root link moves freely")
    group.add_argument("--no-mimic", action="store_true", help="treat <mimic> joints as independent")
    _add_changes(parser, group)
    add_joint_options(parser, group)
    group.add_argument(
        "--snap", metavar="RAD", type=float, help="take angles this close to right angles as exact"
    )
    group.add_argument(
        "--package-dir",
        metavar="DIR",
        action="append",
        help="a folder that holds the ROS packages of mesh files, or is one; may be repeated",
    )
    parser.add_list(
        "--ignore",
        group=group,
        metavar="KIND ...",
        read=names,
        accepts=is_kind,
        repeatable=True,
        help="leave out what of an MJCF file a robot cannot have: kinds such as tendon, equality, or things' "
        "names, separated by commas or spaces (docs/models.md has all); may be repeated",
    )
    group.add_argument("--xacro", action="store_true", help="run xacro on a file that is not called .xacro")
    group.add_argument(
        "--xacro-arg",
        metavar="NAME=VALUE",
        action="append",
        type=xacro_argument,
        help="an argument of a xacro file; may be repeated",
    )
    group.add_argument("--strict", action="store_true", help="treat warnings about the robot as errors")


def path_text(text: str) -> str:
    """The path of a file or folder; `~` is the home folder, which shells leave alone in --option=~/file."""
    return str(user_path(text))


def _add_changes(parser: Parser, group: Any) -> None:
    """What `robomorph.load` takes as mappings and vectors."""
    parser.add_list(
        "--locked",
        group=group,
        metavar="JOINT=VALUE ...",
        read=lambda words: [locked_joint(word) for word in words],
        accepts=lambda word: "=" in word and is_number(word.rpartition("=")[2]),
        repeatable=True,
        help="hold joints still at values in rad or m (several numbers, separated by commas, for planar "
        "and floating joints); may be repeated",
    )
    parser.add_list(
        "--payload",
        group=group,
        metavar="LINK MASS [X Y Z [IXX IYY IZZ IXY IXZ IYZ]]",
        read=payload,
        accepts=is_number,
        repeatable=True,
        help="weld a mass (kg) to a link: its centre (m, default 0 0 0) and its inertia about that (kg m^2, "
        "default a point mass), in the link's frame; may be repeated",
    )
    parser.add_list(
        "--tool-frame",
        group=group,
        metavar="NAME LINK X Y Z [ROLL PITCH YAW]",
        read=tool_frame,
        accepts=is_number,
        repeatable=True,
        help="a new frame on a link, for kinematics: its origin (m) and its angles as in URDF (rad), in the "
        "link's frame; may be repeated",
    )
    parser.add_list(
        "--gravity",
        group=group,
        metavar="X Y Z",
        read=numbers,
        accepts=is_number,
        help="m/s^2 in the world's axes (default: 9.81 straight down)",
    )


def is_kind(word: str) -> bool:
    """Kinds of what may be left out?"""
    from robomorph.model.read import kinds

    return all(kind in kinds() for kind in names([word]))


def locked_joint(text: str) -> tuple[str, float | list[float]]:
    """JOINT=VALUE, split at the last '=' as a joint's name may hold one."""
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"expected JOINT=VALUE such as elbow=1.57, found {text!r}")
    values = numbers([value])
    return name, values[0] if len(values) == 1 else values


def xacro_argument(text: str) -> tuple[str, str]:
    """NAME=VALUE, split at the first '=', as xacro's own NAME:=VALUE is."""
    name, equals, value = text.partition("=")
    if not equals or not name.rstrip(":"):
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE such as hand=true, found {text!r}")
    return name.removesuffix(":"), value


def payload(words: list[str]) -> tuple[str, list[float]]:
    """The link, and 1, 4 or 10 numbers: mass, centre of mass, inertia."""
    values = numbers(words[1:])
    if len(values) not in (1, 4, 10):
        raise argparse.ArgumentTypeError(
            f"expected LINK and 1, 4 or 10 numbers such as 'hand 2.5 0 0 0.1', found {words[0]!r} and "
            f"{len(values)} numbers"
        )
    return words[0], values


def tool_frame(words: list[str]) -> tuple[str, tuple[str, list[float]]]:
    """The name, the link, and 3 or 6 numbers: origin, angles."""
    values = numbers(words[2:])
    if len(values) not in (3, 6):
        raise argparse.ArgumentTypeError(
            f"expected NAME LINK and 3 or 6 numbers such as 'tcp hand 0 0 0.1', found "
            f"{' '.join(map(repr, words[:2]))} and {len(values)} numbers"
        )
    return words[0], (words[1], values)


def load_options(args: argparse.Namespace) -> dict[str, Any]:
    """The keyword arguments of `robomorph.load` that the options stand for."""
    locked = [pair for given in args.locked or [] for pair in given]
    payloads = _once("--payload", args.payload or [])
    frames = _once("--tool-frame", args.tool_frame or [])
    options: dict[str, Any] = {
        "root": args.root,
        "floating_base": args.floating_base,
        "mimic": not args.no_mimic,
        "locked": _once("--locked", locked),
        "payloads": {link: _mass(values) for link, values in payloads.items()},
        "tool_frames": {name: (link, _pose(name, values)) for name, (link, values) in frames.items()},
        "strict": args.strict,
        "package_dirs": args.package_dir,
    }
    options |= joint_load_options(args)
    if args.ignore:
        options["ignore"] = [word for given in args.ignore for word in given]
    if args.xacro:
        options["xacro"] = True
    if args.xacro_arg:
        options["xacro_args"] = _once("--xacro-arg", args.xacro_arg)
    if args.gravity is not None:
        options["gravity"] = args.gravity
    if args.snap is not None:
        options["snap"] = args.snap
    return options


def _once(flag: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The pairs as a mapping; ArgumentError if a name is given twice, as one would be lost."""
    from robomorph.errors import ArgumentError

    found = dict(pairs)
    for name in found:
        if sum(name == other for other, _ in pairs) > 1:
            raise ArgumentError(f"{flag}: expected {name!r} once, found it several times")
    return found


def _mass(values: list[float]) -> tuple[Any, ...]:
    """Mass, centre of mass and tensor as `load` takes them."""
    mass, com = values[0], values[1:4] or [0.0, 0.0, 0.0]
    if len(values) < 10:
        return mass, com
    xx, yy, zz, xy, xz, yz = values[4:]
    return mass, com, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def _pose(name: str, values: list[float]) -> Any:
    """(3,) m, or (4, 4) with angles; those within 1e-10 of right angles are exact, as in a file."""
    import numpy as np

    from robomorph.errors import ArgumentError
    from robomorph.model.load import SNAP
    from robomorph.model.pose import rotation_from_rpy

    if not np.all(np.isfinite(values)):
        raise ArgumentError(f"--tool-frame {name}: expected finite numbers, found {values}")
    if len(values) == 3:
        return values
    pose = np.eye(4)
    pose[:3, :3] = rotation_from_rpy(np.array(values[3:]), SNAP)
    pose[:3, 3] = values[:3]
    return pose


def load_robot(args: argparse.Namespace) -> tuple[Robot, list[str]]:
    """The robot of the options, and the warnings about it (which are shown too)."""
    from robomorph.cli.terminal import warnings_shown
    from robomorph.loading import load

    with warnings_shown() as messages:
        robot = load(args.robot, **load_options(args))
    return robot, messages
