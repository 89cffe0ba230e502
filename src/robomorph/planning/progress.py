"""A line that says how far a search is, and the callback that may end it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType

from robomorph.planning.solvers.outcome import Iteration

Callback = Callable[[Iteration], bool | None]


class ProgressLine:
    """Written over and over on a terminal's stderr; elsewhere every tenth iteration gets a line."""

    def __init__(self, shown: bool, callback: Callback | None) -> None:
        self._shown, self._callback = shown, callback
        self.stopped = False

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown and sys.stderr.isatty():
            sys.stderr.write("\n")

    @property
    def callback(self) -> Callback | None:
        """What a solver is to call; None if nobody listens."""
        return self.step if self._shown or self._callback is not None else None

    def step(self, state: Iteration) -> bool:
        """False ends the search."""
        if self._shown:
            self._write(state)
        if self._callback is not None and self._callback(state) is False:
            self.stopped = True
        return not self.stopped

    def _write(self, state: Iteration) -> None:
        text = f"iteration {state.iteration}: cost {state.cost:.6g}, violation {state.violation:.2e}"
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{text:<78}")
        elif state.iteration % 10 == 0:
            sys.stderr.write(text + "\n")
        sys.stderr.flush()
