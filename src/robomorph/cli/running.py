"""Running a command: its parser, its module, and errors as messages and exit codes."""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from typing import IO, Any

from robomorph.cli import interrupts
from robomorph.cli.main import COMMANDS, EXIT_BAD_INPUT, EXIT_DEFECT, EXIT_OK
from robomorph.cli.parser import Parser

_WRITE_FAILED = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)

_EPILOG = """\
examples:
  robomorph compile iiwa14              compile, verify and time every algorithm
  robomorph info arm.urdf               what a robot looks like to robomorph
  robomorph info dog.xml --ignore tendon actuator
                                        MJCF, without what is no tree of rigid bodies
  robomorph robots                      the robots that come with robomorph
  robomorph ik iiwa14 --position 0.4 0.1 0.6
                                        joint angles that bring a link somewhere
  robomorph plan squat --save plan.json
                                        a motion whose constraints hold at every instant
  robomorph check plan.json             that it does, proven again by a second program
  robomorph mpc iiwa14                  predictive control in a closed loop, with a push
  robomorph view iiwa14                 the robot in the browser: sliders, a handle, motions
  robomorph bench --quick               the kernels against other libraries
  robomorph export iiwa14 -o iiwa       C++, CUDA, OpenCL or SystemVerilog source code
  robomorph dataset iiwa14 --function inverse_dynamics --states 1000000 -o data
                                        labelled states as Parquet, on many cores or machines
  robomorph gpu-report iiwa14           registers, spills and occupancy of the CUDA kernels
  robomorph rtl iiwa14                  an accelerator in SystemVerilog, simulated and measured
  robomorph sweep reach iiwa14 --targets 100000 -o reach
                                        large jobs on many cores or machines
  robomorph report --quick              what the papers measured, run here, as one page

exit codes: 0 success, 1 a check failed, 2 wrong usage, bad input or a file that cannot be read or written,
70 a defect in robomorph, 130 interrupted, 143 terminated
"""


def make_parser() -> argparse.ArgumentParser:
    """The parser with all commands; each sets `run` to its function."""
    from robomorph import __version__

    parser = Parser(
        prog="robomorph",
        description="Turns a robot description (URDF, MJCF) into fast, verified kernels for that one robot.",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"robomorph {__version__}")
    parser.add_argument(
        "--debug", action="store_true", help="show tracebacks of defects, as does ROBOMORPH_DEBUG=1"
    )
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = importlib.import_module(f"robomorph.cli.{name.replace('-', '_')}")
        module.add_parser(subparsers)
        subparsers.choices[name].set_defaults(run=module.run)
        # Also after the command's name, where SUPPRESS keeps it from undoing what came before it.
        subparsers.choices[name].add_argument(
            "--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
        )
    return parser


def run_command(argv: Sequence[str] | None) -> int:
    """Run one command and return its exit code; `argv` without the program's name."""
    if sys.stderr is None:  # closed by whoever started us (`2>&-`): nobody listens
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    try:
        args = make_parser().parse_args(argv)
    except SystemExit as stop:  # after --help and --version, or wrong usage
        raise SystemExit(_delivered(stop.code)) from None
    args.given = list(sys.argv[1:] if argv is None else argv)  # for what is written with its command
    return int(_delivered(_answer(args)))


def _answer(args: argparse.Namespace) -> int:
    """Run the command; whatever goes wrong becomes a message and an exit code."""
    if sys.stdout is None or sys.stdout.closed:
        _say("standard output is closed: there is nowhere to write the result")
        return EXIT_BAD_INPUT
    try:
        return int(args.run(args))
    except Exception as error:
        stop = interrupts.seen()
        if stop is not None:  # something below took the interrupt for a failure of its own
            raise interrupts.Stopped(stop) from None
        return _failure(error, args)


def _failure(error: Exception, args: argparse.Namespace) -> int:
    from robomorph.errors import RobomorphError

    if isinstance(error, BrokenPipeError):
        return EXIT_OK  # the reader went away (`robomorph info atlas | head`): nothing is left to say
    if isinstance(error, RobomorphError):
        _say(str(error))
        return EXIT_BAD_INPUT
    if isinstance(error, OSError):
        _say(_describe(error))
        if error.filename is None and error.errno in _WRITE_FAILED:
            _discard(sys.stdout)
        return EXIT_BAD_INPUT
    return _defect(error, args)


def _say(message: str) -> None:
    """An error's line, if somebody is there to read it."""
    from robomorph.cli.terminal import print_error

    with contextlib.suppress(OSError):
        print_error(message)


def _delivered(code: Any) -> Any:
    """The exit code once everything written has left; another if it cannot."""
    for stream in (sys.stderr, sys.stdout):
        if stream is None or stream.closed:
            continue
        try:
            stream.flush()
        except OSError as error:
            _discard(stream)
            if not isinstance(error, BrokenPipeError):
                _say(_describe(error))
                code = code or EXIT_BAD_INPUT
    return code


def _discard(stream: IO[str]) -> None:
    """What is still in the buffer goes nowhere: the interpreter would fail on it once more as it ends."""
    with contextlib.suppress(OSError, ValueError):  # a stream without a descriptor has nothing to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _describe(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    if error.filename is not None:
        return f"{error.filename}: {reason}"
    return f"cannot write: {reason}" if error.errno in _WRITE_FAILED else reason


def _defect(error: Exception, args: argparse.Namespace) -> int:
    if args.debug or os.environ.get("ROBOMORPH_DEBUG", "0") not in ("", "0"):
        traceback.print_exception(type(error), error, error.__traceback__)
    what = " ".join(f"{type(error).__name__}: {error}".split())
    _say(f"this is a defect in robomorph ({what}); --debug shows where")
    return EXIT_DEFECT
