"""The command `robomorph`: finds the command's module, runs it, and turns errors into exit codes."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

# A new command is one module robomorph.cli.<name>, a dash becoming an underscore, with add_parser(subparsers)
# and run(args) -> int, and one entry here. Commands import what is heavy inside run().
COMMANDS = ("bench", "compile", "export", "gpu-report", "ik", "info", "robots", "rtl")

EXIT_OK = 0
EXIT_CHECK_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130

_EPILOG = """\
examples:
  robomorph compile iiwa14              compile, verify and time every algorithm
  robomorph info arm.urdf               what a robot looks like to robomorph
  robomorph robots                      the robots that come with robomorph

exit codes: 0 success, 1 a check failed, 2 wrong usage or bad input, 130 interrupted
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
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = importlib.import_module(f"robomorph.cli.{name.replace('-', '_')}")
        module.add_parser(subparsers)
        subparsers.choices[name].set_defaults(run=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; `argv` without the program's name."""
    from robomorph.cli.terminal import print_error
    from robomorph.errors import RobomorphError

    args = make_parser().parse_args(argv)
    try:
        code = int(args.run(args))
        sys.stdout.flush()
        return code
    except RobomorphError as error:
        print_error(str(error))
        return EXIT_BAD_INPUT
    except BrokenPipeError:
        # The reader went away (`robomorph info atlas | head`): nothing is wrong, nothing is left to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except KeyboardInterrupt:
        print_error("interrupted")
        return EXIT_INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
