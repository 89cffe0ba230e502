"""`robomorph plan`: a motion that holds what a scenario asks for, at every instant."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from robomorph.planning import Plan, Scenario

_DEFAULT = "squat"
_SHOWN = 5  # rows that are not proven
_EPILOG = """\
examples:
  robomorph plan
  robomorph plan kick --cost none --plots figures
  robomorph plan squat --robot talos --solver ipopt
  robomorph plan my-motion.toml --save plan.json && robomorph check plan.json

exit codes: 0 solved, 1 not solved (the reason is printed), 2 wrong usage or bad input
"""


def add_parser(subparsers: Any) -> None:
    from robomorph.cli.options import path_text
    from robomorph.cli.outputs import HTML_HELP
    from robomorph.cli.plan_device import add_device_options

    parser = subparsers.add_parser(
        "plan",
        help="plan a motion whose constraints hold at every instant",
        description="Plans the motion of a scenario: a built-in one by name (arm, feet, kick, kick-torque, "
        "squat, squats, swing) or a TOML file (docs/planning.md). Shows sizes, times and how near each "
        "constraint comes to its bound.",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "scenario", metavar="SCENARIO", nargs="?", default=_DEFAULT, help=f"default {_DEFAULT}"
    )
    parser.add_argument(
        "--robot", metavar="NAME", help="another robot for it: a built-in table or a TOML file"
    )
    parser.add_argument("--urdf", metavar="FILE", type=path_text, help="where that robot's file is")
    parser.add_argument("--cost", metavar="NAME", help="jerk, energy, time or none (default: the scenario's)")
    parser.add_argument("--method", choices=("bernstein", "grid", "paper"), default="bernstein")
    parser.add_argument("--points", type=int, default=5, help="of an interval, for --method grid (default 5)")
    parser.add_argument("--solver", choices=("native", "ipopt"), help="default: native")
    parser.add_argument("--threads", type=int, help="at most so many")
    add_device_options(parser)
    parser.add_argument("--starts", type=int, default=1, help="first guesses to try (default 1)")
    parser.add_argument("--refine", type=int, help="pieces of every interval (default: the scenario's)")
    parser.add_argument(
        "--save",
        metavar="FILE",
        type=path_text,
        help="the plan: .json with its certificate (robomorph check), or .npz or .csv samples",
    )
    parser.add_argument("--no-proof", action="store_true", help="do not prove the plan for every instant")
    parser.add_argument("--plots", metavar="FOLDER", type=path_text, help="draw figures there")
    parser.add_argument("--html", metavar="FILE", type=path_text, help=HTML_HELP)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def run(args: argparse.Namespace) -> int:
    from pathlib import Path

    from robomorph.cli.outputs import check_outputs
    from robomorph.cli.terminal import make_console, print_json, warnings_shown
    from robomorph.planning import load_scenario
    from robomorph.planning.plan import check_ending

    check_outputs(args.save, Path(args.plots) if args.plots else None, args.html)
    if args.save:
        check_ending(Path(args.save))
    with warnings_shown() as messages:
        scenario = load_scenario(args.scenario, args.robot, args.urdf)
        motion = scenario.motion()
        if args.refine is not None:
            motion = motion.refined(args.refine)
    plan = motion.solve(
        _cost(scenario, args.cost),
        method=args.method,
        points=args.points,
        threads=args.threads,
        starts=args.starts,
        progress=not args.json,
        target=args.target,
        dtype=args.dtype,
        **({} if args.solver is None else {"solver": args.solver}),
    )
    if plan.success and not args.no_proof:
        _certify(plan)
    if args.save:
        plan.save(args.save)
    if args.plots:
        from robomorph.report.plan_plots import draw_plan

        draw_plan(plan, motion, Path(args.plots))
    if args.html:
        from robomorph.viewer.exhibit import make_exhibit

        make_exhibit(plan.robot, plan).save(args.html)
    if args.json:
        print_json({**describe(scenario, plan), "warnings": messages})
    else:
        _print(make_console(), scenario, plan)
    return 0 if plan.success else 1


def _certify(plan: Plan) -> None:
    """The second time is what the proof takes: the first also makes its programs."""
    import time

    plan.certify()
    begin = time.perf_counter()
    plan.certify()
    plan.times = {**plan.times, "certificate": time.perf_counter() - begin}


def _cost(scenario: Scenario, name: str | None) -> Any:
    if name is None:
        return scenario.cost
    return None if name == "none" else name


def describe(scenario: Scenario, plan: Plan) -> dict[str, Any]:
    """The plan as plain data."""
    from robomorph.cli.plan_device import describe_device

    sizes = plan.sizes
    return {
        "scenario": scenario.name,
        "title": scenario.title,
        "robot": plan.robot.name,
        "success": plan.success,
        "reason": plan.reason,
        "method": plan.method,
        "solver": plan.solver,
        "seconds": plan.seconds,
        "cost": plan.cost,
        "iterations": plan.iterations,
        "times_s": dict(plan.times),
        "device": describe_device(plan),
        "sizes": None if sizes is None else vars(sizes),
        "paper": dict(scenario.paper),
        "proven": None if plan.certificate is None else plan.certificate.proven,
        "not_proven": [] if plan.certificate is None else [str(proof) for proof in plan.certificate.failed],
        "margins": [vars(margin) for margin in plan.margins],
        "joints": list(plan.robot.velocity_names),
        "control": plan.control,
    }


def _print(console: Console, scenario: Scenario, plan: Plan) -> None:
    from robomorph.cli.plan_device import print_device

    console.print(scenario.title, markup=False, style="bold")
    console.print(plan.reason, markup=False, style="green" if plan.success else "red")
    _print_proof(console, plan)
    _print_sizes(console, scenario, plan)
    _print_times(console, plan)
    print_device(console, plan)
    _print_margins(console, plan)


def _print_proof(console: Console, plan: Plan) -> None:
    proof = plan.certificate
    if proof is None:
        return
    count = len(proof.proofs)
    if proof.proven:
        console.print(f"proven for every instant: all {count} rows", markup=False, style="green")
        return
    console.print(f"{len(proof.failed)} of {count} rows not proven:", markup=False, style="yellow")
    for failed in proof.failed[:_SHOWN]:
        console.print(f"  {failed}", markup=False)


def _print_sizes(console: Console, scenario: Scenario, plan: Plan) -> None:
    from robomorph.cli.terminal import make_table

    if plan.sizes is None:
        return
    table = make_table(f"{plan.robot.name}, {plan.seconds:.6g} s", ("size", "here", "the paper"))
    paper, sizes = scenario.paper, plan.sizes
    for name, here, there in (
        ("variables", sizes.variables, paper.get("variables")),
        ("rows (two-sided)", sizes.rows, None),
        ("constraints", sizes.constraints, paper.get("constraints")),
        ("nonzeros, blocks dense", sizes.nonzeros_dense, paper.get("nonzeros")),
        ("nonzeros, tree filtered", sizes.nonzeros, None),
    ):
        table.add_row(name, f"{here:,}", "" if there is None else f"{there:,}")
    console.print(table)


def _print_times(console: Console, plan: Plan) -> None:
    from robomorph.cli.terminal import make_table

    title = f"{plan.solver}, {plan.method}: {plan.iterations} iterations, cost {plan.cost:.6g}"
    table = make_table(title, ("part", "ms"))
    for name, seconds in plan.times.items():
        table.add_row(name, f"{seconds * 1e3:.2f}")
    console.print(table)


def _print_margins(console: Console, plan: Plan) -> None:
    from rich.markup import escape

    from robomorph.cli.terminal import make_table

    columns = ("constraint", "nearest", "bound", "unit", "margin", "scaled", "at s")
    table = make_table("how near each constraint comes to its bound", columns, left=4)
    for margin in plan.margins:
        table.add_row(
            *(escape(text) for text in (margin.name, margin.row, margin.bound, margin.unit)),
            f"{margin.slack:.3e}",
            f"{margin.scaled:.2e}",
            f"{margin.time:.4g}",
        )
    console.print(table)
