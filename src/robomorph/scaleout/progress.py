"""How far a run is: a line in the terminal, and JSON lines for programs."""

from __future__ import annotations

import json
import os
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from robomorph.errors import ScaleoutError

Events = str | os.PathLike[str] | TextIO


class Reporter:
    """Tells of a run to a terminal, a stream of JSON lines, both or nobody.

    console: where to draw; True is the terminal's error stream. events: a path that is appended to, or a
    stream.
    """

    def __init__(self, console: Console | bool | None, events: Events | None) -> None:
        self._console = Console(stderr=True) if console is True else (console or None)
        self._stack = ExitStack()
        self._events = self._opened(events)
        self._bar: Progress | None = None
        self._task = TaskID(0)
        self._begun = time.perf_counter()
        self._rows = self._shards = self._new_rows = self._all_shards = 0

    def _opened(self, events: Events | None) -> TextIO | None:
        if isinstance(events, (str, os.PathLike)):
            try:
                return self._stack.enter_context(open(Path(events), "a", encoding="utf-8"))
            except OSError as error:
                raise ScaleoutError(
                    f"events: cannot write to {os.fspath(events)}: {error.strerror}"
                ) from None
        return events

    def begin(self, shards: int, rows: int, kept: int, kept_rows: int) -> None:
        """Work starts: so much there is in all, and so much of it was found finished."""
        self._begun, self._all_shards, self._shards, self._rows = time.perf_counter(), shards, kept, kept_rows
        self.event("begin", shards=shards, rows=rows, kept=kept)
        if self._console is not None:
            columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[status]}"))
            self._bar = self._stack.enter_context(Progress(*columns, console=self._console, transient=True))
            self._task = self._bar.add_task("shards", total=rows, completed=kept_rows, status="")

    def done(self, index: int, rows: int, seconds: float) -> None:
        """One more shard is finished."""
        self._shards, self._rows, self._new_rows = self._shards + 1, self._rows + rows, self._new_rows + rows
        self.event(
            "done", shard=index, rows=rows, seconds=seconds, shards_done=self._shards, rows_done=self._rows
        )
        if self._bar is not None:
            self._bar.update(self._task, completed=self._rows, status=self._status())

    def _status(self) -> str:
        rate = self._new_rows / max(time.perf_counter() - self._begun, 1e-9)
        total = self._bar.tasks[0].total if self._bar is not None else 0
        left = ((total or 0) - self._rows) / rate
        hours, minutes, seconds = int(left // 3600), int(left // 60) % 60, int(left) % 60
        clock = f"{hours}:{minutes:02}:{seconds:02} left"
        return f"{self._shards:,} of {self._all_shards:,}, {rate:,.0f} rows/s, {clock}"

    def note(self, event: str, text: str, **data: Any) -> None:
        """Something that the user should see: a retry, a death, a damaged shard."""
        self.event(event, text=text, **data)
        if self._console is not None:
            self._console.print(escape(text), soft_wrap=True)

    def event(self, event: str, **data: Any) -> None:
        """One JSON line; `time` is in seconds since the run began."""
        if self._events is not None:
            line = {"event": event, "time": round(time.perf_counter() - self._begun, 3), **data}
            self._events.write(json.dumps(line, default=str) + "\n")
            self._events.flush()

    def close(self) -> None:
        self._stack.close()
