"""`robomorph sweep`: large jobs on many cores or machines, one word a kind of job."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from robomorph.cli.parser import Parser

if TYPE_CHECKING:
    from rich.console import Console

# `robomorph sweep WORD`: what it does. Its options and its job are in robomorph.cli.sweep_kinds.
KINDS = {
    "reach": "inverse kinematics of many targets: which places a frame reaches, as a map",
    "starts": "one motion planned from many first guesses; the best plan that is proven",
    "scenarios": "a batch of motions: scenarios, robots, random goals",
    "mpc": "a Monte Carlo of closed loops: random goals, payloads, delays, pushes",
    "designs": "the design space of an accelerator, and its Pareto front",
    "formats": "the errors of an accelerator at every word width",
    "suites": "long test suites, a file a process",
    "scaling": "how a job would scale: measured with one and two workers, then a model",
}
_EPILOG = f"""\
kinds, each with options of its own (robomorph sweep KIND --help):
{chr(10).join(f"  {word:<10} {about}" for word, about in KINDS.items())}

examples:
  robomorph sweep reach iiwa14 --targets 1000000 -o iiwa14_reach
  robomorph sweep starts arm --starts 200 --workers 2 -o arm_starts
  robomorph sweep mpc iiwa14 --runs 1000 --engine dask -o loops
  robomorph sweep designs hyq --algorithm inverse_dynamics --engine ray://head:10001 -o space

The same seed gives the same files on every engine with any number of workers. A run that was stopped goes on
when the same command is given again (docs/scaleout-engines.md).
exit codes: 0 done, 1 done but what it looked for was not found, 2 wrong usage, bad input, or failed shards
"""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "sweep",
        help="run large jobs on many cores or machines: reachability, multistart, Monte Carlo, design spaces",
        description="Runs a job that falls into shards on processes of this machine, Dask, Ray or SLURM, and "
        "sums up what it found.",
        epilog=_EPILOG,
    )
    parser.inner = {word: partial(_kind_parser, word) for word in KINDS}
    parser.add_argument(
        "kind", metavar="KIND", choices=tuple(KINDS), help="what to run; options come after it"
    )


def run(args: argparse.Namespace) -> int:
    """Reached if options come before the kind, where nobody knows them yet."""
    from robomorph.errors import ArgumentError

    raise ArgumentError(f"sweep: expected the kind before everything else: robomorph sweep {args.kind} ...")


def _kind_parser(word: str) -> Parser:
    from robomorph.cli.sweep_kinds import ADD

    parser = Parser(prog=f"robomorph sweep {word}", description=f"{KINDS[word].capitalize()}.")
    ADD[word](parser)
    if word != "scaling":
        _add_run_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of words")
    parser.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    parser.set_defaults(run=partial(run_kind, word), command="sweep")
    return parser


def _add_run_options(parser: Parser) -> None:
    from robomorph.cli.options import path_text

    group = parser.add_argument_group("the run")
    text = "folder for shards, results and the manifest"
    group.add_argument("-o", "--output", metavar="DIR", type=path_text, required=True, help=text)
    text = (
        "local (processes of this machine, the default), serial, dask, ray, slurm, or the address of a "
        "running cluster: dask://HOST:PORT, ray://HOST:PORT"
    )
    group.add_argument("--engine", default="local", help=text)
    group.add_argument("--workers", metavar="N", type=int, help="processes (default: as the engine has it)")
    group.add_argument(
        "--retries", metavar="N", type=int, default=2, help="of a shard that fails (default 2)"
    )
    text = "rows that one worker does at a time (default: as suits the kind)"
    group.add_argument("--shard-size", metavar="N", type=int, help=text)
    group.add_argument("--events", metavar="FILE", type=path_text, help="progress as JSON lines")


def run_kind(word: str, args: argparse.Namespace) -> int:
    """Make the job of the options, run it, and tell what it found."""
    from robomorph.cli.sweep_kinds import JOB, scaling

    if word == "scaling":
        return scaling(args)
    from robomorph.cli.terminal import make_console, print_json, warnings_shown
    from robomorph.scaleout.drive import run as run_job

    with warnings_shown() as messages:
        job = JOB[word](args)
    console = make_console()
    summary = run_job(
        job,
        args.output,
        engine=args.engine,
        workers=args.workers,
        retries=args.retries,
        progress=None if args.json else _stderr_console(),
        events=args.events,
    )
    if args.json:
        print_json({**summary.as_data(), "warnings": messages})
    else:
        _print(console, summary)
    return _exit_code(word, summary)


def _stderr_console() -> Console | None:
    """Progress is for people who watch."""
    import sys

    from robomorph.cli.terminal import make_console

    return make_console(sys.stderr) if sys.stderr.isatty() else None


def _exit_code(word: str, summary: Any) -> int:
    """1 if nothing was found: a sweep without a plan, a suite that fails, a chain of loops that diverged."""
    found = summary.finish
    bad: dict[str, Callable[[], bool]] = {
        "starts": lambda: not found.get("proven", True),
        "scenarios": lambda: found.get("solved", 0) < found.get("plans", 0),
        "mpc": lambda: found.get("diverged_count", 0) > 0,
        "reach": lambda: found.get("disputed", 0) > 0,
        "suites": lambda: found.get("failed", 0) > 0,
    }
    return int(bool(found) and word in bad and bad[word]())


def _print(console: Console, summary: Any) -> None:
    """The summary, and what the job found: plain values first, then lists and tables, a line an entry."""
    from dataclasses import replace

    console.print(replace(summary, finish={}).text(), markup=False, highlight=False)
    for name, value in summary.finish.items():
        if isinstance(value, dict):
            console.print(f"{name}:", markup=False)
            for key, item in value.items():
                console.print(f"  {key}: {_short(item)}", markup=False, highlight=False)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            console.print(f"{name}:", markup=False)
            for item in value:
                console.print(f"  {_short(item)}", markup=False, highlight=False)
        else:
            console.print(f"{name}: {_short(value)}", markup=False, highlight=False)


def _short(value: Any) -> str:
    """Numbers with six digits; nested values in one line, without arrays of configurations."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        left_out = ("margins", "last_q", "end", "reason" if value.get("success") else "")
        return ", ".join(f"{key} {_short(item)}" for key, item in value.items() if key not in left_out)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_short, value)) + "]"
    return str(value)
