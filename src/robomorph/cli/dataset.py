"""`robomorph dataset`: labelled states of a robot in files, made by many processes or machines."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robomorph.cli.parser import Parser
    from robomorph.scaleout.dataset.check import Checked
    from robomorph.scaleout.dataset.job import Dataset

_EPILOG = """\
examples:
  robomorph dataset iiwa14 --function inverse_dynamics --states 1000000 -o iiwa14_data
  robomorph dataset hyq --floating-base --function mass_matrix jacobian:lf_lowerleg --states 50000 -o hyq_data
  robomorph dataset iiwa14 --function forward_dynamics_gradient=dqdd_dq --law gaussian:sigma_q=0.1 \\
      --states 200000 --engine dask --workers 2 --check 100 -o gradients
  robomorph dataset --verify iiwa14_data

laws: uniform, gaussian, splines, file:PATH; settings as NAME:SETTING=VALUE,... (docs/scaleout.md)
A run that was stopped goes on when the same command is given again; more --states extend a data set.
exit codes: 0 written (all shards are as they were), 1 --check or --verify found wrong, damaged or missing
data, 2 wrong usage, bad input, or shards that failed
"""
_VERIFY = "--verify"


def add_parser(subparsers: Any) -> None:
    from robomorph.cli.options import add_robot_options, path_text

    parser = subparsers.add_parser(
        "dataset",
        help="write labelled states of a robot as Parquet or Zarr, on many cores or machines",
        description="Draws states by a law, computes any algorithms at them, and writes states and results "
        "in shards, with checksums and a schema. The same seed gives the same bytes on every engine.",
        epilog=_EPILOG,
    )
    parser.inner = {_VERIFY: _verify_parser}
    add_robot_options(parser)
    parser.add_argument(
        "-o", "--output", metavar="DIR", type=path_text, required=True, help="folder to write to"
    )
    _add_contents(parser)
    group = parser.add_argument_group("the run")
    group.add_argument(
        "--engine",
        default="local",
        help="local (processes of this machine), serial, dask, ray, slurm, or the address of a running "
        "cluster: dask://HOST:PORT, ray://HOST:PORT (default local)",
    )
    group.add_argument("--workers", metavar="N", type=int, help="processes (default: as the engine has it)")
    group.add_argument("--events", metavar="FILE", type=path_text, help="progress as JSON lines")
    group.add_argument(
        "--check", metavar="N", type=int, default=0, help="afterwards compute N rows anew by the interpreter"
    )
    parser.add_argument(
        _VERIFY, metavar="DIR", help="check every file of this folder against its checksum; alone"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def _add_contents(parser: Parser) -> None:
    from robomorph.cli.compile import is_algorithm
    from robomorph.cli.parser import names

    group = parser.add_argument_group("the data")
    parser.add_list(
        "--function",
        group=group,
        metavar="FUNCTION ...",
        read=names,
        accepts=is_algorithm,
        required=True,
        help="algorithm[:frame][=output+output], separated by commas or spaces; all share the states",
    )
    group.add_argument("--states", metavar="N", type=int, required=True, help="rows")
    group.add_argument("--law", default="uniform", help="how states are drawn (default uniform)")
    group.add_argument("--seed", type=int, default=0, help="of the random numbers (default 0)")
    group.add_argument(
        "--rows-per-shard", metavar="N", type=int, help="rows of a file (default: about 32 MB)"
    )
    group.add_argument("--format", default="parquet", help="parquet or zarr (default parquet)")
    group.add_argument(
        "--dtype", choices=("float64", "float32"), default="float64", help="of all numbers (default float64)"
    )


def _verify_parser() -> Parser:
    from robomorph.cli.options import path_text
    from robomorph.cli.parser import Parser

    parser = Parser(
        prog=f"robomorph dataset {_VERIFY}", description="Checks every file against its checksum."
    )
    parser.add_argument("folder", metavar="DIR", type=path_text, help="of any run of robomorph.scaleout")
    parser.add_argument("--json", action="store_true", help="print JSON instead of words")
    parser.set_defaults(run=run_verify)
    return parser


def run(args: argparse.Namespace) -> int:
    from robomorph.cli.options import load_robot
    from robomorph.errors import ArgumentError
    from robomorph.scaleout.dataset.job import Dataset, whole

    if args.verify is not None:
        raise ArgumentError(f"{_VERIFY}: expected it first and alone: robomorph dataset {_VERIFY} DIR")
    whole("--check", args.check, 0)
    robot, messages = load_robot(args)
    job = Dataset(
        robot,
        args.function,
        args.states,
        law=args.law,
        seed=args.seed,
        rows_per_shard=args.rows_per_shard,
        format=args.format,
        dtype=args.dtype,
    )
    return _run(args, job, messages)


def _run(args: argparse.Namespace, job: Dataset, messages: list[str]) -> int:
    import sys

    from robomorph.cli.terminal import make_console, print_json
    from robomorph.scaleout.dataset.check import check_dataset
    from robomorph.scaleout.drive import run as run_job

    console = make_console(sys.stderr)
    summary = run_job(
        job,
        args.output,
        engine=args.engine,
        workers=args.workers,
        progress=console if console.is_terminal else None,
        events=args.events,
    )
    checked = check_dataset(job, args.output, args.check) if args.check and not summary.next else None
    if args.json:
        about = {**summary.as_data(), "warnings": messages}
        errors = None if checked is None else {"rows": checked.rows, "errors": checked.errors}
        print_json({**about, "check": errors})
    else:
        _print(summary.text(), checked)
    return 0 if checked is None or checked.passed else 1


def _print(text: str, checked: Checked | None) -> None:
    from robomorph.cli.terminal import make_console

    console = make_console()
    console.print(text, markup=False, soft_wrap=True)
    if checked is None:
        return
    console.print(f"  {checked.rows:,} rows computed anew by the interpreter; largest error:", markup=False)
    for name, error in checked.errors.items():
        word = "" if error <= checked.tolerance else f", WRONG: expected at most {checked.tolerance:.0e}"
        console.print(f"    {name}: {error:.1e} of its largest entry{word}", markup=False, soft_wrap=True)


def run_verify(args: argparse.Namespace) -> int:
    from dataclasses import asdict

    from robomorph.cli.terminal import make_console, print_json
    from robomorph.scaleout.dataset.read import verify_folder

    found = verify_folder(args.folder)
    if args.json:
        print_json(asdict(found))
        return 1 if found.wrong else 0
    console = make_console()
    whole = found.files - len(found.wrong)
    text = f"{args.folder}: {found.kind}, {whole:,} of {found.files:,} files are as they were written"
    console.print(f"{text} ({found.rows:,} rows, {found.bytes:,} bytes)", markup=False, soft_wrap=True)
    for name, reason in found.wrong.items():
        console.print(f"  {name}: {reason}", markup=False, soft_wrap=True)
    if found.wrong:
        console.print("Give the command that made them again: only these are made anew.", markup=False)
    return 1 if found.wrong else 0
