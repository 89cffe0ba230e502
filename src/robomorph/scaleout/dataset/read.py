"""Reading a data set: shard by shard as arrays, each file checked against its checksum first."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ScaleoutError
from robomorph.paths import user_path
from robomorph.scaleout.folder import MANIFEST, Receipt, read_json, sha256
from robomorph.scaleout.formats import format_called

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class OpenDataset:
    """A finished data set. Iterating gives each shard as arrays (rows, *shape) by column, in order.

    about: what the job says of itself: robot, law, seed, columns with shapes and units."""

    folder: Path
    about: dict[str, Any]
    shards: tuple[Receipt, ...]

    @property
    def rows(self) -> int:
        return sum(receipt.shard.rows for receipt in self.shards)

    @property
    def columns(self) -> tuple[str, ...]:
        """States, then results."""
        return tuple(column["name"] for column in self.about["columns"])

    def __len__(self) -> int:
        """Shards."""
        return len(self.shards)

    def __iter__(self) -> Iterator[dict[str, Array]]:
        return (self.shard(index) for index in range(len(self.shards)))

    def shard(self, index: int) -> dict[str, Array]:
        """The arrays of one shard; ScaleoutError if its file is missing or damaged."""
        receipt = self.shards[index]
        path = self.folder / receipt.file
        wrong = damage(self.folder, receipt)
        if wrong:
            raise ScaleoutError(f"{path}: {wrong}: give the command that made it again, and it is made anew")
        found = format_called(self.about["format"]).read(path)
        if any(len(array) != receipt.shard.rows for array in found.values()):
            raise ScaleoutError(f"{path}: expected {receipt.shard.rows} rows, found others")
        return found

    def load(self) -> dict[str, Array]:
        """All rows as one array per column: for data sets that fit into memory."""
        parts = list(self)
        return {name: np.concatenate([part[name] for part in parts]) for name in self.columns}


def open_dataset(folder: str | os.PathLike[str]) -> OpenDataset:
    """The data set in a folder that `robomorph dataset` has finished."""
    path = user_path(folder)
    manifest = _manifest(path)
    if manifest.get("kind") != "dataset" or not isinstance(manifest.get("job"), dict):
        raise ScaleoutError(f"{path}: expected a data set, found a run of the kind {manifest.get('kind')!r}")
    return OpenDataset(path, manifest["job"], _receipts(path, manifest))


@dataclass(frozen=True)
class Verified:
    """What `verify_folder` found: how many files are as they were, and what is wrong with the others."""

    kind: str
    files: int
    rows: int
    bytes: int
    wrong: dict[str, str]


def verify_folder(folder: str | os.PathLike[str]) -> Verified:
    """Every shard of any finished run against the size and SHA-256 that its manifest has."""
    path = user_path(folder)
    manifest = _manifest(path)
    receipts = _receipts(path, manifest)
    found = {receipt.file: damage(path, receipt) for receipt in receipts}
    return Verified(
        kind=str(manifest.get("kind")),
        files=len(receipts),
        rows=sum(receipt.shard.rows for receipt in receipts),
        bytes=sum(receipt.bytes for receipt in receipts),
        wrong={name: reason for name, reason in found.items() if reason},
    )


def damage(folder: Path, receipt: Receipt) -> str:
    """What is wrong with a shard's file; empty if nothing is."""
    path = folder / receipt.file
    if not path.is_file():
        return "missing"
    size = path.stat().st_size
    if size != receipt.bytes:
        return f"damaged: expected {receipt.bytes} bytes, found {size}"
    found = sha256(path)
    if found != receipt.sha256:
        return f"damaged: expected SHA-256 {receipt.sha256[:12]}..., found {found[:12]}..."
    return ""


def _manifest(path: Path) -> dict[str, Any]:
    if not path.is_dir():
        raise ScaleoutError(f"{path}: expected a folder that `robomorph dataset` wrote, found none")
    manifest = read_json(path / MANIFEST)
    if manifest is None:
        unfinished = (path / "progress").is_dir()
        mend = "a run that is not finished: give its command again" if unfinished else "none"
        raise ScaleoutError(f"{path}: expected a {MANIFEST} of a finished run, found {mend}")
    return manifest


def _receipts(path: Path, manifest: dict[str, Any]) -> tuple[Receipt, ...]:
    try:
        receipts = tuple(Receipt.of(entry) for entry in manifest["shards"])
    except (KeyError, TypeError, ValueError):
        raise ScaleoutError(f"{path / MANIFEST}: its list of shards is not as robomorph writes it") from None
    return tuple(sorted(receipts, key=lambda receipt: receipt.shard.index))
