"""What a job is: work that falls into shards, each a pure function of (robot, seed, shard) to one file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True)
class Shard:
    """A part of a job that one worker does whole: rows `start` to `start + rows` of all."""

    index: int
    start: int
    rows: int


class Job(Protocol):
    """Picklable and small, as it goes to every worker by value.

    The bytes that `write` makes may depend on what `describe` says and on the shard, and on nothing else:
    not on the engine, the number of workers, the order, the time or the machine's name.
    """

    @property
    def kind(self) -> str:
        """A short name, such as "dataset"."""

    @property
    def suffix(self) -> str:
        """Of every shard's file, such as ".parquet"."""

    def describe(self) -> dict[str, Any]:
        """Plain data (JSON) on which the results depend: robot, seed, settings; not how many rows there
        are."""

    def shards(self) -> tuple[Shard, ...]:
        """All of them; more rows give the same shards and further ones, but for a last one that was not
        full."""

    def write(self, shard: Shard, path: Path) -> dict[str, Any]:
        """Writes the result to `path`, a name aside that is moved into place later. Returns plain facts that
        do not go into the result, such as seconds by kind of work."""

    def finish(self, folder: Path, shards: tuple[Path, ...]) -> dict[str, Any]:
        """Called once in the caller's process when every shard is there, in order: writes what sums them up
        (beside the shards, atomically) and returns plain facts of it for the summary. May do nothing."""
