"""`robomorph bench`: our kernels against every library installed here, on this machine."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robomorph.cli.options import names
from robomorph.cli.outputs import STDOUT, check_outputs, write_json

if TYPE_CHECKING:
    from rich.console import Console

    from robomorph.bench.run import Outcome

_HELP = """\
sections, for --only:
  gradients   forward-dynamics gradient against every library, batch of 128 and one call
  family      every function, float64 and float32, batch and single call
  steps       one computation split in its three steps (the papers' figure)
  timesteps   N = 16, 32, 64, 128 end to end (the papers' figure)
  threads     persistent threads against launching them; two threads against one
  batches     batch sizes up to 65,536
  peak        fraction of the core's peak arithmetic
  schedule    the program in other orders and cuts
  compile     from load to the first gradient, in fresh processes
  chains      chains of 7 to 100 joints: run time, compile time, memory
  export      the exported C++ header against the in-process kernel

robomorph bench ik measures inverse kinematics instead, with sections of its own:
  paper       Quick-IK's chains: iterations, speculations, computation load, times
  single      one solve on a chain of 100 joints, against KDL
  arms        TRAC-IK's protocol on six arms, against KDL, TRAC-IK and pink
  nearest     nearest=True against the best of 64 restarts of KDL

Run it on a quiet machine: what else runs at the same time shows in the figures.
"""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "bench",
        help="measure the kernels against other libraries",
        description="Measures robomorph against every library found installed, in one run: interleaved "
        "rounds, the same states, errors beside times.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "robots", metavar="ROBOT", nargs="*", help="built-in names or URDF files (default: iiwa14 hyq atlas)"
    )
    parser.add_argument("--quick", action="store_true", help="under a minute: fewer rounds, robots and sizes")
    parser.add_argument(
        "--only",
        metavar="SECTIONS",
        type=names,
        help="run these sections only, separated by commas",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        nargs="?",
        const=STDOUT,
        help="write everything that was found as JSON; without FILE print it instead of tables",
    )
    parser.add_argument("--plots", metavar="DIR", type=Path, help="write PNG plots (needs matplotlib)")


def run(args: argparse.Namespace) -> int:
    if args.robots and args.robots[0] == "ik":
        from robomorph.cli.bench_ik import run as run_ik

        return run_ik(args)
    from robomorph.bench.document import as_json
    from robomorph.bench.plots import write_plots
    from robomorph.bench.run import DEFAULT_ROBOTS, chosen_sections, run_bench
    from robomorph.bench.session import Session
    from robomorph.cli.terminal import Steps

    sections = chosen_sections(args.only)
    check_outputs(args.json, args.plots)
    session = Session(args.robots or DEFAULT_ROBOTS, quick=args.quick)
    outcome = run_bench(session, sections, lambda total: Steps("measuring", total))
    deliver(
        args,
        as_json(outcome),
        lambda console: show(outcome, console),
        lambda folder: write_plots(outcome.records, folder),
    )
    return 0


def deliver(
    args: argparse.Namespace,
    document: dict[str, Any],
    tables: Callable[[Console], None],
    plots: Callable[[Path], list[Path]],
) -> None:
    """Print the tables, or with `--json` alone the document; write the files asked for."""
    from robomorph.cli.terminal import make_console, print_json

    console = make_console()
    if args.json == STDOUT:
        print_json(document)
        console = make_console(sys.stderr)
    else:
        tables(console)
    if args.json not in (None, STDOUT):
        write_json(document, Path(args.json))
        console.print(f"written: {args.json}", markup=False)
    if args.plots is not None:
        for path in plots(args.plots):
            console.print(f"written: {path}", markup=False)


def show(outcome: Outcome, console: Console) -> None:
    """The machine, every table, the goals, and what the reader must know."""
    from rich.markup import escape

    from robomorph.cli.terminal import make_table

    _show_machine(outcome, console)
    for data in outcome.tables():
        table = make_table(escape(data.title), data.columns, left=data.left, caption=data.caption)
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
    from robomorph.cli.terminal import make_table

    if not outcome.verdicts:
        return
    styles = {True: "green", False: "red", None: "dim"}
    table = make_table("goals", ("what", "verdict"), left=2)
    for verdict in outcome.verdicts:
        table.add_row(verdict.what, f"[{styles[verdict.reached]}]{verdict.text}[/]")
    console.print(table)
