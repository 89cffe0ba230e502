"""`robomorph compile`: make every kernel of a robot, check it, and tell what it costs."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from robomorph.cli.options import DEFAULT_ROBOT, add_robot_options, load_options, load_robot
from robomorph.cli.parser import names

if TYPE_CHECKING:
    from rich.console import Console

    from robomorph.cli.timing import FirstGradient
    from robomorph.robot import Robot
    from robomorph.runtime.kernel import KernelStats
    from robomorph.targets.cpu.kernel import Kernel
    from robomorph.verify.report import Checked
    from robomorph.verify.yardstick import Verdict

_EPILOG = """\
examples:
  robomorph compile                                   the built-in iiwa14
  robomorph compile hyq --floating-base
  robomorph compile arm.urdf --dtype float32 --algorithms jacobian,forward_dynamics_gradient
  robomorph compile atlas --json > atlas.json

The exit code is 0 only if every kernel agrees with the interpreter and with finite differences or textbook
formulas. A kernel that has no such yardstick is named as checked against the interpreter only. What a robot
cannot answer, for want of masses, is listed with the reason and does not count; named by --algorithms, it is
an error.
"""
BATCH = 128
_CHECKED = 16


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "compile",
        help="compile, verify and time every algorithm for a robot",
        description="Loads a robot, shows its morphology, traces and compiles the algorithms for this CPU, "
        "checks every kernel against the interpreter and against finite differences, and prints accuracy and "
        "time per call.",
        epilog=_EPILOG,
    )
    add_robot_options(parser, default=DEFAULT_ROBOT)
    group = parser.add_argument_group("the kernels")
    parser.add_list(
        "--algorithms",
        group=group,
        metavar="NAME ...",
        read=names,
        accepts=is_algorithm,
        help="only these, separated by commas or spaces (default: all)",
    )
    group.add_argument("--dtype", choices=("float64", "float32"), default="float64")
    group.add_argument("--frame", metavar="NAME", help="link for kinematics (default: the one farthest out)")
    group.add_argument(
        "--threads",
        metavar="N",
        type=int,
        help="at most so many threads (default: as many as there are CPUs)",
    )
    group.add_argument("--no-cache", action="store_true", help="neither read nor write the kernel cache")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def is_algorithm(word: str) -> bool:
    """Names of algorithms, as far as a frame or outputs?"""
    from robomorph.algorithms.registry import ALGORITHMS

    heads = (name.partition("=")[0].partition(":")[0] for name in names([word]))
    return all(head.partition(".")[0] in ALGORITHMS for head in heads)


@dataclass(frozen=True)
class Row:
    """One algorithm: its program, its compile times and, once measured, its accuracy and speed."""

    name: str
    stats: KernelStats
    verdict: Verdict
    single: float  # seconds per call
    batch: float  # seconds per call of BATCH evaluations
    threads: int  # that the batch was worth, of those allowed; one call is one thread's work


def run(args: argparse.Namespace) -> int:
    from robomorph.cli.morphology import superposed, transform_sparsity, tree_view
    from robomorph.cli.terminal import make_console, print_json
    from robomorph.runtime.environment import environment

    console = make_console()
    robot, messages = load_robot(args)
    chosen, frame = _chosen(args, robot)
    sparsity = transform_sparsity(robot.model, fitted=False)
    if not args.json:
        _print_robot(console, robot)
        console.print(tree_view(robot.model, sparsity))
        console.print("[dim]n/36: entries of the joint's 6x6 transform that can be nonzero[/]\n")
    first = _first_gradient(args)
    with environment(ROBOMORPH_CACHE="off") if args.no_cache else nullcontext():
        rows, refused = _compile_all(args, robot, chosen, frame)
    ok = all(row.verdict.passed for row in rows)
    if args.json:
        data = _as_data(robot, args, rows, first, frame)
        data["transform_nonzeros"] = {
            body.joint_name: s.populated for body, s in zip(robot.model.bodies, sparsity, strict=True)
        }
        data["superposed_nonzeros"] = superposed(sparsity).populated
        print_json({**data, "refused": refused, "warnings": messages, "ok": ok})
    else:
        _print_tables(console, args, rows, first, frame)
        _print_refused(console, refused)
    return 0 if ok else 1


def _chosen(args: argparse.Namespace, robot: Robot) -> tuple[list[str], str]:
    """The algorithms and the frame asked for; ArgumentError names what is unknown."""
    from robomorph.algorithms.registry import ALGORITHMS, state_algorithms
    from robomorph.compiler.specialise import make_request
    from robomorph.errors import ArgumentError
    from robomorph.verify.report import farthest_link

    frame = args.frame or farthest_link(robot)
    chosen = args.algorithms or list(state_algorithms())
    for name in chosen:
        entry = ALGORITHMS.get(name)
        make_request(robot.model, name, frame=frame if entry is None or entry.frame else None)
    if robot.nv == 0:
        raise ArgumentError(f"robot {robot.name!r}: expected at least one moving joint, found none")
    if args.threads is not None and args.threads < 1:
        raise ArgumentError(f"--threads: expected 1 or more, found {args.threads}")
    return chosen, frame


def _first_gradient(args: argparse.Namespace) -> FirstGradient | None:
    """Before anything else is compiled, so that nothing is warm that would be cold for a user; None for a
    robot that has no gradient for want of masses."""
    import warnings

    from robomorph.cli.terminal import Steps
    from robomorph.cli.timing import first_gradient
    from robomorph.errors import ModelError

    with Steps("from load to the first gradient", 1) as steps, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # shown already
        steps.step("with nothing cached, then cached")
        try:
            return first_gradient(args.robot, load_options(args), args.dtype)
        except ModelError:
            return None  # _compile_all says why


def _compile_all(
    args: argparse.Namespace, robot: Robot, chosen: list[str], frame: str
) -> tuple[list[Row], dict[str, str]]:
    """The kernels made and checked, and, unless asked for by name, those the robot cannot have, with why."""
    from robomorph.cli.terminal import Steps
    from robomorph.verify.report import verify

    with Steps("compile, check", len(chosen)) as steps:
        found = verify(
            robot,
            args.algorithms or None,
            dtype=args.dtype,
            frame=frame,
            threads=args.threads,
            progress=steps.step,
        )
    with Steps("time", len(found.checked)) as steps:
        rows = []
        for row in found.checked:
            steps.step(row.algorithm)
            rows.append(_timed(robot, row))
    return rows, found.refused


def _timed(robot: Robot, row: Checked) -> Row:
    kernel = row.kernel
    single, batch = _time(robot, kernel, ()), _time(robot, kernel, (BATCH,))
    return Row(row.algorithm, kernel.stats, row.verdict, single, batch, _threads_used(kernel, BATCH))


def most_threads(args: argparse.Namespace) -> int:
    """How many threads a call may use."""
    from robomorph.runtime import get_default_threads

    return int(args.threads or get_default_threads())


def _threads_used(kernel: Kernel, batch: int) -> int:
    """How many threads a batch is split over: each gets some blocks of lanes, or is not worth waking."""
    from robomorph.runtime import get_default_threads

    blocks = -(-batch // kernel.lanes)
    return max(1, min(kernel.threads or get_default_threads(), blocks // kernel.min_blocks_per_thread))


def _time(robot: Robot, kernel: Any, batch: tuple[int, ...]) -> float:
    """Seconds per call with arguments and results in place."""
    import numpy as np

    from robomorph.cli.timing import seconds_per_call
    from robomorph.verify.yardstick import random_states

    states = random_states(robot, BATCH).of(tuple(port.name for port in kernel.inputs))
    arguments = [(a if batch else a[0]).astype(kernel.dtype) for a in states]
    out = tuple(np.empty((*batch, *port.shape), kernel.dtype) for port in kernel.outputs)
    target = out[0] if len(out) == 1 else out
    return seconds_per_call(lambda: kernel(*arguments, out=target))


# --- what is printed --------------------------------------------------------------------------------------


def _as_data(
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


def _print_robot(console: Console, robot: Robot) -> None:
    from rich.markup import escape

    mass = sum(body.inertia.mass for body in robot.model.bodies)
    console.print(
        f"[bold]{escape(robot.name)}[/]: {len(robot.model.bodies)} moving joints, "
        f"nq = {robot.nq}, nv = {robot.nv}, {mass:.4g} kg in motion"
    )


def _print_tables(
    console: Console, args: argparse.Namespace, rows: list[Row], first: FirstGradient | None, frame: str
) -> None:
    from rich.markup import escape

    from robomorph.verify.yardstick import ALLOWED

    _print_programs(console, rows)
    _print_accuracy(console, rows, args.dtype)
    allowed = ALLOWED[args.dtype]
    threads = "1 thread" if most_threads(args) == 1 else f"{most_threads(args)} threads"
    console.print(
        f"[dim]Kinematics are those of {escape(frame)!r}. Errors are relative, over {_CHECKED} random "
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


def _print_refused(console: Console, refused: dict[str, str]) -> None:
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
