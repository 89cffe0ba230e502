"""`robomorph export --target rtl`: a folder per design."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robomorph.cli.ik_chip_options import (
    QUICK_IK,
    given_chip_options,
    make_robot_chip,
    refuse_chip_options,
    refuse_other_options,
)
from robomorph.cli.rtl_options import PAPERS_FUNCTION, design_options, flag, given_options

if TYPE_CHECKING:
    from robomorph.export import FunctionSpec
    from robomorph.robot import Robot
    from robomorph.targets.rtl.accelerator import Accelerator


def export_designs(robot: Robot, args: argparse.Namespace) -> int:
    """Write one design, or several, each into a folder of its own."""
    from robomorph.cli.terminal import make_console, print_json

    _refuse_software_options(args)
    specs = _functions(args)
    _check_wrenches(args, specs)
    _check_design_options(args, specs)
    designs = {spec.name: _writer(robot, args, spec) for spec in specs}
    made = {}
    for name, write in designs.items():
        folder = Path(args.output) / name if len(designs) > 1 else Path(args.output)
        made[str(folder)] = write(folder)
    if args.json:
        print_json({"designs": made})
    else:
        for place, about in made.items():
            make_console().print(f"{place}: {about['top']}, README.md says how to use it", markup=False)
    return 0


def refuse_design_options(args: argparse.Namespace) -> None:
    """Software has no design: options about one are a mistake, not something to pass over."""
    from robomorph.errors import ArgumentError

    given = ", ".join(flag(name) for name in [*given_options(args), *given_chip_options(args)])
    if given:
        raise ArgumentError(f"{given}: only for --target rtl, found --target {args.target}")


def _refuse_software_options(args: argparse.Namespace) -> None:
    from robomorph.errors import ArgumentError

    if args.dtype is not None:
        raise ArgumentError(
            "--dtype: a chip computes in fixed point: choose its numbers by --format or --bits, and floats "
            "on its streams by --boundary float32"
        )
    if args.name is not None:
        raise ArgumentError(
            "--name: designs are named after the robot and the function: leave it out, -o names the folder"
        )


def _functions(args: argparse.Namespace) -> list[FunctionSpec]:
    """What was asked for, or the papers' function; kinematics of --frames as well."""
    from robomorph.export import FunctionSpec, check_names, frame_functions

    specs = [FunctionSpec.parse(text) for text in args.functions or [PAPERS_FUNCTION]]
    specs += frame_functions(args.frames or [])
    check_names(specs)
    return specs


def _takes_wrenches(spec: FunctionSpec) -> bool:
    from robomorph.algorithms.registry import ALGORITHMS

    return spec.algorithm in ALGORITHMS and ALGORITHMS[spec.algorithm].wrenches


def _check_wrenches(args: argparse.Namespace, specs: list[FunctionSpec]) -> None:
    from robomorph.errors import ArgumentError

    if args.f_ext and not any(map(_takes_wrenches, specs)):
        names = ", ".join(spec.algorithm for spec in specs)
        raise ArgumentError(f"--f-ext: none of {names} takes external forces: leave it out")


def _check_design_options(args: argparse.Namespace, specs: list[FunctionSpec]) -> None:
    """Those of the inverse-kinematics chip need it, those of the others one of them; --units cannot be for
    both."""
    from robomorph.errors import ArgumentError

    chips = [spec for spec in specs if spec.algorithm == QUICK_IK]
    others = [spec.algorithm for spec in specs if spec.algorithm != QUICK_IK]
    if not chips:
        refuse_chip_options(args, f"--functions {', '.join(others)}")
    elif not others:
        refuse_other_options(args)
    elif "units" in given_options(args):
        raise ArgumentError(
            f"--units: search units of {QUICK_IK}, link units of {', '.join(others)}: export them apart"
        )
    for spec in chips:
        if spec.outputs is not None:
            raise ArgumentError(
                f"--functions {QUICK_IK}: expected no outputs, found {'+'.join(spec.outputs)}"
            )


def _writer(robot: Robot, args: argparse.Namespace, spec: FunctionSpec) -> Callable[[Path], dict[str, Any]]:
    """What writes a design, which is made now, into a folder, and gives its manifest."""
    from robomorph.export.rtl import export_accelerator, manifest

    if spec.algorithm == QUICK_IK:
        return _chip_writer(robot, args, spec)
    accelerator = _design(robot, args, spec)

    def write(folder: Path) -> dict[str, Any]:
        export_accelerator(accelerator, folder, force=args.force)
        return manifest(accelerator)

    return write


def _chip_writer(
    robot: Robot, args: argparse.Namespace, spec: FunctionSpec
) -> Callable[[Path], dict[str, Any]]:
    from robomorph.cli.ik_chip import frame_of
    from robomorph.export.ik_chip import chip_manifest, export_chip

    chip = make_robot_chip(robot, args, frame_of(robot, spec.frame))

    def write(folder: Path) -> dict[str, Any]:
        export_chip(robot, chip, folder, force=args.force)
        return chip_manifest(chip)

    return write


def _design(robot: Robot, args: argparse.Namespace, spec: FunctionSpec) -> Accelerator:
    from robomorph.compiler.chip import RobotChip
    from robomorph.compiler.specialise import make_request
    from robomorph.targets.rtl.accelerator import make_accelerator

    wrenches = (True if args.f_ext == ["all"] else args.f_ext or False) if _takes_wrenches(spec) else False
    request = make_request(
        robot.model,
        spec.algorithm,
        outputs=spec.outputs,
        frame=spec.frame,
        f_ext=wrenches,
        derivative=spec.derivative,
    )
    return make_accelerator(
        RobotChip(robot.specialiser, request), design_options(args, spec.function, spec.outputs)
    )
