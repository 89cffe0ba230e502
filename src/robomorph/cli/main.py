"""The command `robomorph`: finds the command's module, runs it, and turns errors into exit codes."""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

# A new command is one module robomorph.cli.<name>, a dash becoming an underscore, with add_parser(subparsers)
# and run(args) -> int, and one entry here. Commands import what is heavy inside run().
COMMANDS = ("bench", "compile", "export", "gpu-report", "ik", "info", "robots", "rtl")

EXIT_OK = 0
EXIT_CHECK_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_DEFECT = 70  # EX_SOFTWARE of sysexits.h
EXIT_INTERRUPTED = 130

_WRITE_FAILED = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)

_EPILOG = """\
examples:
  robomorph compile iiwa14              compile, verify and time every algorithm
  robomorph info arm.urdf               what a robot looks like to robomorph
  robomorph robots                      the robots that come with robomorph
  robomorph ik iiwa14 --position 0.4 0.1 0.6
                                        joint angles that bring a link somewhere
  robomorph bench --quick               the kernels against other libraries
  robomorph export iiwa14 -o iiwa       C++, CUDA, OpenCL or SystemVerilog source code
  robomorph gpu-report iiwa14           registers, spills and occupancy of the CUDA kernels
  robomorph rtl iiwa14                  an accelerator in SystemVerilog, simulated and measured

exit codes: 0 success, 1 a check failed, 2 wrong usage, bad input or a file that cannot be read or written,
70 a defect in robomorph, 130 interrupted
"""


def make_parser() -> argparse.ArgumentParser:
    """The parser with all commands; each sets `run` to its function."""
    from robomorph import __version__

    parser = argparse.ArgumentParser(
        prog="robomorph",
        description="Turns a robot description (URDF) into fast, verified kernels for that one robot.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; `argv` without the program's name."""
    if sys.stderr is None:  # closed by whoever started us (`2>&-`): nobody listens
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    try:
        args = make_parser().parse_args(argv)
    except SystemExit as stop:  # after --help and --version, or wrong usage
        raise SystemExit(_delivered(stop.code)) from None
    return int(_delivered(_answer(args)))


def _answer(args: argparse.Namespace) -> int:
    """Run the command; whatever goes wrong becomes a message and an exit code."""
    from robomorph.cli.terminal import print_error
    from robomorph.errors import RobomorphError

    if sys.stdout is None or sys.stdout.closed:
        print_error("standard output is closed: there is nowhere to write the result")
        return EXIT_BAD_INPUT
    try:
        return int(args.run(args))
    except RobomorphError as error:
        print_error(str(error))
        return EXIT_BAD_INPUT
    except BrokenPipeError:
        _discard_output()  # the reader went away (`robomorph info atlas | head`): nothing is left to say
        return EXIT_OK
    except OSError as error:
        print_error(_describe(error))
        if error.filename is None and error.errno in _WRITE_FAILED:
            _discard_output()
        return EXIT_BAD_INPUT
    except KeyboardInterrupt:
        print_error("interrupted")
        return EXIT_INTERRUPTED
    except Exception as error:
        return _defect(error, args)


def _delivered(code: Any) -> Any:
    """The exit code once everything written has left; another if it cannot."""
    from robomorph.cli.terminal import print_error

    if sys.stdout is None or sys.stdout.closed:
        return code
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
    except OSError as error:
        _discard_output()
        print_error(_describe(error))
        return code or EXIT_BAD_INPUT
    return code


def _discard_output() -> None:
    """What is still in the buffer goes nowhere: the interpreter would fail on it once more as it ends."""
    with contextlib.suppress(OSError, ValueError):  # a stream without a descriptor has nothing to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _describe(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    if error.filename is not None:
        return f"{error.filename}: {reason}"
    return f"cannot write: {reason}" if error.errno in _WRITE_FAILED else reason


def _defect(error: Exception, args: argparse.Namespace) -> int:
    from robomorph.cli.terminal import print_error

    if args.debug or os.environ.get("ROBOMORPH_DEBUG", "0") not in ("", "0"):
        traceback.print_exception(type(error), error, error.__traceback__)
    what = " ".join(f"{type(error).__name__}: {error}".split())
    print_error(f"this is a defect in robomorph ({what}); --debug shows where")
    return EXIT_DEFECT


if __name__ == "__main__":
    sys.exit(main())
