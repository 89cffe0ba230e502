"""What `robomorph plan` says about a device that evaluated functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from robomorph.planning import Plan


def add_device_options(parser: Any) -> None:
    parser.add_argument(
        "--target",
        choices=("cpu", "opencl", "cuda"),
        default="cpu",
        help="where functions are evaluated (default cpu)",
    )
    parser.add_argument(
        "--dtype", choices=("float64", "float32"), default="float64", help="precision there (default float64)"
    )


def describe_device(plan: Plan) -> dict[str, Any] | None:
    """As plain data."""
    if plan.device is None:
        return None
    jobs = {name: vars(traffic) for name, traffic in plan.device.jobs.items()}
    return {**vars(plan.device), "jobs": jobs, "split_s": plan.split}


def print_device(console: Console, plan: Plan) -> None:
    from robomorph.cli.terminal import make_table

    device = plan.device
    if device is None:
        return
    columns = ("functions", "calls", "ms", "kB in", "kB out")
    table = make_table(f"{device.target}, {device.dtype}: {device.name}", columns)
    for name, traffic in (*device.jobs.items(), ("in all", device.total)):
        table.add_row(
            name,
            str(traffic.calls),
            f"{traffic.seconds * 1e3:.2f}",
            f"{traffic.bytes_in / 1e3:.1f}",
            f"{traffic.bytes_out / 1e3:.1f}",
        )
    console.print(table)
    parts = plan.split
    whole = sum(parts.values()) or 1.0
    table = make_table("the search by part", ("part", "ms", "share"))
    for name, seconds in parts.items():
        table.add_row(name, f"{seconds * 1e3:.2f}", f"{seconds / whole:.1%}")
    console.print(table)
