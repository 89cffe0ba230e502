"""A job that takes no time, and ways to make it fail. A module of its own, as workers import it."""

from __future__ import annotations

import errno
import hashlib
import os
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robomorph.scaleout.job import Shard


@dataclass(frozen=True)
class Dummy:
    """Writes a text that depends on seed and shard. The switches change what happens and not what is written.

    notes: a folder in which every attempt leaves a file, so that a test sees who did what and how often.
    kills: so many workers kill themselves by SIGKILL, one attempt each. raises: index -> "value", "memory",
    "full", "exit"; always: whether it raises at each attempt or only at the first. hold: shards from this
    index on wait until there is a file `go` among the notes.
    """

    rows: int = 95
    per_shard: int = 10
    seed: int = 7
    law: str = "uniform"
    notes: str = ""
    kills: int = 0
    seconds: float = 0.0
    raises: dict[int, str] = field(default_factory=dict)
    always: bool = True
    hold: int | None = None

    kind = "dummy"
    suffix = ".txt"

    def describe(self) -> dict[str, Any]:
        return {"seed": self.seed, "law": {"name": self.law}, "per_shard": self.per_shard}

    def shards(self) -> tuple[Shard, ...]:
        starts = range(0, self.rows, self.per_shard)
        return tuple(Shard(i, s, min(self.per_shard, self.rows - s)) for i, s in enumerate(starts))

    def write(self, shard: Shard, path: Path) -> dict[str, Any]:
        first = self._note(shard)
        text = "".join(f"{row} {self.value(row)}\n" for row in range(shard.start, shard.start + shard.rows))
        path.write_text(text[: len(text) // 2])
        time.sleep(self.seconds)
        self._wait(shard)
        self._perhaps_die()
        if shard.index in self.raises and (first or self.always):
            self._raise(self.raises[shard.index])
        path.write_text(text)
        return {"seconds": {"writing": 0.5}, "host": os.uname().nodename}

    def value(self, row: int) -> str:
        return hashlib.sha256(f"{self.seed} {self.law} {row}".encode()).hexdigest()[:12]

    def _note(self, shard: Shard) -> bool:
        if not self.notes:
            return True
        folder = Path(self.notes)
        before = len(list(folder.glob(f"{shard.index}.*")))
        (folder / f"{shard.index}.{before}.{os.getpid()}").touch()
        return before == 0

    def _wait(self, shard: Shard) -> None:
        """The limit only keeps a worker from staying for ever when a test is broken."""
        limit = time.monotonic() + 120
        while self.hold is not None and shard.index >= self.hold and time.monotonic() < limit:
            if (Path(self.notes) / "go").exists():
                return
            time.sleep(0.01)

    def _perhaps_die(self) -> None:
        """As long as there are tickets: whoever gets one dies."""
        for ticket in range(self.kills):
            try:
                os.close(os.open(Path(self.notes) / f"killed.{ticket}", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)

    def _raise(self, how: str) -> None:
        if how == "full":
            raise OSError(errno.ENOSPC, "No space left on device")
        if how == "exit":
            raise SystemExit(3)
        if how == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        raise ValueError("the dummy was told to fail")

    def finish(self, folder: Path, shards: tuple[Path, ...]) -> dict[str, Any]:
        lines = sum(len(path.read_text().splitlines()) for path in shards)
        (folder / "lines.txt").write_text(f"{lines}\n")
        return {"lines": lines}


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below, by name."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def attempts(notes: Path, index: int) -> int:
    """How often a shard was begun."""
    return len(list(notes.glob(f"{index}.*")))
