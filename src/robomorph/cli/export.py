"""`robomorph export`: kernels of a robot as source code for a project of your own."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from robomorph.cli.options import add_robot_options, load_robot, names
from robomorph.cli.rtl_options import ABOUT_DEFAULTS, add_design_options

if TYPE_CHECKING:
    from robomorph.gpu.export import GpuPackage
    from robomorph.targets.cpp.package import CppPackage

_EPILOG = """\
examples:
  robomorph export iiwa14 -o iiwa14_kernels
  robomorph export arm.urdf --functions inverse_dynamics,jacobian:tool0 -o arm_kernels
  robomorph export iiwa14 --target cuda --functions forward_dynamics_gradient -o iiwa14_cuda
  robomorph export hyq --floating-base --functions forward_dynamics_gradient=qdd+dqdd_dq -o hyq_kernels
  robomorph export iiwa14 --target rtl --interval 8 -o iiwa14_rtl

The folder gets header-only C++17, a C interface, a CMake package, an example, a self-check and a README;
for a GPU (--target cuda, opencl) kernels in both mappings, an example that checks them, a CMake file and
a README; for a chip (--target rtl) SystemVerilog, a testbench with vectors, a Makefile (lint, simulate,
synthesise), drawings, a register map and a README, one folder per function if there are several.
"""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "export",
        help="write kernels as C++, CUDA, OpenCL or SystemVerilog for your own project",
        description="Writes the kernels of a robot as C++ without dependencies, allocation or exceptions, as "
        "CUDA or OpenCL, or as a hardware accelerator in SystemVerilog.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_robot_options(parser)
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="folder to write to")
    group = parser.add_argument_group("the code")
    group.add_argument(
        "--target", choices=("cpp", "cuda", "opencl", "rtl"), default="cpp", help="language (default cpp)"
    )
    group.add_argument(
        "--functions",
        metavar="F,F",
        type=names,
        help="algorithm[:frame][=output+output], separated by commas (default: all, kinematics for --frames; "
        "rtl: forward_dynamics_gradient)",
    )
    group.add_argument(
        "--frames", metavar="LINK,LINK", type=names, help="add kinematics (poses, Jacobians ...) of these"
    )
    group.add_argument(
        "--f-ext",
        metavar="LINK,LINK",
        type=names,
        help="links with external wrenches as arguments of the dynamics; 'all' for every link",
    )
    group.add_argument(
        "--dtype",
        choices=("both", "float64", "float32"),
        help="number formats of the C interface; the C++ templates take both (default both; not for rtl)",
    )
    group.add_argument("--name", help="namespace and package (default: the robot's name; not for rtl)")
    group.add_argument(
        "--force", action="store_true", help="write even into a folder that holds other things"
    )
    add_design_options(parser.add_argument_group("target rtl", ABOUT_DEFAULTS))
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(args: argparse.Namespace) -> int:
    from robomorph.cli.rtl_export import export_designs, refuse_design_options
    from robomorph.export import DTYPES, FunctionSpec, default_functions, export

    if args.target == "rtl":
        return export_designs(load_robot(args)[0], args)
    refuse_design_options(args)
    robot, _ = load_robot(args)
    frames = args.frames or []
    if args.functions:
        specs = [FunctionSpec.parse(text) for text in args.functions]
        specs += [spec for spec in default_functions(frames) if spec.frame]
    else:
        specs = default_functions(frames)
    package = export(
        robot,
        args.output,
        target=args.target,
        functions=specs,
        dtypes=DTYPES if args.dtype in (None, "both") else (args.dtype,),
        name=args.name,
        f_ext=True if args.f_ext == ["all"] else args.f_ext or False,
        force=args.force,
    )
    _show(args, package)
    return 0


def _show(args: argparse.Namespace, package: CppPackage | GpuPackage) -> None:
    from robomorph.cli.terminal import make_console, make_table, print_json
    from robomorph.targets.cpp.spelling import extents

    if args.json:
        functions = {f.name: {"operations": f.program.cost()} for f in package.functions}
        print_json({"folder": args.output, "name": package.name, "functions": functions})
        return
    table = make_table(
        f"{package.name}: kernels in {args.output}",
        ("function", "arguments", "results", "operations"),
        left=3,
    )
    for f in package.functions:
        sides = (f.program.inputs, f.program.outputs)
        ports = [", ".join(p.name + extents(p.shape) for p in side).replace("[", "\\[") for side in sides]
        table.add_row(f"[bold]{f.name}[/]", *ports, f"{f.program.cost():,}")
    console = make_console()
    console.print(table)
    console.print("README.md in that folder says how to build, check and call them.", style="dim")
