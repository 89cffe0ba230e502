"""`robomorph rtl --algorithm quick_ik`: a chip that solves inverse kinematics, checked and measured."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robomorph.cli.ik_chip_options import QUICK_IK, make_robot_chip, modes_asked, refuse_other_options
from robomorph.cli.options import load_robot

if TYPE_CHECKING:
    from robomorph.accelerators.ik.make import IkChip
    from robomorph.robot import Robot

_CAP = 1000  # iterations of a solve, unless it is said
_OTHERS = ("sweep", "space", "plots")  # of what to do, for the other designs


def run_chip(args: argparse.Namespace, check_files: Callable[[argparse.Namespace], None]) -> int:
    """The command, from options that were read to the exit code; `check_files` refuses places that cannot be
    written, once all else is known to be right."""
    from robomorph.cli.ik_chip_report import print_chip_report
    from robomorph.cli.terminal import print_json
    from robomorph.report.synthesis import load_results, save_results, synthesis_records

    _check_options(args)
    robot, _ = load_robot(args)
    chosen = args.frame is None
    frame = frame_of(robot, args.frame)
    chip = make_robot_chip(robot, args, frame)
    tolerance = _tolerance(args, chip)
    earlier = load_results([Path(path) for path in args.results])
    check_files(args)
    report = _about(chip, chosen) | _gather(args, robot, chip, tolerance)
    simulated = report.get("simulated", {})
    report["passed"] = not report["lint"] and all(
        simulated.get(key, True) for key in ("exact", "cycles_exact", "true")
    )
    made = synthesis_records(report)
    if args.save:
        save_results(made, Path(args.save))
    if made or earlier:
        report["results"] = [*made, *earlier]
    if args.json:
        print_json(report)
    else:
        print_chip_report(report)
    return 0 if report["passed"] else 1


def frame_of(robot: Robot, named: str | None) -> str:
    """The frame to solve for: as named, or the end of a robot that has one."""
    from robomorph.ik.problem import only_tip

    return only_tip(robot) if named is None else named


def _check_options(args: argparse.Namespace) -> None:
    from robomorph.errors import ArgumentError
    from robomorph.targets.rtl.ik.stream_words import CAP_BITS

    refuse_other_options(args)
    given = [f"--{name}" for name in _OTHERS if getattr(args, name)]
    if given:
        raise ArgumentError(
            f"{', '.join(given)}: not for the inverse-kinematics chip, {QUICK_IK}: leave it out"
        )
    modes_asked(args)
    cap = getattr(args, "max_iterations", _CAP)
    if not 1 <= cap < 1 << CAP_BITS:
        raise ArgumentError(f"--max-iterations: expected 1 to {(1 << CAP_BITS) - 1:,}, found {cap}")


def _tolerance(args: argparse.Namespace, chip: IkChip) -> float:
    from robomorph.accelerators.ik.problems import check_tolerance
    from robomorph.export.ik_chip_vectors import default_tolerance

    tolerance = float(getattr(args, "tolerance", default_tolerance(chip)))
    check_tolerance(chip, tolerance)
    return tolerance


def _about(chip: IkChip, chosen: bool) -> dict[str, Any]:
    w, k = chip.plan.widths, chip.plan.knobs
    return {
        "robot": chip.chain.name,
        "function": QUICK_IK,
        "frame": chip.chain.frame,
        "frame_chosen": chosen,
        "numbers": f"{w.unit}/{w.serial} bits, F = {k.units}, K = {k.speculations}, {k.problems} in flight",
    }


def _gather(args: argparse.Namespace, robot: Robot, chip: IkChip, tolerance: float) -> dict[str, Any]:
    """Everything asked for, as plain data."""
    from dataclasses import asdict

    from robomorph.cli import ik_chip_parts as parts
    from robomorph.cli.terminal import Steps
    from robomorph.export.ik_chip import export_chip
    from robomorph.report.rtl_parts import synthesis
    from robomorph.targets.rtl.ik.chip import IkDesign
    from robomorph.targets.rtl.simulate import lint

    design, modes = IkDesign(chip.plan), modes_asked(args)
    cap = getattr(args, "max_iterations", _CAP)
    wishes = {"states": args.states, "tolerance": tolerance, "cap": cap}
    jobs: list[tuple[str, str, Callable[[], Any]]] = [
        ("chain", "chain", lambda: parts.chain(chip)),
        ("words", "words", lambda: parts.words(chip)),
        ("schedule", "estimates", lambda: parts.estimates(design, modes)),
        ("lint", "lint", lambda: lint(design)),
    ]
    if not args.no_simulate:
        jobs.append(
            ("build and simulate", "simulated", lambda: parts.simulated(robot, design, chip, modes, **wishes))
        )
    for name in args.synthesise:
        jobs.append((f"synthesis: {name}", f"synthesis_{name}", synthesis(design, name, args.liberty)))
    if args.output:
        jobs.append(("export", "files", lambda: list(map(str, export_chip(robot, chip, Path(args.output))))))
    # What a zero among the knobs stands for is said as well.
    there = {"evaluators": chip.plan.knobs.judged, "fold": design.timing.gap}
    report: dict[str, Any] = {"knobs": asdict(chip.plan.knobs) | there}
    with Steps("rtl", len(jobs)) as steps:
        for title, key, job in jobs:
            steps.step(title)
            report[key] = job()
    return report
