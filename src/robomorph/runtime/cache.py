"""Compiled kernels on disk, found again by the text they were made from.

An entry is machine code that will be executed, so a reader trusts nothing it has not checked: who owns the
file, that nobody else may write it, and digests of key and payload. Whatever fails is never used, and the
kernel is made anew. Trouble with the disk is no error for the user: kernels only take longer to make.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import stat
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

logger = logging.getLogger(__name__)

_MAGIC = b"ROBOMORPH-KERNEL"
_FORMAT = 1
# magic, format version, SHA-256 of the key, length of the payload, SHA-256 of the payload
_HEADER = struct.Struct("<16sI32sQ32s")
_SUFFIX = ".kernel"
_TEMPORARY_SUFFIX = ".tmp"
_DEFAULT_LIMIT_MB = 512
_EVICTION_INTERVAL_S = 60.0
_ABANDONED_AFTER_S = 3600.0
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class _BadEntryError(Exception):
    """An entry that must not be used; `remove` says whether it is ours to delete."""

    def __init__(self, reason: str, *, remove: bool) -> None:
        super().__init__(reason)
        self.remove = remove


class KernelCache:
    """A folder of compiled kernels.

    Any number of processes may share the folder: entries appear whole or not at all, and two writers of the
    same key write the same content. `directory=None` makes a cache that holds nothing.
    """

    def __init__(self, directory: Path | None, *, limit_bytes: int | None = None) -> None:
        self._directory = directory
        self._limit_bytes = _DEFAULT_LIMIT_MB * 2**20 if limit_bytes is None else limit_bytes
        self._last_eviction: float | None = None
        self._complained = False

    @property
    def directory(self) -> Path | None:
        """Where the entries are, or None when the cache is off."""
        return self._directory

    def get(self, key: str) -> bytes | None:
        """The payload stored under `key`, or None if there is none that can be trusted."""
        if self._directory is None:
            return None
        path = self._path(self._directory, key)
        try:
            return _read_entry(path, _digest(key))
        except FileNotFoundError:
            return None
        except _BadEntryError as bad:
            logger.warning("ignoring the cached kernel %s: %s", path, bad)
            if bad.remove:
                _remove(path)
        except OSError as error:
            self._complain("cannot read the kernel cache %s: %s", self._directory, error)
        return None

    def put(self, key: str, payload: bytes, *, optional: bool = False) -> None:
        """Stores `payload` under `key`, replacing what was there; only logs if that is impossible, and not
        even that if it is `optional`: a folder that is full of kernels may well be read-only."""
        if self._directory is None:
            return
        header = _HEADER.pack(_MAGIC, _FORMAT, _digest(key), len(payload), hashlib.sha256(payload).digest())
        try:
            _write_atomically(self._directory, self._path(self._directory, key), header + payload)
            self._evict_sometimes(self._directory)
        except OSError as error:
            if not optional:
                self._complain(
                    "cannot write the kernel cache %s, going on without: %s", self._directory, error
                )

    def clear(self) -> None:
        """Removes all entries."""
        for path, _ in self._entries():
            _remove(path)

    def size(self) -> int:
        """Bytes taken by all entries."""
        return sum(status.st_size for _, status in self._entries())

    @staticmethod
    def _path(directory: Path, key: str) -> Path:
        return directory / (_digest(key).hex() + _SUFFIX)

    def _entries(self) -> Iterator[tuple[Path, os.stat_result]]:
        if self._directory is not None:
            yield from _files(self._directory, _SUFFIX)

    def _evict_sometimes(self, directory: Path) -> None:
        """Keeps the folder below its limit; looks at most once a minute, as listing a folder takes time."""
        now = time.monotonic()
        if self._last_eviction is not None and now - self._last_eviction < _EVICTION_INTERVAL_S:
            return
        self._last_eviction = now
        _remove_abandoned(directory)
        _evict(list(self._entries()), self._limit_bytes)

    def _complain(self, message: str, *args: object) -> None:
        """Logs trouble with the folder once: it would repeat for every kernel."""
        if not self._complained:
            self._complained = True
            logger.warning(message, *args)


def default_cache() -> KernelCache:
    """The cache that the environment asks for.

    ROBOMORPH_CACHE=off switches it off; ROBOMORPH_CACHE_DIR names the folder, else it is `robomorph` in the
    platform's folder for caches; ROBOMORPH_CACHE_LIMIT_MB caps its size (default 512).
    """
    return _shared_cache(_default_directory(), _default_limit())


@functools.lru_cache(maxsize=8)
def _shared_cache(directory: Path | None, limit_bytes: int) -> KernelCache:
    return KernelCache(directory, limit_bytes=limit_bytes)


def _default_directory() -> Path | None:
    if os.environ.get("ROBOMORPH_CACHE", "").strip().lower() in {"off", "0", "no", "false"}:
        return None
    if chosen := os.environ.get("ROBOMORPH_CACHE_DIR"):
        return Path(chosen).expanduser().absolute()
    # The XDG specification has relative paths ignored.
    if (xdg := os.environ.get("XDG_CACHE_HOME")) and os.path.isabs(xdg):
        return Path(xdg) / "robomorph"
    try:
        home = Path.home()
    except RuntimeError:  # no home folder, as in some containers
        return None
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "robomorph"


def _default_limit() -> int:
    text = os.environ.get("ROBOMORPH_CACHE_LIMIT_MB", "")
    try:
        megabytes = float(text) if text else float(_DEFAULT_LIMIT_MB)
        return max(0, int(megabytes * 2**20))
    except (ValueError, OverflowError):
        logger.warning("ROBOMORPH_CACHE_LIMIT_MB is %r, not a number: using %d", text, _DEFAULT_LIMIT_MB)
        return _DEFAULT_LIMIT_MB * 2**20


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def _read_entry(path: Path, key_digest: bytes) -> bytes:
    """The checked payload of one entry; _BadEntryError if any check fails, OSError if it cannot be read."""
    # Not through a symbolic link, and not waiting for the other end of a pipe.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        _check_owner(os.fstat(descriptor))
        payload = _check_content(file.read(), key_digest)
        _mark_used(descriptor)
    return payload


def _check_owner(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise _BadEntryError("it is not a regular file", remove=False)
    if status.st_uid != os.geteuid():
        raise _BadEntryError(f"it belongs to user {status.st_uid}, not to {os.geteuid()}", remove=False)
    if status.st_mode & _WRITABLE_BY_OTHERS:
        raise _BadEntryError("other users may write to it", remove=True)


def _check_content(content: bytes, key_digest: bytes) -> bytes:
    if len(content) < _HEADER.size:
        raise _BadEntryError("it is truncated", remove=True)
    magic, version, stored_key, length, payload_digest = _HEADER.unpack_from(content)
    payload = content[_HEADER.size :]
    if magic != _MAGIC or version != _FORMAT:
        raise _BadEntryError("it is not a kernel of this format", remove=True)
    if stored_key != key_digest:
        raise _BadEntryError("it was made for another key", remove=True)
    if length != len(payload):
        raise _BadEntryError(f"its payload has {len(payload)} bytes instead of {length}", remove=True)
    if payload_digest != hashlib.sha256(payload).digest():
        raise _BadEntryError("its payload is damaged", remove=True)
    return payload


def _mark_used(descriptor: int) -> None:
    """The modification time is the time of last use: access times are switched off on many disks."""
    try:
        os.utime(descriptor)
    except OSError:
        return


def _write_atomically(directory: Path, path: Path, content: bytes) -> None:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(suffix=_TEMPORARY_SUFFIX, dir=directory)  # readable by us alone
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
        os.replace(temporary, path)
    except BaseException:
        _remove(Path(temporary))
        raise


def _files(directory: Path, suffix: str) -> Iterator[tuple[Path, os.stat_result]]:
    """Regular files of the folder by suffix; those that vanish while we look are left out."""
    try:
        with os.scandir(directory) as entries:
            names = [entry.path for entry in entries if entry.name.endswith(suffix)]
    except OSError:
        return
    for name in names:
        try:
            status = os.lstat(name)
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):
            yield Path(name), status


def _evict(entries: list[tuple[Path, os.stat_result]], limit_bytes: int) -> None:
    """Removes the entries unused for longest until the rest fits."""
    total = sum(status.st_size for _, status in entries)
    for path, status in sorted(entries, key=lambda entry: entry[1].st_mtime_ns):
        if total <= limit_bytes:
            return
        _remove(path)
        total -= status.st_size


def _remove_abandoned(directory: Path) -> None:
    """Removes what writers that were killed have left."""
    for path, status in _files(directory, _TEMPORARY_SUFFIX):
        if time.time() - status.st_mtime > _ABANDONED_AFTER_S:
            _remove(path)


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        logger.debug("cannot remove %s: %s", path, error)
