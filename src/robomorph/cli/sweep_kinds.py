"""The kinds of `robomorph sweep`: options of each, and the job that they stand for."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from robomorph.cli.options import DEFAULT_ROBOT, add_robot_options, load_robot, path_text
from robomorph.cli.parser import Parser, is_number, names, numbers, whole_numbers


def _given(args: argparse.Namespace, *options: str) -> dict[str, Any]:
    """Options that were given, by the job's names: the others keep the job's defaults."""
    found = {name: getattr(args, name) for name in (*options, "shard_size")}
    return {name: value for name, value in found.items() if value is not None}


def _seed(parser: Any, default: int = 0) -> None:
    parser.add_argument(
        "--seed", type=int, default=default, help=f"of the random numbers (default {default})"
    )


# --- reach -------------------------------------------------------------------------------------------------


def _add_reach(parser: Parser) -> None:
    add_robot_options(parser)
    parser.add_argument("--targets", metavar="N", type=int, required=True, help="how many")
    parser.add_argument("--frame", help="link to move (default: the end, if the robot has one)")
    text = "two corners in m (default: around the frame's positions in random configurations)"
    parser.add_list(
        "--box", metavar="X Y Z X Y Z", read=numbers, accepts=is_number, help=f"where targets are: {text}"
    )
    parser.add_argument("--poses", action="store_true", help="with random orientations, not positions alone")
    parser.add_argument("--tolerance", type=float, default=1e-5, help="m and rad (default 1e-5)")
    parser.add_argument("--starts", type=int, help="tried at most for a target (default 200)")
    parser.add_argument("--nearest", action="store_true", help="the nearest to mid-range, not any solution")
    parser.add_argument(
        "--grid", metavar="N", type=int, help="voxels along each side of the map (default 20)"
    )
    _seed(parser)


def _reach(args: argparse.Namespace) -> Any:
    from robomorph.errors import ArgumentError
    from robomorph.scaleout.jobs.reach import Reach

    box = args.box
    if box is not None:
        if len(box) != 6:
            raise ArgumentError(f"--box: expected 6 numbers, two corners of x y z, found {len(box)}")
        box = (box[:3], box[3:])
    robot, _ = load_robot(args)
    options = _given(args, "frame", "starts", "nearest", "grid", "poses", "tolerance", "seed")
    return Reach(robot, args.targets, box=box, **options)


# --- planning ----------------------------------------------------------------------------------------------


def _add_starts(parser: Parser) -> None:
    text = "a built-in name (see `robomorph plan --help`) or a TOML file"
    parser.add_argument("scenario", metavar="SCENARIO", help=text)
    parser.add_argument("--starts", metavar="N", type=int, required=True, help="first guesses")
    parser.add_argument("--robot", metavar="NAME", help="another robot for it, as in `robomorph plan`")
    parser.add_argument("--urdf", metavar="FILE", type=path_text, help="where that robot's file is")
    parser.add_argument("--cost", metavar="NAME", help="jerk, energy, time or none (default: the scenario's)")
    parser.add_argument("--method", choices=("bernstein", "grid"), help="default bernstein")
    _seed(parser)


def _starts(args: argparse.Namespace) -> Any:
    from robomorph.scaleout.jobs.starts import Starts

    options = _given(args, "robot", "urdf", "cost", "method", "seed")
    if args.cost == "none":
        options["cost"] = None
    return Starts(args.scenario, args.starts, **options)


def _add_scenarios(parser: Parser) -> None:
    parser.add_argument("scenarios", metavar="SCENARIO", nargs="+", help="built-in names or TOML files")
    parser.add_list("--robots", metavar="NAME ...", read=names, help="for each of them (default: its own)")
    parser.add_argument(
        "--goals", metavar="N", type=int, help="for each; all but the first random (default 1)"
    )
    parser.add_argument("--spread", type=float, help="of random goals, rad and m (default 0.2)")
    parser.add_argument("--prove", action="store_true", help="prove every plan for every instant")
    _seed(parser)


def _scenarios(args: argparse.Namespace) -> Any:
    from robomorph.scaleout.jobs.scenarios import Scenarios

    return Scenarios(args.scenarios, **_given(args, "robots", "goals", "spread", "prove", "seed"))


# --- control -----------------------------------------------------------------------------------------------

_LOOP_OPTIONS: dict[str, tuple[type, str]] = {
    "payload": (float, "kg at the tool at most, unknown to the controller (default 3)"),
    "levels": (int, "steps in which the payload is drawn (default 4)"),
    "delay": (float, "s at most, from measuring to acting (default 0.01)"),
    "push": (float, "N at most, for 50 ms (default 50)"),
    "horizon": (int, "steps that are planned (default 30)"),
    "dt": (float, "seconds of a step (default 0.02)"),
    "rate": (float, "ticks a second (default 500)"),
    "iterations": (int, "of a tick (default 1)"),
    "seconds": (float, "that each loop lasts (default 2)"),
}


def _add_mpc(parser: Parser) -> None:
    add_robot_options(parser, default=DEFAULT_ROBOT)
    parser.add_argument("--runs", metavar="N", type=int, required=True, help="loops")
    for name, (kind, text) in _LOOP_OPTIONS.items():
        flag = "--unknown-payload" if name == "payload" else f"--{name}"  # --payload is known to all
        parser.add_argument(flag, type=kind, metavar=kind.__name__.upper(), help=text)
    _seed(parser)


def _mpc(args: argparse.Namespace) -> Any:
    from robomorph.scaleout.jobs.mpc import MonteCarlo

    robot, _ = load_robot(args)
    options = _given(args, "seed", *(name for name in _LOOP_OPTIONS if name != "payload"))
    if args.unknown_payload is not None:
        options["payload"] = args.unknown_payload
    return MonteCarlo(robot, args.runs, **options)


# --- chips -------------------------------------------------------------------------------------------------


def _add_chip(parser: Parser) -> None:
    from robomorph.cli.rtl_options import ABOUT_DEFAULTS, PAPERS_FUNCTION, add_design_options

    add_robot_options(parser, default=DEFAULT_ROBOT)
    group = parser.add_argument_group("the design", ABOUT_DEFAULTS)
    group.add_argument("--algorithm", default=PAPERS_FUNCTION, help=f"function (default {PAPERS_FUNCTION})")
    group.add_argument("--frame", metavar="LINK", help="the link of an algorithm about one frame")
    add_design_options(group)


def _chip(args: argparse.Namespace, *more: str) -> tuple[Any, dict[str, Any]]:
    """The robot, and what both jobs about chips take."""
    from robomorph.cli.rtl_options import design_options

    robot, _ = load_robot(args)
    options = design_options(args, args.algorithm)
    return robot, {"options": options, **_given(args, "algorithm", "frame", *more)}


def _designs(args: argparse.Namespace) -> Any:
    from robomorph.scaleout.jobs.designs import Designs

    robot, options = _chip(args)
    return Designs(robot, **options)


def _add_formats(parser: Parser) -> None:
    _add_chip(parser)
    text = "word widths (default 12 16 20 24 28 32)"
    parser.add_list("--widths", metavar="BITS ...", read=whole_numbers, accepts=is_number, help=text)
    parser.add_argument("--states", metavar="N", type=int, help="over which errors are taken (default 2000)")
    _seed(parser, 11)


def _formats(args: argparse.Namespace) -> Any:
    from robomorph.scaleout.jobs.formats import Formats

    robot, options = _chip(args, "states", "seed")
    if args.widths is not None:
        options["bits"] = args.widths
    return Formats(robot, **options)


# --- tests, scaling ----------------------------------------------------------------------------------------


def _add_suites(parser: Parser) -> None:
    text = "files, folders or node ids of tests"
    parser.add_argument("tests", metavar="TEST", nargs="+", help=text)
    parser.add_argument(
        "--root", metavar="DIR", type=path_text, default=".", help="where pytest runs (default .)"
    )
    parser.add_argument("--marks", metavar="EXPRESSION", help="pytest's -m, such as 'slow'")


def _suites(args: argparse.Namespace) -> Any:
    from robomorph.scaleout.jobs.suites import Suites

    options = ("-m", args.marks) if args.marks else ()
    return Suites(args.tests, options=options, **_given(args, "root"))


def _add_scaling(parser: Parser) -> None:
    add_robot_options(parser, default=DEFAULT_ROBOT)
    parser.add_argument(
        "--rows", metavar="N", type=float, default=1e9, help="of the run on paper (default 1e9)"
    )
    parser.add_list(
        "--model-workers",
        metavar="N ...",
        read=whole_numbers,
        accepts=is_number,
        help="of the model (default 8 16 32 64 128 256 512 1000)",
    )
    parser.add_argument("--job", choices=("reach", "dataset"), default="reach", help="default reach")
    parser.add_argument(
        "--measured-rows", metavar="N", type=int, help="rows that are measured (default 20000)"
    )
    _seed(parser)


def scaling(args: argparse.Namespace) -> int:
    """Measure with one and two workers, and print what the model makes of it."""
    from robomorph.cli.terminal import print_json
    from robomorph.scaleout.scaling import study, study_text

    robot, _ = load_robot(args)
    options: dict[str, Any] = {"kind": args.job, "seed": args.seed, "rows": round(args.rows)}
    if args.model_workers is not None:
        options["workers"] = tuple(args.model_workers)
    if args.measured_rows is not None:
        options["measured_rows"] = args.measured_rows
    found = study(robot, **options)
    if args.json:
        print_json(found)
    else:
        print(study_text(found))
    return 0


ADD: dict[str, Callable[[Parser], None]] = {
    "reach": _add_reach,
    "starts": _add_starts,
    "scenarios": _add_scenarios,
    "mpc": _add_mpc,
    "designs": _add_chip,
    "formats": _add_formats,
    "suites": _add_suites,
    "scaling": _add_scaling,
}
JOB: dict[str, Callable[[argparse.Namespace], Any]] = {
    "reach": _reach,
    "starts": _starts,
    "scenarios": _scenarios,
    "mpc": _mpc,
    "designs": _designs,
    "formats": _formats,
    "suites": _suites,
}
