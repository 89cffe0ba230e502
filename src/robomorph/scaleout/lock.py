"""One driver per folder: a lock that the system gives back when its holder dies, however it dies."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from robomorph.errors import ScaleoutError
from robomorph.scaleout.folder import alive

_UNKNOWN = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL)


@contextmanager
def only_driver(folder: Path) -> Iterator[None]:
    """Holds `folder/.lock` for a while; a ScaleoutError names who has it otherwise."""
    path = folder / ".lock"
    descriptor = _locked(path)
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{socket.gethostname()} {os.getpid()}\n".encode(), 0)
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _locked(path: Path) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _take(descriptor, path)
            if _still_there(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # its holder removed it between our two calls


def _take(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = os.pread(descriptor, 300, 0).decode(errors="replace").split()
        if error.errno not in _UNKNOWN or _seems_alive(holder):
            raise _taken(path, holder) from None


def _seems_alive(holder: list[str]) -> bool:
    """Where the disk has no locks, the file's text must do; of another machine we cannot know."""
    if len(holder) != 2:
        return False
    return holder[0] != socket.gethostname() or (holder[1].isdecimal() and alive(int(holder[1])))


def _still_there(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _taken(path: Path, holder: list[str]) -> ScaleoutError:
    who = f"process {holder[1]} on {holder[0]}" if len(holder) == 2 else "another process"
    return ScaleoutError(
        f"{path.parent}: {who} is working on this folder. Wait for it, end it, or choose another folder; "
        f"if it is gone for certain, remove {path}"
    )
