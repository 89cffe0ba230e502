"""Signals that end a command: each raises KeyboardInterrupt once, wherever the program is."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

# Signals and what is said of them; those that somebody else handles, or that are ignored, stay as they are.
_WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "terminated (hangup)"}
_UNTOUCHED = (signal.SIG_DFL, signal.default_int_handler)
_LATER_S = 0.02  # long enough to be out of where an exception has no effect
_seen: signal.Signals | None = None


class Stopped(KeyboardInterrupt):
    """A signal arrived; the exit code is the one that shells expect of it."""

    def __init__(self, signum: signal.Signals) -> None:
        super().__init__(_WORDS[signum])
        self.exit_code = 128 + int(signum)


def expected() -> None:
    """The signal that arrived was the way to end the command: it is not an interruption."""
    global _seen
    _seen = None


def seen() -> signal.Signals | None:
    """The signal that arrived, if one did; code that catches everything may have hidden its exception."""
    return _seen


@contextmanager
def caught(*, restore: bool) -> Iterator[None]:
    """Within, the signals raise `Stopped`. After it, handlers are as before; without `restore`, as the
    program ends, the system's: another signal then ends the process at once and without a word."""
    global _seen
    _seen = None
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return
    before = {s: signal.getsignal(s) for s in _WORDS if signal.getsignal(s) in _UNTOUCHED}
    hook = sys.unraisablehook
    sys.unraisablehook = lambda found: _again(found, hook)
    for signum in before:
        signal.signal(signum, _stop)
    try:
        yield
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler if restore else signal.SIG_DFL)
        sys.unraisablehook = hook


def _stop(signum: int, frame: FrameType | None) -> None:
    global _seen
    _seen = signal.Signals(signum)
    raise Stopped(_seen)


def _again(found: Any, hook: Any) -> None:
    """An exception in a destructor or a callback of the interpreter goes nowhere: interrupt once more."""
    if issubclass(found.exc_type, KeyboardInterrupt) and _seen is not None:
        later = threading.Timer(_LATER_S, signal.pthread_kill, (threading.main_thread().ident, _seen))
        later.daemon = True
        later.start()
    else:
        hook(found)
