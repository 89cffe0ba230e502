"""What goes to a worker and what comes back, and the work itself: one shard, written aside and moved into
place."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robomorph import __version__
from robomorph.errors import ScaleoutError
from robomorph.scaleout.folder import Folder, Receipt, move, sha256, write_whole
from robomorph.scaleout.job import Job, Shard
from robomorph.scaleout.summary import numbers

# Set for workers before they start, unless the user said otherwise: many workers with many threads each would
# only be in each other's way.
THREAD_VARIABLES = ("ROBOMORPH_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# After these no other shard can be written either.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
_NO_ENTRY = (errno.EACCES, errno.EPERM)


def one_thread() -> dict[str, str]:
    """Environment variables of a worker: one thread each, or what this process's environment says."""
    return {name: os.environ.get(name) or "1" for name in THREAD_VARIABLES}


def versions() -> dict[str, str]:
    """The packages on which the bytes of a result may depend."""
    return {"robomorph": __version__, "numpy": np.__version__}


@dataclass(frozen=True)
class Task:
    """A shard of a job and where it goes. `header`: SHA-256 of the run's header, which the worker must find
    there."""

    job: Job
    shard: Shard
    folder: str
    header: str
    versions: dict[str, str]


@dataclass(frozen=True)
class Done:
    index: int
    receipt: Receipt


@dataclass(frozen=True)
class Failed:
    """An exception in the worker. `fatal`: other shards would meet it too, so the run stops."""

    index: int
    error: str
    kind: str
    errno: int | None = None
    fatal: bool = False


@dataclass(frozen=True)
class Lost:
    """The worker died and took the shard with it."""

    index: int
    reason: str


Outcome = Done | Failed | Lost


def do(task: Task) -> Done | Failed:
    """Does one shard. Never raises, so that an engine needs to know nothing of what may go wrong in a job."""
    try:
        return Done(task.shard.index, _written(task))
    except (Exception, SystemExit) as error:
        return failure(task, error)


def failure(task: Task, error: BaseException) -> Failed:
    """What an exception means for the run."""
    system = next((e for e in _chain(error) if isinstance(e, OSError)), None)
    number = system.errno if system is not None else None
    ours = system is not None and str(system.filename or "").startswith(task.folder)
    fatal = number in _NO_ROOM or (ours and number in _NO_ENTRY) or isinstance(error, _NotOurRun)
    return Failed(task.shard.index, str(error) or repr(error), type(error).__name__, number, fatal)


def _chain(error: BaseException) -> Iterator[BaseException]:
    found: BaseException | None = error
    for _ in range(10):
        if found is None:
            return
        yield found
        found = found.__cause__ or found.__context__


class _NotOurRun(ScaleoutError):
    """This worker cannot serve the run: other packages, another disk, or a run that is over."""


def _written(task: Task) -> Receipt:
    begun = time.perf_counter()
    folder = Folder(Path(task.folder), task.job.suffix)
    _check_worker(task, folder)
    path, aside = folder.shard(task.shard.index), folder.aside(task.shard.index)
    try:
        facts = task.job.write(task.shard, aside)
        if not aside.is_file():
            raise ScaleoutError(f"the job {task.job.kind!r} wrote no file for shard {task.shard.index}")
        with open(aside, "rb+") as file:
            os.fsync(file.fileno())
        receipt = Receipt(
            *(task.shard, path.name, aside.stat().st_size, sha256(aside)),
            *(time.perf_counter() - begun, numbers(facts)),
        )
        _check_run(task, folder)  # again: the driver may have died and another begun anew since
        folder.receipt(task.shard.index).unlink(missing_ok=True)
        move(aside, path)
    finally:
        aside.unlink(missing_ok=True)
    write_whole(folder.receipt(task.shard.index), receipt.text())
    return receipt


def _check_worker(task: Task, folder: Folder) -> None:
    found = versions()
    if found != task.versions:
        raise _NotOurRun(
            f"the worker on {socket.gethostname()} has {_named(found)}, but the run was started with "
            f"{_named(task.versions)}: install the same versions everywhere, as results may depend on them"
        )
    _check_run(task, folder)


def _check_run(task: Task, folder: Folder) -> None:
    try:
        header = folder.header.read_bytes()
    except FileNotFoundError:
        header = b""
    if hashlib.sha256(header).hexdigest() != task.header:
        raise _NotOurRun(
            f"the worker on {socket.gethostname()} finds no such run in {folder.path}: the folder "
            "must be on a disk "
            "that driver and workers share under the same name, and the run must not be over"
        )


def _named(packages: dict[str, str]) -> str:
    return " and ".join(f"{name} {version}" for name, version in sorted(packages.items()))
