"""The command `robomorph`.

Nothing but this file is imported before `main` is at work: an interrupt at any moment after that, while other
modules are being imported too, ends in one line and an exit code.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# A new command is one module robomorph.cli.<name>, a dash becoming an underscore, with add_parser(subparsers)
# and run(args) -> int, and one entry here. Commands import what is heavy inside run().
COMMANDS = (
    *("bench", "check", "compile", "dataset", "export", "gpu-report", "ik", "info", "mpc", "plan", "report"),
    *("robots", "rtl", "sweep", "view"),
)

EXIT_OK = 0
EXIT_CHECK_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_DEFECT = 70  # EX_SOFTWARE of sysexits.h
EXIT_INTERRUPTED = 130  # 128 + the number of the signal


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; `argv` without the program's name."""
    try:
        from robomorph.cli import interrupts

        with interrupts.caught(restore=argv is not None):
            from robomorph.cli.running import run_command

            code = run_command(argv)
            stop = interrupts.seen()
            if stop is not None:  # and yet the command went on: something below hid the interrupt
                raise interrupts.Stopped(stop)
            return code
    except KeyboardInterrupt as stop:
        return _interrupted(str(stop) or "interrupted", getattr(stop, "exit_code", EXIT_INTERRUPTED))


def _interrupted(what: str, code: int = EXIT_INTERRUPTED) -> int:
    try:
        sys.stderr.write(f"error: {what}\n")
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):  # nobody listens
        pass
    return code


if __name__ == "__main__":
    sys.exit(main())
