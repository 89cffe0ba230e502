"""`robomorph mpc formats`: which numbers suffice for the gradient inside the controller."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from robomorph.mpc.studies.format_loops import LoopRun
    from robomorph.mpc.studies.formats import FormatStudy

DESCRIPTION = """\
Which number formats suffice for the gradient of the dynamics inside the controller (robomorphic computing,
figure 12): cost against iterations with the gradient in float64, float32 and fixed point, and with none at
all, on an easy reach as the papers' is and on hard problems from fixed seeds; with torques as controls, as in
the papers, and with accelerations as controls, as the controller has them; then in closed loop. All else is
in float64, and fixed point is that of target 'fixed', equal to the chips' to the bit.
"""
EPILOG = """\
examples:
  robomorph mpc formats
  robomorph mpc formats iiwa14 --plots figures --json > formats.json
  robomorph mpc formats hyq --formats Q16.16,Q14.6,16bit,none --problems 20 --iterations 20
"""
_WITHIN = (0.01, 0.1)  # of float64's cost: what a table counts


def add_arguments(parser: Any) -> None:
    """The options of the study, on a parser of its own."""
    from robomorph.cli.parser import names

    parser.add_argument("robot", metavar="ROBOT", nargs="?", default="iiwa14", help="name or URDF file")
    parser.add_list(
        "--formats",
        metavar="NAME,NAME,...",
        read=names,
        help="float32, Q14.6 (14 whole bits, the sign's among them, and 6 behind the point), 16bit (words of "
        "16 bits, every signal with its own point), none (default: a range of them)",
    )
    parser.add_argument("--horizon", type=int, default=100, help="steps (default 100)")
    parser.add_argument("--iterations", type=int, default=60, help="of a plan (default 60)")
    parser.add_argument("--problems", type=int, default=10, help="of every hard family (default 10)")
    parser.add_argument("--no-loop", action="store_true", help="leave the closed loops out")
    parser.add_argument("--plots", metavar="FOLDER", help="draw the curves there")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def run(args: argparse.Namespace) -> int:
    from pathlib import Path

    from robomorph.cli.outputs import check_outputs
    from robomorph.cli.terminal import Steps, make_console, print_json, warnings_shown
    from robomorph.given.numbers import whole_number
    from robomorph.loading import load
    from robomorph.mpc.studies.documents import format_data
    from robomorph.mpc.studies.format_loops import format_loops
    from robomorph.mpc.studies.formats import FORMATS, format_study, steps

    check_outputs(None, Path(args.plots) if args.plots else None)
    horizon = whole_number("--horizon", args.horizon, 2, 10_000)
    iterations = whole_number("--iterations", args.iterations, 1, 10_000)
    count = whole_number("--problems", args.problems, 1, 10_000)
    formats = tuple(args.formats or FORMATS)
    with warnings_shown():
        robot = load(args.robot)
    loops: list[LoopRun] = []
    with Steps("formats", steps(formats) * (1 if args.no_loop else 2)) as progress:
        study = format_study(
            robot, formats, horizon=horizon, iterations=iterations, count=count, tell=progress.step
        )
        if not args.no_loop:
            loops = format_loops(robot, study.formats, tell=progress.step)
    if args.plots:
        from robomorph.report.format_plots import format_figures
        from robomorph.report.png import write_figures

        write_figures(format_figures(study), Path(args.plots))
    if args.json:
        print_json(format_data(study, loops))
    else:
        print_study(make_console(), study, loops)
    return 0


def print_study(console: Console, study: FormatStudy, loops: list[LoopRun]) -> None:
    from robomorph.mpc.studies.format_verdict import verdict
    from robomorph.mpc.studies.formats import FORMS

    counts = {
        family.name: len(study.ratios(FORMS[0].name, study.formats[0], family.name))
        for family in study.families
    }
    console.print(
        f"{study.robot}: {study.horizon} steps, {study.iterations} iterations; cost beyond that of float64 "
        "in the same form after as many",
        style="bold",
    )
    for family in study.families:
        console.print(f"  {family.name}: {family.words} ({counts[family.name]})", style="dim")
    for form in FORMS:
        console.print(_table(study, loops, form.name, form.words))
    for line in verdict(study, loops):
        console.print(f"- {line}")


def _table(study: FormatStudy, loops: list[LoopRun], form: str, words: str) -> Any:
    from robomorph.cli.terminal import make_table

    hard = [family.name for family in study.families[1:]]
    columns = [
        "gradient",
        "easy",
        *(f"{name}: median" for name in hard),
        "worst",
        "within 1%",
        "within 10%",
        "saturated",
    ]
    names = list(dict.fromkeys(run.scenario for run in loops))
    columns += [f"loop, {name}" for name in names]
    table = make_table(f"{form}: {words}", columns, optional=[f"{name}: median" for name in hard])
    for gradient in study.formats:
        table.add_row(*_row(study, loops, form, gradient, names))
    return table


def _row(study: FormatStudy, loops: list[LoopRun], form: str, gradient: str, names: list[str]) -> list[str]:
    from statistics import median

    from robomorph.mpc.studies.format_verdict import loop_ratio

    hard = [family.name for family in study.families[1:]]
    ratios = {name: study.ratios(form, gradient, name) for name in hard}
    every = [ratio for name in hard for ratio in ratios[name]]
    worst = max(hard, key=lambda name: max(ratios[name]))
    share = sum(study.saturated(form, gradient, name) for name in hard) / len(hard)
    return [
        gradient,
        excess(study.ratios(form, gradient, study.families[0].name)[0]),
        *(excess(median(ratios[name])) for name in hard),
        f"{excess(max(ratios[worst]))} ({worst})",
        *(f"{sum(ratio <= 1.0 + part for ratio in every)} of {len(every)}" for part in _WITHIN),
        f"{100.0 * share:.1f}%",
        *(excess(loop_ratio(loops, form, gradient, name)) for name in names),
    ]


def excess(ratio: float) -> str:
    """By how much a cost is beyond another one."""
    if ratio == float("inf"):
        return "fails"
    if ratio >= 2.0:
        return f"{ratio:.3g}x"
    if abs(ratio - 1.0) < 1e-9:
        return "0"
    return f"{ratio - 1.0:+.1e}"
