"""`robomorph check`: whether a saved plan keeps what its problem asks for, by a second program."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from robomorph.cli.options import path_text

if TYPE_CHECKING:
    from robomorph.checker import Report

_EXAMPLES = """examples:
  robomorph check plan.json
  robomorph check plan.json --scenario squat
  robomorph check plan.json --problem problem.json --robot atlas
"""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "check",
        help="prove again that a saved plan keeps its constraints",
        description="Proves, with code that shares nothing with the planner, that the motion of a saved plan "
        "keeps every constraint of its problem at every instant: ball arithmetic, textbook mechanics, limits "
        "from the robot's text. Exit code 1 if it cannot, or if the plan is not what it says.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("file", metavar="FILE", type=path_text, help="a plan (JSON)")
    parser.add_argument(
        "--problem",
        metavar="FILE",
        type=path_text,
        help="the problem (or another plan for it) that the plan must be for; else what it states itself",
    )
    parser.add_argument(
        "--scenario",
        metavar="SCENARIO",
        help="the scenario (as `robomorph plan` takes it) that the plan must be for",
    )
    parser.add_argument(
        "--robot",
        metavar="ROBOT",
        help="a built-in name or URDF file whose text the plan's robot must have; with --scenario, the robot "
        "that it is for",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(args: argparse.Namespace) -> int:
    from robomorph.checker import Refused, check_plan
    from robomorph.checker.document import read_json
    from robomorph.cli.main import EXIT_CHECK_FAILED, EXIT_OK
    from robomorph.cli.terminal import make_console, print_json

    problem = _problem(args)
    try:
        report = check_plan(read_json(args.file), problem, None if args.scenario else _text(args.robot))
    except Refused as refused:
        if args.json:
            print_json({"file": args.file, "proven": False, "reason": str(refused)})
        else:
            make_console().print(f"[bold red]refused[/]: {_plain(str(refused))}")
        return EXIT_CHECK_FAILED
    if args.json:
        print_json({"file": args.file, "proven": True, **_data(report)})
    else:
        _print(report, stated_elsewhere=problem is not None)
    return EXIT_OK


def _problem(args: argparse.Namespace) -> Any:
    """What the plan must be for, from elsewhere; None: as it states itself."""
    from robomorph.checker.document import read_json

    if args.problem is not None:
        return read_json(args.problem)
    if args.scenario is None:
        return None
    from robomorph.errors import ArgumentError
    from robomorph.planning import load_scenario
    from robomorph.planning.certificate.plans import problem_of

    if args.robot is not None and args.robot.endswith(".urdf"):
        raise ArgumentError("--robot: with --scenario expected a name of its tables, found a URDF file")
    return problem_of(load_scenario(args.scenario, args.robot).motion())


def _text(robot: str | None) -> str | None:
    if robot is None:
        return None
    from robomorph.model.sources import read_source

    document = read_source(robot)
    return document.data.decode(document.encoding or "utf-8", "replace")


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def _data(report: Report) -> dict[str, Any]:
    rows = [
        {
            "constraint": row.constraint,
            "row": row.row,
            "name": row.name,
            "from": float(row.window[0]),
            "to": float(row.window[1]),
        }
        for row in report.rows
    ]
    return {"root": report.robot, "joints": report.joints, "seconds": report.seconds, "rows": rows}


def _print(report: Report, *, stated_elsewhere: bool) -> None:
    from robomorph.cli.terminal import make_console, make_table

    console = make_console()
    table = make_table("proven for every instant", ("constraint", "rows", "from (s)", "to (s)"), left=1)
    by_constraint: dict[int, list[Any]] = {}
    for row in report.rows:
        by_constraint.setdefault(row.constraint, []).append(row)
    for rows in by_constraint.values():
        names = rows[0].name if len(rows) == 1 else f"{rows[0].name} to {rows[-1].name}"
        window = rows[0].window
        table.add_row(_plain(names), str(len(rows)), f"{float(window[0]):g}", f"{float(window[1]):g}")
    console.print(table)
    source = "the problem given" if stated_elsewhere else "the problem as the plan states it"
    console.print(
        f"[bold green]proven[/]: {len(report.rows)} rows of {source}, {report.joints} joints, "
        f"{report.seconds:g} s, in {report.pieces} pieces of time."
    )
