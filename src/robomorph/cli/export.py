"""`robomorph export`: kernels of a robot as source code for a project of your own."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from robomorph.cli.compile import is_algorithm
from robomorph.cli.ik_chip_options import ABOUT_CHIP, QUICK_IK, add_chip_options
from robomorph.cli.options import add_robot_options, load_robot, path_text
from robomorph.cli.parser import names
from robomorph.cli.rtl_options import ABOUT_DEFAULTS, add_design_options
from robomorph.errors import ArgumentError

if TYPE_CHECKING:
    from robomorph.export.gpu import GpuPackage
    from robomorph.targets.casadi.sources import CasadiPackage
    from robomorph.targets.cpp.package import CppPackage

_EPILOG = """\
examples:
  robomorph export iiwa14 -o iiwa14_kernels
  robomorph export arm.urdf --functions inverse_dynamics,jacobian:tool0 -o arm_kernels
  robomorph export iiwa14 --target cuda --functions forward_dynamics_gradient -o iiwa14_cuda
  robomorph export hyq --floating-base --functions forward_dynamics_gradient=qdd+dqdd_dq -o hyq_kernels
  robomorph export iiwa14 --target casadi --functions forward_dynamics -o iiwa14_casadi
  robomorph export iiwa14 --mpc reach -o iiwa14_controller
  robomorph export iiwa14 --target rtl --interval 8 -o iiwa14_rtl
  robomorph export iiwa14 --target rtl --functions quick_ik:lbr_iiwa_link_7 -o iiwa14_ik_chip

The folder gets header-only C++17, a C interface, a CMake package, an example, a self-check and a README
(with --mpc also a model predictive controller, a check of its plans and a control loop);
for a GPU (--target cuda, opencl) kernels in both mappings, an example that checks them, a CMake file and
a README; for CasADi (--target casadi) the sources of a shared library with Jacobians and Hessians, a check,
an example and a README; for a chip (--target rtl) SystemVerilog, a testbench with vectors, a Makefile
(lint, simulate, synthesise), drawings, a register map and a README, one folder per function if there are
several.
"""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "export",
        help="write kernels as C++, CUDA, OpenCL or SystemVerilog for your own project, or for CasADi",
        description="Writes the kernels of a robot as C++ without dependencies, allocation or exceptions, as "
        "CUDA or OpenCL, or as a hardware accelerator in SystemVerilog.",
        epilog=_EPILOG,
    )
    add_robot_options(parser)
    parser.add_argument(
        "-o", "--output", metavar="DIR", type=path_text, required=True, help="folder to write to"
    )
    group = parser.add_argument_group("the code")
    group.add_argument(
        "--target",
        choices=("cpp", "cuda", "opencl", "casadi", "rtl"),
        default="cpp",
        help="language (default cpp)",
    )
    _add_contents(parser, group)
    group.add_argument(
        "--derivatives",
        type=int,
        choices=(0, 1, 2),
        help="target casadi: highest order of derivatives (default 2, exact Hessians)",
    )
    group.add_argument(
        "--mpc",
        metavar="PROBLEM",
        type=path_text,
        help="add a controller for this problem, a TOML file or a built-in name (docs/mpc.md): header-only, "
        "without allocation; only for cpp, by default with --functions forward_dynamics and --dtype float64",
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
    about = ABOUT_CHIP.replace("--algorithm", "--functions")
    add_chip_options(parser.add_argument_group("target rtl, the inverse-kinematics chip", about))
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def _add_contents(parser: Any, group: Any) -> None:
    """What is exported."""
    parser.add_list(
        "--functions",
        group=group,
        metavar="FUNCTION ...",
        read=names,
        accepts=_is_function,
        help="algorithm[.vjp|.jvp|.hvp|.second][:frame][=output+output], separated by commas or spaces "
        f"(default: all, kinematics for --frames; rtl: forward_dynamics_gradient); rtl also: "
        f"{QUICK_IK}[:frame], inverse kinematics",
    )
    parser.add_list(
        "--frames",
        group=group,
        metavar="FRAME ...",
        read=names,
        help="add what is about a frame, such as forward kinematics and Jacobian, for each of these links "
        "or tool frames (default, without --functions: those of --tool-frame)",
    )
    parser.add_list(
        "--f-ext",
        group=group,
        metavar="LINK ...",
        read=names,
        help="links with external wrenches as arguments of the dynamics; 'all' for every link",
    )


def _is_function(word: str) -> bool:
    parts = [name for name in names([word]) if name.partition(":")[0] != QUICK_IK]
    return not parts or is_algorithm(",".join(parts))


def run(args: argparse.Namespace) -> int:
    from robomorph.cli.rtl_export import export_designs, refuse_design_options
    from robomorph.cli.terminal import warnings_shown
    from robomorph.export import DTYPES, FunctionSpec, default_functions, export, frame_functions

    if args.target == "rtl":
        if args.mpc is not None:
            raise ArgumentError("--mpc: a controller is exported as C++: expected --target cpp, found rtl")
        return export_designs(load_robot(args)[0], args)
    refuse_design_options(args)
    if args.derivatives is not None and args.target != "casadi":
        raise ArgumentError(
            f"--derivatives: only CasADi asks for them: expected --target casadi, found {args.target}"
        )
    robot, _ = load_robot(args)
    frames = args.frames or []
    if args.functions:
        _refuse_chip(args)
        specs = [FunctionSpec.parse(text) for text in args.functions] + frame_functions(frames)
    elif args.mpc is not None:
        specs = frame_functions(frames)
    else:
        frames = frames or [name for name, _ in args.tool_frame or []]
        specs = default_functions(frames, args.target)
    with warnings_shown():
        package = export(
            robot,
            args.output,
            target=args.target,
            functions=specs,
            dtypes=None if args.dtype is None else DTYPES if args.dtype == "both" else (args.dtype,),
            name=args.name,
            f_ext=True if args.f_ext == ["all"] else args.f_ext or False,
            force=args.force,
            mpc=args.mpc,
            derivatives=2 if args.derivatives is None else args.derivatives,
        )
    _show(args, package)
    return 0


def _refuse_chip(args: argparse.Namespace) -> None:
    if any(text.partition("=")[0].partition(":")[0].strip() == QUICK_IK for text in args.functions):
        raise ArgumentError(
            f"--functions {QUICK_IK}: it is a chip: expected --target rtl, found {args.target}"
        )


def _show(args: argparse.Namespace, package: CppPackage | GpuPackage | CasadiPackage) -> None:
    from robomorph.cli.terminal import make_console, make_table, print_json
    from robomorph.targets.cpp.spelling import extents

    if args.json:
        functions = {f.name: {"operations": f.program.cost()} for f in package.functions}
        about = {"folder": args.output, "name": package.name, "functions": functions}
        print_json({**about, "left_out": dict(package.left_out)})
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
