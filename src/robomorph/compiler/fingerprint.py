"""The one fingerprint of robomorph's own source: no code made by another version is ever reused.

Reading the whole package takes longer than loading a cached kernel, so the cache on disk remembers the
fingerprint of files by what `stat` says about them. The time of a file's last change of status (ctime) is a
part of that: the system sets it at every write and whenever other times are set, and no user sets it back.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from robomorph.runtime.cache import KernelCache, default_cache

# What only shows makes no code.
_SHOWS = ("bench", "cli", "evidence", "report", "verify", "viewer")
# Two writes this close may have the same times: files are known by their status only when it is older.
_SETTLED_NS = 3_000_000_000


@cache
def source_fingerprint() -> str:
    """A hash over every Python file of the package but those that only show, and their names."""
    return fingerprint(Path(__file__).parents[1], default_cache())


def fingerprint(root: Path, memory: KernelCache) -> str:
    """The fingerprint of the package at `root`; `memory` may know it from an earlier process."""
    files = sorted(_status(str(root), ""))
    if not files:
        return os.urandom(32).hex()  # a package without sources: nobody can tell which code this is
    known = _known_by(root, files)
    remembered = memory.get(known) if known else None
    if remembered is not None:
        return remembered.decode("ascii")
    made = _digest(root, [name for name, _ in files])
    if known and sorted(_status(str(root), "")) == files:  # nobody wrote while we read
        memory.put(known, made.encode("ascii"), optional=True)
    return made


def _digest(root: Path, names: list[str]) -> str:
    digest = hashlib.sha256()
    for name in names:
        digest.update(name.encode() + b"\0" + (root / name).read_bytes())
    return digest.hexdigest()


_Status = tuple[int, ...]


def _status(folder: str, prefix: str) -> Iterator[tuple[str, _Status]]:
    """The name below the root, and the status, of every source file that makes code."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if prefix or entry.name not in _SHOWS:
                    yield from _status(entry.path, f"{prefix}{entry.name}/")
            elif entry.name.endswith(".py"):
                s = entry.stat()
                yield prefix + entry.name, (s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns)


def _known_by(root: Path, files: list[tuple[str, _Status]]) -> str | None:
    """What names files with exactly this content; None if their status does not tell."""
    changed = [status[-1] for _, status in files]
    settled = max(changed) + _SETTLED_NS < time.time_ns()
    # Images of disks often have one made-up time for all files, and Windows has no such time at all.
    real = os.name == "posix" and all(ns % 1_000_000_000 for ns in changed)
    return f"source fingerprint|{root}|{files}" if settled and real else None
