"""`robomorph bench ik`: inverse kinematics against the paper, KDL, TRAC-IK and pink."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from robomorph.bench.solution_check import IkOutcome


def run(args: argparse.Namespace) -> int:
    """Takes the options of `robomorph bench`. 1 if the check refused a solution that we claimed; a goal that
    is missed, as on another or a busy machine, is shown and is no failure."""
    from robomorph.bench.sections.ik.plots import write_ik_plots
    from robomorph.bench.sections.ik.run import ik_as_json, run_ik_bench
    from robomorph.cli.bench import deliver
    from robomorph.cli.outputs import check_outputs
    from robomorph.cli.terminal import make_console
    from robomorph.errors import ArgumentError

    if len(args.robots) > 1:
        raise ArgumentError(f"bench ik: expected no robot after 'ik', found {args.robots[1]!r}")
    check_outputs(args.json, args.plots)
    progress = make_console(sys.stderr)
    outcome = run_ik_bench(
        args.only, quick=args.quick, step=lambda name: progress.print(f"measuring {name}", markup=False)
    )
    deliver(
        args,
        ik_as_json(outcome),
        lambda console: show(outcome, console),
        lambda folder: write_ik_plots(outcome, folder),
    )
    return 1 if outcome.refused else 0


def show(outcome: IkOutcome, console: Console) -> None:
    """Every table, the goals, and what the reader must know."""
    from rich.markup import escape

    from robomorph.cli.terminal import make_table

    for data in outcome.tables:
        table = make_table(escape(data.title), data.columns, left=data.left, caption=data.caption)
        for row in data.rows:
            table.add_row(*(escape(cell) for cell in row))
        console.print(table)
    styles = {True: "green", False: "red", None: "dim"}
    goals = make_table("goals", ("what", "verdict"), left=2)
    for verdict in outcome.verdicts:
        goals.add_row(escape(verdict.what), f"[{styles[verdict.reached]}]{verdict.text}[/]")
    if outcome.verdicts:
        missed = sum(verdict.reached is False for verdict in outcome.verdicts)
        unknown = sum(verdict.reached is None for verdict in outcome.verdicts)
        console.print(goals)
        console.print(f"{len(outcome.verdicts)} goals: {missed} missed, {unknown} not measured", markup=False)
    for note in outcome.notes:
        console.print(f"note: {note}", markup=False, style="yellow")
    console.print(f"measured in {outcome.figures['seconds']:.0f} s", style="dim")
