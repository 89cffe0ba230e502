"""What `robomorph compile` shows: programs, how far off they are, what a call takes; or the same as JSON."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from robomorph.cli.timing import FirstGradient
    from robomorph.robot import Robot
    from robomorph.runtime.kernel import KernelStats
    from robomorph.verify.verdict import Verdict

BATCH = 128


@dataclass(frozen=True)
class Row:
    """One algorithm, or a derivative: its program, its compile times, its accuracy and speed."""

    name: str
    stats: KernelStats
    verdict: Verdict
    single: float  # seconds per call
    batch: float  # seconds per call of BATCH evaluations
    threads: int  # that the batch was worth, of those allowed; one call is one thread's work


def most_threads(args: argparse.Namespace) -> int:
    """How many threads a call may use."""
    from robomorph.runtime import get_default_threads

    return int(args.threads or get_default_threads())


def as_data(
    robot: Robot, args: argparse.Namespace, rows: list[Row], first: FirstGradient | None, frame: str
) -> dict[str, Any]:
    algorithms = {
        row.name: {
            **row.stats.__dict__,
            "checked_against": row.verdict.checked_against,
            "error_vs_interpreter": row.verdict.interpreter,
            "error_vs_finite_differences": row.verdict.independent,
            "passed": row.verdict.passed,
            "seconds_single": row.single,
            f"seconds_batch_{BATCH}": row.batch,
            f"threads_batch_{BATCH}": row.threads,
        }
        for row in rows
    }
    return {
        "robot": robot.name,
        "nq": robot.nq,
        "nv": robot.nv,
        "dtype": args.dtype,
        "frame": frame,
        "threads": most_threads(args),
        "algorithms": algorithms,
        "load_to_first_gradient_seconds": first and first._asdict(),
    }


def print_robot(console: Console, robot: Robot) -> None:
    from rich.markup import escape

    mass = sum(body.inertia.mass for body in robot.model.bodies)
    console.print(
        f"[bold]{escape(robot.name)}[/]: {len(robot.model.bodies)} moving joints, "
        f"nq = {robot.nq}, nv = {robot.nv}, {mass:.4g} kg in motion"
    )


def print_tables(
    console: Console, args: argparse.Namespace, rows: list[Row], first: FirstGradient | None, frame: str
) -> None:
    from rich.markup import escape

    from robomorph.verify.report import STATES
    from robomorph.verify.verdict import ALLOWED

    _print_programs(console, rows)
    _print_accuracy(console, rows, args.dtype)
    allowed = ALLOWED[args.dtype]
    threads = "1 thread" if most_threads(args) == 1 else f"{most_threads(args)} threads"
    console.print(
        f"[dim]Kinematics are those of {escape(frame)!r}. Errors are relative, over {STATES} random "
        f"states, single and batched; allowed: {allowed.interpreter:g} from the interpreter, "
        f"{allowed.textbook:g} from textbook formulas (more where a badly conditioned mass matrix is "
        f"inverted), {allowed.differences:g} from finite differences. Times: best of several rounds, "
        f"arguments and results in place; one call on one thread, batches on at most {threads}, as many as "
        "'threads' says.[/]"
    )
    if first is not None:
        console.print(
            f"from load to the first gradient (forward_dynamics_gradient, after import): nothing cached "
            f"[bold]{first.nothing_cached:.3f} s[/], cached [bold]{first.cached:.3f} s[/]"
        )
    _print_conclusion(console, rows)


def _print_conclusion(console: Console, rows: list[Row]) -> None:
    """Whether all checks passed, and which kernels have no yardstick but the interpreter."""
    failed = [row.name for row in rows if not row.verdict.passed]
    alone = [row.name for row in rows if row.verdict.independent is None and row.verdict.distrust is None]
    if failed:
        console.print(f"[bold red]{len(failed)} of {len(rows)} checks failed:[/] {', '.join(failed)}")
    elif alone:
        console.print(f"[bold green]all {len(rows)} kernels agree with what they were checked against[/]")
    else:
        console.print(
            f"[bold green]all {len(rows)} kernels agree with the interpreter and the differences[/]"
        )
    for row in rows:
        if row.verdict.distrust is not None:
            console.print(f"[yellow]{row.name}: differences are not trusted:[/] {row.verdict.distrust}")
    if alone:
        console.print(f"[yellow]checked against the interpreter only:[/] {', '.join(alone)}")


def print_refused(console: Console, refused: dict[str, str]) -> None:
    """What the robot cannot have, and why: each reason once, though it names what it refuses."""
    named: dict[str, list[str]] = {}
    for name, why in refused.items():
        named.setdefault(why.partition(f": {name} ")[2] or why, []).append(name)
    for reason, which in named.items():
        console.print(f"refused: {', '.join(which)}: {reason}", markup=False, style="yellow")


def _print_programs(console: Console, rows: list[Row]) -> None:
    from robomorph.cli.terminal import make_table

    columns = ("algorithm", "formulation", "operations", "mul", "add", "fused", "sin/cos", "1/x", "depth")
    rarely_needed = ("nonzeros", "1/x", "sin/cos", "add", "mul", "fused", "depth", "compile (s)")
    table = make_table("programs", (*columns, "nonzeros", "compile (s)"), left=2, optional=rarely_needed)
    for row in rows:
        stats, ops = row.stats, row.stats.operations
        others = [_candidate(n, cost) for n, cost in stats.candidates.items() if n != stats.formulation]
        choice = stats.formulation + (f" ({', '.join(others)})" if others else "")
        count = [sum(ops.get(n, 0) for n in group) for group in _GROUPS]
        seconds = sum(stats.compile_seconds.values())
        table.add_row(
            row.name,
            choice,
            f"{stats.flops:,}",
            *(f"{n:,}" for n in count),
            str(stats.depth),
            str(sum(stats.nonzeros.values())),
            "cached" if stats.from_cache else f"{seconds:.2f}",
        )
    table.caption = (
        "operations: a fused multiply-add counts two; in brackets, formulations that would cost more"
    )
    console.print(table)


_GROUPS = (("mul",), ("add", "sub", "neg"), ("fma", "fms", "fnma"), ("sin", "cos"), ("recip",))


def _candidate(name: str, cost: int | None) -> str:
    return f"{name}: far longer" if cost is None else f"{name}: {cost:,}"


def _print_accuracy(console: Console, rows: list[Row], dtype: str) -> None:
    from robomorph.cli.terminal import make_table

    columns = ("algorithm", "interpreter", "differences", "check", "one call", f"batch {BATCH}", "threads")
    table = make_table(
        f"errors against interpreter and differences, time per call ({dtype})",
        (*columns, "per evaluation"),
        optional=("check", "per evaluation"),
    )
    for row in rows:
        verdict = row.verdict
        nothing = "-" if verdict.distrust is None else "not trusted"
        far = nothing if verdict.independent is None else f"{verdict.independent:.1e}"
        mark = "[green]ok[/]" if verdict.passed else "[bold red]FAILED[/]"
        one, batch, each = map(_duration, (row.single, row.batch, row.batch / BATCH))
        table.add_row(row.name, f"{verdict.interpreter:.1e}", far, mark, one, batch, str(row.threads), each)
    console.print(table)


def _duration(seconds: float) -> str:
    if seconds < 1e-6:
        return f"{seconds * 1e9:.0f} ns"
    return f"{seconds * 1e6:.2f} us" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"
