"""`robomorph gpu-report`: what a robot's GPU kernels cost, compiled for GPUs that need not be there."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from robomorph.cli.options import add_robot_options, load_robot
from robomorph.cli.parser import names
from robomorph.errors import ArgumentError
from robomorph.paths import user_path

if TYPE_CHECKING:
    from rich.console import Console

    from robomorph.report.gpu_kernels import KernelReport, MissingKernel

_EPILOG = """\
examples:
  robomorph gpu-report iiwa14
  robomorph gpu-report hyq --dtype float64 --arch 80,90 --plot hyq.svg

Registers, spills and code size are the assembler's own figures. Occupancy follows from them and the
architecture's limits. The roofline is an estimate from makers' peak rates: nothing here was run on a GPU.
"""

_LIMITS = {"arithmetic": "a", "device memory": "m", "bus": "b"}


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "gpu-report",
        help="compile a robot's GPU kernels and show registers, spills, occupancy and bytes moved",
        description="Compiles the three partitionings of the forward-dynamics gradient in both mappings with "
        "NVRTC, which needs no GPU, and shows what they cost.",
        epilog=_EPILOG,
    )
    add_robot_options(parser, default="iiwa14")
    group = parser.add_argument_group("the report")
    group.add_argument("--dtype", choices=("float32", "float64"), default="float32")
    parser.add_list(
        "--arch",
        group=group,
        metavar="N ...",
        read=architectures,
        accepts=lambda word: word.removeprefix("sm_")[:1].isdigit(),
        help="compute capabilities such as 80,90 (default: all)",
    )
    group.add_argument(
        "--large", action="store_true", help="compile long straight-line code too, which takes minutes"
    )
    group.add_argument("--plot", metavar="FILE", type=user_path, help="write the figures as a picture (SVG)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def architectures(words: list[str]) -> tuple[int, ...]:
    from robomorph.targets.gpu.cuda.architectures import ARCHITECTURES

    known = {str(a): a for a in ARCHITECTURES}
    found = tuple(known.get(part.strip().removeprefix("sm_"), 0) for part in names(words))
    if not all(found):
        raise argparse.ArgumentTypeError(f"expected some of {','.join(known)}, found {' '.join(words)!r}")
    return found


def run(args: argparse.Namespace) -> int:
    from robomorph.cli.terminal import Steps, make_console, print_json
    from robomorph.report.gpu_kernels import gpu_report, kernel_data
    from robomorph.report.gpu_plot import report_svg
    from robomorph.targets.gpu.cuda.architectures import ARCHITECTURES

    robot, _ = load_robot(args)
    if robot.nv == 0:
        raise ArgumentError(f"robot {robot.name!r}: expected joints that move, found none")
    chosen = args.arch or ARCHITECTURES
    with Steps("compiling", 6) as steps:
        reports, missing = gpu_report(
            robot, dtype=args.dtype, architectures=chosen, compile_large=args.large, progress=steps.step
        )
    if args.plot is not None:
        title = f"{robot.name}: forward-dynamics gradient on GPUs, {args.dtype}"
        args.plot.write_text(report_svg(reports, title, chosen[-1]), encoding="utf-8")
    if args.json:
        print_json(
            {
                "robot": robot.name,
                "dtype": args.dtype,
                "kernels": [kernel_data(r) for r in reports],
                "missing": [vars(m) for m in missing],
            }
        )
        return 0
    console = make_console()
    _print_kernels(console, robot.name, args.dtype, reports)
    _print_missing(console, missing)
    _print_compiled(console, reports)
    _print_roofline(console, reports)
    if args.plot is not None:
        console.print(f"picture: {args.plot}")
    return 0


def _label(report: KernelReport) -> tuple[str, str]:
    return f"[bold]{report.partitioning.replace('_', ' ')}[/]", report.mapping


def _print_kernels(console: Console, robot: str, dtype: str, reports: list[KernelReport]) -> None:
    from robomorph.cli.terminal import make_table

    columns = (
        "partitioning",
        "mapping",
        "threads",
        "barriers",
        "steps",
        "flops",
        "flops on host",
        "bytes in",
        "bytes out",
        "launches",
        "syncs",
        "flops/byte",
    )
    table = make_table(
        f"{robot}: forward-dynamics gradient, {dtype}, per evaluation",
        columns,
        left=2,
        caption=f"at most {reports[0].barrier_limit} barriers are allowed (three per link and ten); steps: "
        "instructions one thread goes through; syncs: hand-overs between host and device",
    )
    for report in reports:
        plan, cost = report.plan, report.cost
        figures = (plan.threads, plan.barriers, plan.instructions, plan.flops, report.host_flops)
        moved = (cost.bytes_in, cost.bytes_out, cost.launches, cost.synchronisations)
        table.add_row(*_label(report), *(f"{x:,}" for x in (*figures, *moved)), f"{report.intensity:.1f}")
    console.print(table)


def _print_missing(console: Console, missing: list[MissingKernel]) -> None:
    for kernel in missing:
        name = f"{kernel.partitioning.replace('_', ' ')}, {kernel.mapping}"
        console.print(f"[bold]{name}[/]: there is no such kernel: {kernel.problem}")


def _print_compiled(console: Console, reports: list[KernelReport]) -> None:
    from robomorph.cli.terminal import make_table
    from robomorph.targets.gpu.cuda.architectures import GPUS

    gpus = {gpu.architecture: gpu.name for gpu in GPUS}
    columns = (
        "partitioning",
        "mapping",
        "compiled for",
        "registers",
        "spill stores",
        "spill loads",
        "stack",
        "shared/block",
        "code",
        "occupancy",
        "limited by",
    )
    table = make_table("compiled by NVRTC (bytes; occupancy is theoretical)", columns, left=3)
    for report in reports:
        for c in report.compiled:
            info = c.info
            figures = (
                info.registers,
                info.spill_stores,
                info.spill_loads,
                info.stack,
                report.plan.shared_bytes,
                info.code_bytes,
            )
            table.add_row(
                *_label(report),
                f"sm_{c.architecture} ({gpus[c.architecture]})",
                *(f"{x:,}" for x in figures),
                f"{c.occupancy.fraction:.0%}",
                c.occupancy.limit,
            )
        if report.problem:
            table.add_row(*_label(report), report.problem)
    console.print(table)


def _print_roofline(console: Console, reports: list[KernelReport]) -> None:
    from robomorph.cli.terminal import make_table

    names = [r.gpu.name for r in reports[0].roofline]
    table = make_table(
        "ESTIMATE, not measured: million evaluations per second that peak rates allow at most",
        ("partitioning", "mapping", *names),
        left=2,
        caption="with data from and to the host / with data that stays on the device; a: limited by "
        "arithmetic, m: by device memory, b: by the bus",
    )
    for report in reports:
        cells = [
            f"{_rate(r.per_second, r.limit)} / {_rate(r.resident_per_second, r.resident_limit)}"
            for r in report.roofline
        ]
        table.add_row(*_label(report), *cells)
    console.print(table)


def _rate(per_second: float, limit: str) -> str:
    return f"{per_second / 1e6:,.0f} {_LIMITS[limit]}"
