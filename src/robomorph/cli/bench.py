"""`robomorph bench`: our kernels against every library installed here, on this machine."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robomorph.bench.sections import GROUPS, Group
from robomorph.cli.options import path_text
from robomorph.cli.outputs import STDOUT, check_outputs, write_json
from robomorph.cli.parser import names
from robomorph.paths import user_path

if TYPE_CHECKING:
    from rich.console import Console

    from robomorph.bench.run import Outcome

_QUIET = "Run it on a quiet machine: what else runs at the same time shows in the figures.\n"


def _help() -> str:
    """Every section by group, with its line."""
    default, *others = GROUPS.values()
    parts = ["sections, for --only:", _lines(default)]
    for group in others:
        parts += [f"\nrobomorph bench {group.name} measures {group.about} instead, with sections of its own:"]
        parts += [_lines(group)]
    return "\n".join([*parts, f"\n{_QUIET}"])


def _lines(group: Group) -> str:
    return "\n".join(f"  {name:<11} {about}" for name, about in group.abouts().items())


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "bench",
        help="measure the kernels against other libraries",
        description="Measures robomorph against every library found installed, in one run: interleaved "
        "rounds, the same states, errors beside times.",
        epilog=_help(),
    )
    parser.robot = parser.add_argument(
        "robots", metavar="ROBOT", nargs="*", help="built-in names or URDF files (default: iiwa14 hyq atlas)"
    )
    parser.add_argument("--quick", action="store_true", help="under a minute: fewer rounds, robots and sizes")
    parser.add_list(
        "--only",
        metavar="SECTION ...",
        read=names,
        accepts=_is_section,
        help="run these sections only, separated by commas or spaces",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        type=path_text,
        nargs="?",
        const=STDOUT,
        help="write everything that was found as JSON; without FILE print it instead of tables",
    )
    parser.add_argument("--plots", metavar="DIR", type=user_path, help="write PNG plots (needs matplotlib)")


def _is_section(word: str) -> bool:
    return all(any(name in group.sections for group in GROUPS.values()) for name in names([word]))


def run(args: argparse.Namespace) -> int:
    """1 if an independent check refused a result that we claimed; a goal that is missed, as on another or a
    busy machine, is shown and is no failure."""
    from robomorph.bench.peers import PEERS
    from robomorph.bench.run import run_bench
    from robomorph.bench.session import Session
    from robomorph.cli.terminal import Steps

    group, robots = _group(args.robots)
    sections = group.choose(args.only)
    check_outputs(args.json, args.plots)
    session = Session(robots, PEERS.get(group.name, ()), quick=args.quick)
    outcome = run_bench(session, group.name, sections, lambda total: Steps("measuring", total))
    _deliver(args, outcome)
    return 1 if outcome.refused else 0


def _group(words: Sequence[str]) -> tuple[Group, Sequence[str]]:
    """The group that the first word names, or the first of all; and the robots."""
    from robomorph.errors import ArgumentError

    named = bool(words) and words[0] in GROUPS
    group = GROUPS[words[0]] if named else next(iter(GROUPS.values()))
    robots = words[1:] if named else words
    if robots and not group.robots:
        raise ArgumentError(
            f"bench {group.name}: expected no robot after {group.name!r}, found {robots[0]!r}"
        )
    return group, robots or group.robots


def _deliver(args: argparse.Namespace, outcome: Outcome) -> None:
    """Print the tables, or with `--json` alone the document; write the files asked for."""
    from robomorph.bench.document import as_json
    from robomorph.cli.terminal import make_console, print_json
    from robomorph.report.png import write_figures

    console = make_console()
    if args.json == STDOUT:
        print_json(as_json(outcome))
        console = make_console(sys.stderr)
    else:
        show(outcome, console)
    if args.json not in (None, STDOUT):
        write_json(as_json(outcome), Path(args.json))
        console.print(f"written: {args.json}", markup=False)
    if args.plots is not None:
        for path in write_figures(outcome.figures(), args.plots):
            console.print(f"written: {path}", markup=False)


def show(outcome: Outcome, console: Console) -> None:
    """The machine, every table, the goals, and what the reader must know."""
    from rich.markup import escape

    from robomorph.cli.terminal import make_table

    _show_machine(outcome, console)
    for data in outcome.tables():
        caption = None if data.caption is None else escape(data.caption)
        table = make_table(escape(data.title), data.columns, left=data.left, caption=caption)
        for row in data.rows:
            table.add_row(*(escape(cell) for cell in row))
        console.print(table)
    _show_goals(outcome, console)
    for note in outcome.notes:
        console.print(f"note: {note}", markup=False, style="yellow")
    console.print(f"measured in {outcome.settings['seconds']:.0f} s", style="dim")


def _show_machine(outcome: Outcome, console: Console) -> None:
    machine = outcome.machine
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    cpu = f"{machine['cpu']} ({machine['llvm_cpu']}), {machine['system']}"
    console.print(
        f"machine: {cpu}, {machine['cores']} cores, {machine['vector_bits']}-bit vectors", markup=False
    )
    console.print(f"versions: {versions}", markup=False)
    if machine["load_average"] is not None:
        console.print(f"load average at the start: {machine['load_average']:.2f}", markup=False)
    for name, why in machine["absent"].items():
        console.print(f"absent: {name}: {why}", markup=False)


def _show_goals(outcome: Outcome, console: Console) -> None:
    from rich.markup import escape

    from robomorph.cli.terminal import make_table

    if not outcome.verdicts:
        return
    styles = {True: "green", False: "red", None: "dim"}
    table = make_table("goals", ("what", "verdict"), left=2)
    for verdict in outcome.verdicts:
        table.add_row(escape(verdict.what), f"[{styles[verdict.reached]}]{verdict.text}[/]")
    console.print(table)
    missed, unknown = (sum(v.reached is what for v in outcome.verdicts) for what in (False, None))
    console.print(f"{len(outcome.verdicts)} goals: {missed} missed, {unknown} not measured", markup=False)
