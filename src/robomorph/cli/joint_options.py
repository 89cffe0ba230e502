"""Options about what joints resist by themselves: armature, damping, friction, springs."""

from __future__ import annotations

import argparse
from typing import Any

from robomorph.cli.parser import Parser, is_number, numbers

_KINDS = {
    "armature": "inertia (kg m^2 or kg) that joints have beside the links'",
    "damping": "damping (N m s/rad or N s/m) of joints",
    "friction": "friction loss (N m or N) of joints",
    "stiffness": "springs (N m/rad or N/m) of joints, and where they are slack (JOINT=STIFFNESS,REST)",
}


def add_joint_options(parser: Parser, group: Any) -> None:
    for kind, text in _KINDS.items():
        parser.add_list(
            f"--{kind}",
            group=group,
            metavar="JOINT=VALUE ...",
            read=_pairs,
            accepts=lambda word: is_number(word.rpartition("=")[2]),
            repeatable=True,
            help=f"{text}, in place of the file's; VALUE alone is for all with one degree of freedom; may be "
            "repeated",
        )
    group.add_argument(
        "--passive",
        action="store_true",
        help="damping, friction and springs are part of the dynamics (armature always is)",
    )
    group.add_argument(
        "--friction-width",
        type=float,
        metavar="SPEED",
        help="with --passive: speed (rad/s or m/s) below which friction is smooth (default 0.01)",
    )


def joint_load_options(args: argparse.Namespace) -> dict[str, Any]:
    """The keyword arguments of `robomorph.load` that these options stand for."""
    from robomorph.errors import ArgumentError
    from robomorph.model import Passive

    options: dict[str, Any] = {}
    for kind in _KINDS:
        pairs = [pair for given in getattr(args, kind) or [] for pair in given]
        if pairs:
            options[kind] = _values(kind, pairs)
    if args.friction_width is not None and not args.passive:
        raise ArgumentError("--friction-width: expected --passive too: without it friction does not count")
    if args.passive:
        options["passive"] = True if args.friction_width is None else Passive(args.friction_width)
    return options


def _pairs(words: list[str]) -> list[tuple[str, list[float]]]:
    """Names and their numbers, split at the last '='; no name is all joints."""
    found = []
    for word in words:
        name, equals, value = word.rpartition("=")
        if equals and not name:
            raise argparse.ArgumentTypeError(f"expected JOINT=VALUE such as elbow=0.1, found {word!r}")
        found.append((name, numbers([value])))
    return found


def _values(kind: str, pairs: list[tuple[str, list[float]]]) -> Any:
    from robomorph.errors import ArgumentError

    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1 or (not name and len(names) > 1):
            what = f"{name!r} once" if name else "one number for all joints, or JOINT=VALUE"
            given = " ".join(n or "a number" for n in names)
            raise ArgumentError(f"--{kind}: expected {what}, found {given}")
    found = {name: values[0] if len(values) == 1 else tuple(values) for name, values in pairs}
    return found.get("", found)
