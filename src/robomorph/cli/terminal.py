"""What commands share to speak: results to stdout, everything else to stderr, plain when piped."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

# A pipe has no width; this keeps every table of ours on single lines.
_PIPE_WIDTH = 160


class FittingTable(Table):
    """A table that leaves out its `optional` columns, in that order, before it becomes too wide."""

    optional: tuple[str, ...] = ()

    def fit(self, console: Console) -> int:
        """Leave out what does not fit; the width that is then needed, which may still be too much."""
        for name in self.optional:
            if self._natural_width(console) <= console.width:
                break
            self.columns = [column for column in self.columns if column.header != name]
        return self._natural_width(console)

    def _natural_width(self, console: Console) -> int:
        return Measurement.get(console, console.options.update(width=10_000), self).maximum


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave the decision what a vanished reader means to main(): rich would exit with an error."""
        raise BrokenPipeError

    def print(self, *objects: Any, **options: Any) -> None:
        """As ever; but a table that is too wide is printed too wide, where rich would cut its cells off."""
        before = self.width
        if len(objects) == 1 and isinstance(objects[0], FittingTable):
            self.width = max(before, objects[0].fit(self))
        super().print(*objects, **options)
        if self.width != before:
            self.width = before


def make_console(stream: IO[str] | None = None) -> Console:
    """A console for a stream (default stdout): colours on a terminal, plain in a pipe or with NO_COLOR."""
    stream = sys.stdout if stream is None else stream
    if isinstance(stream, TextIOWrapper) and "utf" not in stream.encoding.lower():
        stream.reconfigure(errors="replace")  # a link's name may have letters that the stream has not
    width = None if stream.isatty() or "COLUMNS" in os.environ else _PIPE_WIDTH
    return _Console(file=stream, width=width, highlight=False, soft_wrap=False)


def json_text(data: Any) -> str:
    """One JSON document; numbers that JSON does not have become null."""
    return json.dumps(_plain(data), indent=2, allow_nan=False) + "\n"


def print_json(data: Any) -> None:
    """The result of a command as one JSON document."""
    sys.stdout.write(json_text(data))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not (abs(value) < float("inf")):
        return None
    return value


def write_text(path: Path, text: str) -> None:
    """A file that appears whole or not at all, in a folder that is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def print_error(message: str) -> None:
    make_console(sys.stderr).print(f"[bold red]error:[/] {escape(message)}", soft_wrap=True)


def print_warning(message: str) -> None:
    make_console(sys.stderr).print(f"[yellow]warning:[/] {escape(message)}", soft_wrap=True)


@contextmanager
def warnings_shown() -> Iterator[list[str]]:
    """Python's warnings as lines on stderr, each once, and in the list that is handed out."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield messages
    for message in dict.fromkeys(str(entry.message) for entry in caught):
        messages.append(message)
        print_warning(message)


def marks(console: Console) -> tuple[str, str]:
    """Signs for an entry that is there and one that is not, in the stream's encoding."""
    return ("●", "·") if "utf" in console.encoding.lower() else ("x", ".")


def make_table(
    title: str,
    columns: Sequence[str],
    *,
    left: int = 1,
    caption: str | None = None,
    optional: Sequence[str] = (),
) -> FittingTable:
    """A table whose first `left` columns are text and whose others are figures; `optional` names columns
    that a narrow terminal does without."""
    table = FittingTable(
        title=title, caption=caption, box=box.SIMPLE_HEAD, title_justify="left", caption_justify="left"
    )
    table.title_style, table.caption_style, table.optional = "bold", "dim", tuple(optional)
    for i, name in enumerate(columns):
        table.add_column(name, justify="left" if i < left else "right", no_wrap=True)
    return table


class Steps:
    """Progress over a known number of steps on stderr: a bar on a terminal, one line a step elsewhere."""

    def __init__(self, title: str, total: int) -> None:
        self._console = make_console(sys.stderr)
        self._title, self._total, self._done = title, total, 0
        self._name = ""
        self._bar: Progress | None = None

    def __enter__(self) -> Steps:
        if self._console.is_terminal:
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
            )
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._bar.add_task(escape(self._title), total=self._total)
            self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def step(self, name: str) -> None:
        """Say that the next step begins; the one before is done."""
        self._done += 1
        if self._bar is None:
            self._console.print(f"{self._title} {self._done}/{self._total}: {name}", markup=False)
        else:
            task = self._bar.task_ids[0]
            self._bar.update(task, completed=self._done - 1, description=escape(f"{self._title}: {name}"))
        self._name = name

    def detail(self, what: str) -> None:
        """Say what the step at hand is about now."""
        if self._bar is None:
            self._console.print(
                f"{self._title} {self._done}/{self._total}: {self._name}: {what}", markup=False
            )
        else:
            words = escape(f"{self._title}: {self._name}: {what}")
            self._bar.update(self._bar.task_ids[0], description=words)
