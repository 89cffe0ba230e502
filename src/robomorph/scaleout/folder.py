"""A run's folder: whole shards, a manifest once all are there, and `progress/` until then.

`progress/` has a header that says which run this is, a receipt beside every finished shard, and files that
are being
written. Workers need to share nothing but this folder. Whatever dies at whatever moment, a file here is
whole or it lies in `progress/` under a name of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import socket
import uuid
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robomorph.errors import ScaleoutError
from robomorph.scaleout.job import Shard

MANIFEST = "manifest.json"
HEADER = "header.json"
_PART = re.compile(r"shard-\d+\.(.+)\.(\d+)\.[0-9a-f]{32}\.part.*")  # machine and process


@dataclass(frozen=True)
class Receipt:
    """A finished shard: its file, that file's size [B] and SHA-256; and facts that go into no result."""

    shard: Shard
    file: str
    bytes: int
    sha256: str
    seconds: float = 0.0
    facts: dict[str, Any] | None = None

    def entry(self) -> dict[str, Any]:
        """What the manifest says of it."""
        shard = self.shard
        return {
            **{"index": shard.index, "start": shard.start, "rows": shard.rows},
            **{"file": self.file, "bytes": self.bytes, "sha256": self.sha256},
        }

    def text(self) -> str:
        """As a file in `progress/`."""
        return as_json({**self.entry(), "seconds": self.seconds, "facts": self.facts})

    @classmethod
    def of(cls, data: dict[str, Any]) -> Receipt:
        """From such a file, or from a row of the manifest. Raises KeyError or TypeError on anything else."""
        shard = Shard(*(_whole(data[key]) for key in ("index", "start", "rows")))
        name, digest = data["file"], data["sha256"]
        if not isinstance(name, str) or not isinstance(digest, str) or Path(name).name != name:
            raise TypeError("file and sha256 must be names")
        size = _whole(data["bytes"])
        return cls(shard, name, size, digest, float(data.get("seconds") or 0.0), data.get("facts"))


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("expected a whole number")
    return value


class Folder:
    """The names and files of a run's folder. Paths are absolute, as workers have folders of their own."""

    def __init__(self, path: Path, suffix: str = "") -> None:
        self.path = Path(os.path.abspath(path))
        self.suffix = suffix

    @property
    def manifest(self) -> Path:
        return self.path / MANIFEST

    @property
    def progress(self) -> Path:
        return self.path / "progress"

    @property
    def header(self) -> Path:
        return self.progress / HEADER

    def shard(self, index: int) -> Path:
        """The file of a shard."""
        return self.path / f"shard-{index:06d}{self.suffix}"

    def receipt(self, index: int) -> Path:
        return self.progress / f"shard-{index:06d}.json"

    def aside(self, index: int) -> Path:
        """A name that nobody else has, to write a shard to. It tells who writes, so that leftovers can be
        told."""
        unique = f"{socket.gethostname()}.{os.getpid()}.{uuid.uuid4().hex}"
        return self.progress / f"shard-{index:06d}.{unique}.part{self.suffix}"

    def receipts(self, only: Container[int] | None = None) -> Iterator[Receipt]:
        """Those in `progress/`, or among them those of some shards; one that cannot be read counts as not
        there, and its shard is done again."""
        for path in sorted(self.progress.glob("shard-*.json")):
            index = path.stem.removeprefix("shard-")
            if only is not None and not (index.isdecimal() and int(index) in only):
                continue
            try:
                yield Receipt.of(json.loads(path.read_text(encoding="utf-8")))
            except (OSError, ValueError, KeyError, TypeError):
                continue

    def remove_leftovers(self) -> None:
        """Unfinished files of processes of this machine that are gone; others go with `progress/` at the
        end."""
        for path in self.progress.glob("shard-*.part*"):
            found = _PART.fullmatch(path.name)
            if found and found[1] == socket.gethostname() and not alive(int(found[2])):
                path.unlink(missing_ok=True)

    def remove_progress(self) -> None:
        """Header first: from then on a late worker sees that it writes for nobody."""
        self.header.unlink(missing_ok=True)
        shutil.rmtree(self.progress, ignore_errors=True)


def alive(process: int) -> bool:
    """Whether a process of this machine is there."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def as_json(data: Any) -> str:
    """One text for equal data: sorted keys, and numbers that JSON has."""
    return json.dumps(data, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_json(path: Path) -> dict[str, Any] | None:
    """A file of ours, None if there is none. Anything else than a table is an error."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ScaleoutError(f"{path}: expected JSON as robomorph writes it, found {error}; {OTHER}") from None
    if not isinstance(data, dict):
        raise ScaleoutError(f"{path}: expected a JSON table, found {type(data).__name__}; {OTHER}")
    return data


OTHER = "choose another folder, or remove this one if nothing in it is needed"


def write_whole(path: Path, text: str) -> None:
    """A file that appears whole or not at all, also if the machine loses power."""
    aside = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with open(aside, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        move(aside, path)
    finally:
        aside.unlink(missing_ok=True)


def move(aside: Path, path: Path) -> None:
    """Into place, with the folder's entry on disk as well."""
    os.replace(aside, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    except OSError:  # some network disks do not know it for folders
        pass
    finally:
        os.close(folder)


def sha256(path: Path) -> str:
    """Of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
