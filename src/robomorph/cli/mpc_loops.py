"""Which loops `robomorph mpc` simulates: those of a robot, or the one of a problem's file."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from robomorph.errors import ArgumentError

if TYPE_CHECKING:
    from robomorph.mpc.studies.loops import LoopCase


def loops_of(args: argparse.Namespace) -> tuple[list[LoopCase], list[str]]:
    """The loops, and the warnings about the robot (which are shown too)."""
    if not (args.rate > 0.0 and args.rate < float("inf")):
        raise ArgumentError(f"--rate: expected ticks a second above 0, found {args.rate:g}")
    if args.problem is not None:
        return _of_file(args)
    from robomorph.cli.options import load_robot
    from robomorph.mpc.studies.loops import reach_case, target_case

    robot, messages = load_robot(args)
    given = {"force": args.push, "seconds": args.seconds}
    cases = [make(robot, args.horizon, args.dt, **given) for make in (reach_case, target_case)]
    return cases, messages


def _of_file(args: argparse.Namespace) -> tuple[list[LoopCase], list[str]]:
    from robomorph.cli.terminal import warnings_shown
    from robomorph.mpc.problem_file import load_problem
    from robomorph.mpc.studies.loops import SECONDS, LoopCase, pushes

    with warnings_shown() as messages:
        file = load_problem(args.problem)
    pushed = pushes(file.problem.robot, file.q, args.push)
    case = LoopCase(
        name=file.name.removesuffix(".toml"),
        about=file.title,
        problem=file.problem,
        start=file.q,
        reference=None,
        pushes=pushed,
        unit="rad, m",
        speed=file.qd,
        seconds=args.seconds or SECONDS,
    )
    return [case], messages
