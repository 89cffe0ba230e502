"""`robomorph mpc`: predictive control in closed loops, and studies of it."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robomorph.cli.options import DEFAULT_ROBOT, add_robot_options, path_text
from robomorph.cli.parser import Parser

if TYPE_CHECKING:
    from rich.console import Console

    from robomorph.mpc import Simulation
    from robomorph.mpc.plants import Plant
    from robomorph.mpc.studies.loops import LoopCase

# `robomorph mpc WORD` is robomorph.cli.mpc_WORD, with add_arguments(parser) and run(args) -> int.
STUDIES = {
    "rate": "control rate against horizon, on this machine and by a chip",
    "formats": "which number formats suffice inside the loop",
}
_EPILOG = f"""\
examples:
  robomorph mpc
  robomorph mpc arm.urdf --horizon 30 --rate 500 --plots figures
  robomorph mpc iiwa14 --delay 0.01 --unknown-payload 3 --plant mujoco
  robomorph mpc --problem my-problem.toml --json results.json

studies, each with options of its own:
{chr(10).join(f"  robomorph mpc {word:<8} {about}" for word, about in STUDIES.items())}

exit codes: 0 the loops ran to their end, 1 one diverged (it is said how), 2 wrong usage or bad input
"""


def add_parser(subparsers: Any) -> None:
    from robomorph.cli.outputs import HTML_HELP, STDOUT

    parser = subparsers.add_parser(
        "mpc",
        help="predictive control of a robot in closed loops, with a push",
        description="Lets a predictive controller with all limits of the robot move it, simulated, in closed "
        "loops: a reach, and a target that the tool follows, each with a push. Shows rates, errors and how "
        "near torques, speeds and positions come to their limits (docs/mpc-loop.md).",
        epilog=_EPILOG,
    )
    parser.inner = {word: partial(_study, word) for word in STUDIES}
    add_robot_options(parser, default=DEFAULT_ROBOT)
    _add_controller_options(parser.add_argument_group("the controller"))
    _add_plant_options(parser.add_argument_group("the plant"))
    parser.add_argument("--plots", metavar="DIR", type=path_text, help="write PNG plots (needs matplotlib)")
    parser.add_argument("--html", metavar="FILE", type=path_text, help=HTML_HELP)
    parser.add_argument(
        "--json",
        metavar="FILE",
        type=path_text,
        nargs="?",
        const=STDOUT,
        help="write everything that was found as JSON; without FILE print it instead of tables",
    )


def _add_controller_options(group: Any) -> None:
    group.add_argument("--horizon", type=int, default=50, help="steps that are planned (default 50)")
    group.add_argument("--dt", type=float, default=0.01, help="seconds of a step (default 0.01)")
    group.add_argument("--rate", type=float, default=1000.0, help="ticks a second (default 1000)")
    group.add_argument("--iterations", type=int, default=1, help="of a tick (default 1)")
    group.add_argument("--threads", type=int, default=1, help="at most so many (default 1)")
    group.add_argument("--no-observer", action="store_true", help="plan from what is measured, as it is")
    text = "a problem of your own instead: a TOML file (docs/mpc.md), or a built-in name"
    group.add_argument("--problem", metavar="FILE", help=text)


def _add_plant_options(group: Any) -> None:
    group.add_argument("--plant", choices=("robot", "mujoco"), default="robot", help="default robot")
    group.add_argument("--seconds", type=float, help="that each loop lasts (default 3.5)")
    text = "from measuring to acting (default 0)"
    group.add_argument("--delay", type=float, default=0.0, metavar="S", help=text)
    text = "at the tool, of which the controller knows nothing (--payload is known to it)"
    group.add_argument("--unknown-payload", type=float, default=0.0, metavar="KG", help=text)
    text = "at the tool for 50 ms (default 100, less for weak robots; 0: none)"
    group.add_argument("--push", type=float, metavar="N", help=text)


def _study(word: str) -> Parser:
    """The parser of a study."""
    module = importlib.import_module(f"robomorph.cli.mpc_{word}")
    parser = Parser(
        prog=f"robomorph mpc {word}",
        description=getattr(module, "DESCRIPTION", STUDIES[word]),
        epilog=getattr(module, "EPILOG", None),
    )
    module.add_arguments(parser)
    parser.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    parser.set_defaults(run=module.run)
    return parser


def run(args: argparse.Namespace) -> int:
    from robomorph.cli.mpc_loops import loops_of
    from robomorph.cli.outputs import STDOUT, check_outputs, write_json
    from robomorph.cli.terminal import make_console, print_json

    check_outputs(args.json, Path(args.plots) if args.plots else None, args.html)
    cases, messages = loops_of(args)
    found = [(case, _simulated(args, case, k, len(cases))) for k, case in enumerate(cases)]
    if args.plots:
        from robomorph.report.loop_plots import draw_loop

        for case, loop in found:
            draw_loop(loop, Path(args.plots), f"{case.name.replace(' ', '-')}-")
    if args.html:
        _save_page(found, args.html)
    document = {"loops": [_described(args, *pair) for pair in found], "warnings": messages}
    if args.json == STDOUT:
        print_json(document)
    else:
        _print(make_console(), args, found)
    if args.json is not None and args.json != STDOUT:
        write_json(document, Path(args.json))
    return 0 if all(loop.success for _, loop in found) else 1


def _save_page(found: Sequence[tuple[LoopCase, Simulation]], path: str) -> None:
    from robomorph.viewer.exhibit import make_exhibit
    from robomorph.viewer.trajectory import Trajectory

    motions = [Trajectory.of_simulation(loop, case.name) for case, loop in found]
    make_exhibit(found[0][0].problem.robot, motions).save(path)


def _simulated(args: argparse.Namespace, case: LoopCase, k: int, count: int) -> Simulation:
    import sys

    from robomorph.mpc import Controller, Delay, simulate

    controller = Controller(
        case.problem, iterations=args.iterations, period=1.0 / args.rate, threads=args.threads
    )
    if not sys.stderr.isatty():
        sys.stderr.write(f"loop {k + 1}/{count}: {case.name}\n")
    return simulate(
        controller,
        _plant(args, case),
        seconds=case.seconds,
        start=case.start,
        start_speed=case.speed,
        reference=case.reference,
        pushes=case.pushes,
        delay=Delay(args.delay),
        observer=not args.no_observer,
        progress=True,
    )


def _plant(args: argparse.Namespace, case: LoopCase) -> Plant:
    from robomorph.mpc import MujocoPlant, RobotPlant

    make = MujocoPlant if args.plant == "mujoco" else RobotPlant
    return make(case.problem.robot, payload=args.unknown_payload or None)


def _described(args: argparse.Namespace, case: LoopCase, loop: Simulation) -> dict[str, Any]:
    pushes = [{"force_N": p.wrench[:3], "start_s": p.start, "seconds": p.seconds} for p in case.pushes]
    return {
        "name": case.name,
        "about": case.about,
        **loop.as_data(),
        "horizon": case.problem.horizon,
        "dt_s": case.problem.dt,
        "iterations": args.iterations,
        "plant": args.plant,
        "delay_s": args.delay,
        "unknown_payload_kg": args.unknown_payload,
        "observer": not args.no_observer,
        "pushes": pushes,
        "unit": case.unit,
    }


def _print(console: Console, args: argparse.Namespace, found: Sequence[tuple[LoopCase, Simulation]]) -> None:
    problem = found[0][0].problem
    console.print(
        f"{problem.robot.name}: {problem.horizon} steps of {problem.dt:g} s at {args.rate:g} Hz, "
        f"{args.iterations} iteration{'' if args.iterations == 1 else 's'} a tick; plant {args.plant}, delay "
        f"{args.delay:g} s, unknown payload {args.unknown_payload:g} kg",
        markup=False,
        style="bold",
    )
    for case, loop in found:
        style = "green" if loop.success else "red"
        console.print(f"{case.name}: {loop.reason}", markup=False, style=style)
    _print_errors(console, found)
    _print_times(console, found)
    _print_margins(console, found)


def _print_errors(console: Console, found: Sequence[tuple[LoopCase, Simulation]]) -> None:
    from robomorph.cli.terminal import make_table

    columns = ("loop", "of", "unit", "before push", "peak", "left", "settled s", "clipped N m", "unsolved")
    table = make_table("errors", columns, left=3)
    for case, loop in found:
        settled = "no" if loop.settled is None else f"{loop.settled:.3f}"
        data = loop.as_data()
        table.add_row(
            case.name,
            case.about,
            case.unit,
            *(f"{value:.1e}" for value in (loop.before_push, loop.peak, loop.left)),
            settled,
            f"{data['clipped_Nm']:.3g}",
            f"{data['unsolved_ticks']} of {data['ticks']}",
        )
    console.print(table)


def _print_times(console: Console, found: Sequence[tuple[LoopCase, Simulation]]) -> None:
    from robomorph.cli.terminal import make_table

    columns = (
        "loop",
        "median us",
        "99% us",
        "99% CPU us",
        "controller alone, median",
        "99%",
        "rate by median",
    )
    caption = "a step is observer and controller; CPU: of the thread, which others do not hold up"
    table = make_table("steps", columns, caption=caption)
    for case, loop in found:
        times = (
            loop.percentile(50.0),
            loop.percentile(99.0),
            loop.percentile(99.0, cpu=True),
            loop.percentile(50.0, observer=False),
            loop.percentile(99.0, observer=False),
        )
        table.add_row(case.name, *(f"{1e6 * t:.0f}" for t in times), f"{1.0 / times[0]:,.0f} Hz")
    console.print(table)


def _print_margins(console: Console, found: Sequence[tuple[LoopCase, Simulation]]) -> None:
    from rich.markup import escape

    from robomorph.cli.terminal import make_table

    columns = ("loop", "limit", "joint", "left of it", "share", "at s")
    table = make_table("limits: the nearest that the plant came", columns, left=3)
    for case, loop in found:
        for margin in loop.margins:
            table.add_row(
                case.name,
                margin.what,
                escape(margin.joint),
                f"{margin.left:.3g}",
                f"{margin.share:.1%}",
                f"{margin.time:.3f}",
            )
    console.print(table)
