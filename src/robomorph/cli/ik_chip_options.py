"""Options of the inverse-kinematics chip, for `robomorph rtl` and `robomorph export --target rtl` alike."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from robomorph.cli.parser import ListAction, names
from robomorph.cli.rtl_options import flag, given_options

if TYPE_CHECKING:
    from robomorph.accelerators.ik.make import IkChip
    from robomorph.robot import Robot
    from robomorph.targets.rtl.ik.plan import Knobs, Widths

QUICK_IK = "quick_ik"  # the algorithm's name
ABOUT_CHIP = """\
Of --algorithm quick_ik, which solves inverse kinematics of one frame's position;
--units are its search units, a number (default 4)."""
_NAMES = ("speculations", "problems", "chip")
_SOLVING = ("mode", "tolerance", "max_iterations")
_MODES = ("quick-ik", "relaxed-quick-ik", "speculative-newton")
_SHARED = "units"  # the one option that means something for both kinds of design


def _adder(group: Any) -> Any:
    def add(flag: str, text: str, **more: Any) -> None:
        group.add_argument(flag, help=text, default=argparse.SUPPRESS, **more)

    return add


def add_chip_options(group: Any) -> None:
    """What the hardware is like; without defaults, so that it is known which were given."""
    add = _adder(group)
    add("--speculations", "lengths of a step that are tried (default 64)", type=int, metavar="K")
    add("--problems", "problems in flight (default 2)", type=int, metavar="N")
    add(
        "--chip",
        "any knob or word width by its name, such as unit=18 angle=18 multiply_stages=1 (an unknown name "
        "lists them)",
        metavar="NAME=VALUE ...",
        action=ListAction,
        read=names,
        accepts=lambda word: "=" in word,
    )


def add_solve_options(group: Any) -> None:
    """What is simulated on it."""
    add = _adder(group)
    add(
        "--mode",
        f"what is simulated: {', '.join(_MODES)} (default all)",
        metavar="MODE ...",
        action=ListAction,
        read=names,
        accepts=lambda word: all(name in _MODES for name in names([word])),
    )
    add("--tolerance", "m, that solves have to reach (default 0.01)", type=float, metavar="M")
    add("--max-iterations", "of each solve (default 1000)", type=int, metavar="N")


def given_chip_options(args: argparse.Namespace) -> list[str]:
    """Names of those on the command line, --units apart."""
    return [name for name in (*_NAMES, *_SOLVING) if hasattr(args, name)]


def refuse_chip_options(args: argparse.Namespace, found: str) -> None:
    """For designs that are not this chip."""
    from robomorph.errors import ArgumentError

    given = given_chip_options(args)
    if given:
        raise ArgumentError(
            f"{', '.join(map(flag, given))}: only for the inverse-kinematics chip, {QUICK_IK}, found {found}"
        )


def refuse_other_options(args: argparse.Namespace) -> None:
    """Options of the other designs, which say nothing about this one."""
    from robomorph.accelerators.ik.knobs import KNOBS
    from robomorph.errors import ArgumentError

    given = [name for name in given_options(args) if name != _SHARED]
    if not given:
        return
    alike = [name for name in given if name in KNOBS]
    hint = f"; this chip's are --chip {' '.join(f'{name}=...' for name in alike)}" if alike else ""
    raise ArgumentError(
        f"{', '.join(map(flag, given))}: not for the inverse-kinematics chip, {QUICK_IK}: its numbers and "
        f"hardware are chosen by --units, --speculations, --problems and --chip{hint}"
    )


def chip_settings(args: argparse.Namespace) -> tuple[Widths, Knobs]:
    """Widths and knobs that the options ask for."""
    from robomorph.accelerators.ik.knobs import make_knobs
    from robomorph.errors import ArgumentError

    given = _pairs(getattr(args, "chip", []))
    for name in ("units", "speculations", "problems"):
        if hasattr(args, name):
            if name in given:
                raise ArgumentError(f"{flag(name)} and --chip {name}={given[name]}: give one of them")
            given[name] = _units(args.units) if name == _SHARED else getattr(args, name)
    return make_knobs(given, "--chip")


def _units(text: str) -> int:
    from robomorph.errors import ArgumentError

    if not text.isdecimal():
        raise ArgumentError(
            f"--units: of {QUICK_IK}, how many search units: expected a whole number, found {text!r}"
        )
    return int(text)


def _pairs(words: list[str]) -> dict[str, Any]:
    from robomorph.accelerators.ik.knobs import KNOBS, WIDTHS
    from robomorph.errors import ArgumentError

    kinds = WIDTHS | KNOBS
    found: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise ArgumentError(f"--chip: expected NAME=VALUE such as unit=18, found {word!r}")
        if name in found:
            raise ArgumentError(f"--chip: expected {name!r} once, found it several times")
        found[name] = _value(name, text, kinds.get(name, "str"))
    return found


def _value(name: str, text: str, kind: str) -> int | float | str:
    """The number that a knob takes; a knob that there is not is for others to refuse."""
    from robomorph.errors import ArgumentError

    try:
        value: int | float | str = int(text) if kind == "int" else float(text) if kind == "float" else text
    except ValueError:
        what = "a whole number" if kind == "int" else "a number"
        raise ArgumentError(f"--chip {name}: expected {what}, found {text!r}") from None
    if isinstance(value, float) and not 0.0 < value < float("inf"):
        raise ArgumentError(f"--chip {name}: expected a positive number, found {text!r}")
    return value


def make_robot_chip(robot: Robot, args: argparse.Namespace, frame: str) -> IkChip:
    """The chip of the options for a robot's frame, which keeps the robot's limits."""
    from robomorph.accelerators.ik.chain import make_chain
    from robomorph.accelerators.ik.make import make_chip

    widths, knobs = chip_settings(args)
    chain = make_chain(robot.model, frame, robot.limits.lower, robot.limits.upper)
    return make_chip(chain, widths, knobs)


def modes_asked(args: argparse.Namespace) -> list[str]:
    from robomorph.errors import ArgumentError

    found: list[str] = list(dict.fromkeys(getattr(args, "mode", _MODES)))
    for name in found:
        if name not in _MODES:
            raise ArgumentError(f"--mode: expected {', '.join(_MODES)}, found {name!r}")
    return found
