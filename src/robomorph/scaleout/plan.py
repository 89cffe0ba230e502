"""What a run has to do: what its folder has already, whether that is the same run's, and what is missing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robomorph.errors import ScaleoutError
from robomorph.scaleout.folder import OTHER, Folder, Receipt, as_json, read_json, sha256, write_whole
from robomorph.scaleout.job import Job, Shard
from robomorph.scaleout.work import versions

SCHEMA = 1
_MISSING = object()  # no value of a description equals it


@dataclass
class Plan:
    """`kept` are finished and whole; `damaged` (index to what is wrong) are among `todo`."""

    folder: Folder
    header: dict[str, Any]
    shards: tuple[Shard, ...]
    kept: dict[int, Receipt] = field(default_factory=dict)
    damaged: dict[int, str] = field(default_factory=dict)
    complete: bool = False

    @property
    def todo(self) -> tuple[Shard, ...]:
        return tuple(shard for shard in self.shards if shard.index not in self.kept)

    @property
    def rows(self) -> int:
        return int(self.header["rows"])

    def digest(self) -> str:
        """By which workers know the run."""
        return hashlib.sha256(as_json(self.header).encode()).hexdigest()

    def begin(self) -> None:
        """Puts `progress/` in place and takes the manifest away: it stands for a whole result only.

        A crash anywhere in here leaves the manifest or the header, and with either the run can go on.
        """
        folder = self.folder
        if folder.manifest.exists():
            folder.remove_progress()
        folder.progress.mkdir(exist_ok=True)
        folder.remove_leftovers()
        wanted = {folder.receipt(index) for index in self.kept}
        for path in folder.progress.glob("shard-*.json"):
            if path not in wanted:
                path.unlink()
        for index, receipt in self.kept.items():
            if not folder.receipt(index).exists():
                write_whole(folder.receipt(index), receipt.text())
        write_whole(folder.header, as_json(self.header))
        folder.manifest.unlink(missing_ok=True)

    def end(self, receipts: dict[int, Receipt]) -> None:
        """The manifest, and nothing else beside the result."""
        rows = [receipts[shard.index].entry() for shard in self.shards]
        write_whole(self.folder.manifest, as_json({**self.header, "shards": rows}))
        self.folder.remove_progress()


def make_plan(
    job: Job, path: Path, told: Callable[[str, int], None], only: Container[int] | None = None
) -> Plan:
    """Compares the job with its folder and verifies what is there. `told` hears of every damaged shard.

    only: indices of the shards to look at; the others are not read and stay in `todo`. All by default.
    """
    folder = Folder(path, job.suffix)
    shards = _checked(job)
    plan = Plan(folder, _header(job, shards), shards)
    found = read_json(folder.manifest)
    plan.complete = found is not None
    before = found if found is not None else read_json(folder.header)
    if before is None:
        if stray := next(iter(sorted(folder.path.glob("shard-*"))), None):
            raise ScaleoutError(
                f"{folder.path}: has {stray.name} but no manifest of a run that made it; {OTHER}"
            )
        return plan
    _check_same(folder.path, before, plan.header)
    known = _entries(folder, before) if plan.complete else {r.shard.index: r for r in folder.receipts(only)}
    for shard in shards:
        if only is not None and shard.index not in only:
            continue
        receipt = known.get(shard.index)
        if receipt is None or receipt.shard != shard or receipt.file != folder.shard(shard.index).name:
            continue  # not made yet, or a last one that was not full and now is
        if wrong := _wrong(folder.path / receipt.file, receipt):
            plan.damaged[shard.index] = wrong
            told(f"shard {shard.index}: {receipt.file} {wrong}; it is made again", shard.index)
        else:
            plan.kept[shard.index] = receipt
    plan.complete = plan.complete and before["rows"] == plan.rows and not plan.todo
    return plan


def _checked(job: Job) -> tuple[Shard, ...]:
    """The job's shards, in order and without gaps."""
    shards, start = tuple(job.shards()), 0
    if not shards:
        raise ScaleoutError(f"the job {job.kind!r} has no shards: ask for at least one row")
    for index, shard in enumerate(shards):
        if (shard.index, shard.start) != (index, start) or shard.rows < 1:
            raise ScaleoutError(
                f"the job {job.kind!r}: expected shard {index} to begin at row {start} and to "
                f"have rows, found {shard}"
            )
        start += shard.rows
    return shards


def _header(job: Job, shards: tuple[Shard, ...]) -> dict[str, Any]:
    try:
        text = json.dumps(job.describe(), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ScaleoutError(
            f"the job {job.kind!r} must describe itself in plain data (JSON): {error}"
        ) from None
    return {
        **{"schema": SCHEMA, "kind": job.kind, "suffix": job.suffix, "job": json.loads(text)},
        **{"versions": versions(), "rows": sum(shard.rows for shard in shards)},
    }


def _check_same(path: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    old, new = ({k: v for k, v in d.items() if k not in ("rows", "shards")} for d in (before, now))
    if differing := list(_differences("", old, new)):
        lines = "\n".join(f"  {name}: {a} there, {b} asked for" for name, a, b in differing)
        raise ScaleoutError(
            f"{path}: holds another run, which differs in\n{lines}\nAsk for the same, or {OTHER}"
        )
    rows = before.get("rows")
    if not isinstance(rows, int):
        raise ScaleoutError(f"{path}: its manifest says no number of rows; {OTHER}")
    if rows > now["rows"]:
        raise ScaleoutError(
            f"{path}: has {rows:,} rows, more than the {now['rows']:,} asked for, and a result "
            "does not shrink: "
            f"ask for {rows:,} or more, or choose another folder"
        )


def _differences(name: str, old: Any, new: Any) -> Iterator[tuple[str, str, str]]:
    """(key, value there, value asked for) wherever two tables differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            inner = f"{name}.{key}" if name else key
            yield from _differences(inner, old.get(key, _MISSING), new.get(key, _MISSING))
    elif _MISSING in (old, new) or as_json(old) != as_json(new):
        yield name.removeprefix("job."), _short(old), _short(new)


def _short(value: Any) -> str:
    text = "nothing" if value is _MISSING else json.dumps(value)
    return text if len(text) <= 100 else f"{text[:97]}..."


def _entries(folder: Folder, manifest: dict[str, Any]) -> dict[int, Receipt]:
    try:
        receipts = [Receipt.of(entry) for entry in manifest["shards"]]
    except (KeyError, TypeError, AttributeError):
        raise ScaleoutError(
            f"{folder.manifest}: its list of shards is not as robomorph writes it; {OTHER}"
        ) from None
    return {receipt.shard.index: receipt for receipt in receipts}


def _wrong(path: Path, receipt: Receipt) -> str:
    """What is wrong with a finished shard's file; empty if nothing is."""
    try:
        size = path.stat().st_size
        if size != receipt.bytes:
            return f"has {size} bytes instead of {receipt.bytes}"
        return "" if sha256(path) == receipt.sha256 else "has another checksum than when it was written"
    except FileNotFoundError:
        return "is missing"
