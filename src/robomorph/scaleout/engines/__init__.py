"""Where shards are done. An engine is one file here with a class, and a row in the table below.

An engine hands tasks to workers and says what became of each; it retries nothing and knows no job.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Protocol

from robomorph.errors import ScaleoutError
from robomorph.naming import hint
from robomorph.scaleout.job import Job
from robomorph.scaleout.work import Outcome, Task


class Engine(Protocol):
    """Open until closed; `close` ends what is under way."""

    @property
    def workers(self) -> int:
        """How many shards can be under way at a time. May change while a cluster grows or shrinks."""

    def submit(self, task: Task) -> None:
        """Takes a task; twice as many as there are workers may be waiting."""

    def wait(self) -> list[Outcome]:
        """Blocks until something became of at least one task: done, failed, or lost with its worker."""

    def close(self) -> None:
        """Gives back everything that was started."""


# name: (module, class, whether an address may follow)
_TABLE = {
    "serial": ("serial", "Serial", False),
    "local": ("local", "Local", False),
    "dask": ("dask", "Dask", True),
    "ray": ("ray", "Ray", True),
}
NAMES = (*_TABLE, "slurm")


def check_engine(name: str, workers: int | None) -> None:
    """Raises a ScaleoutError unless `name` is a name of the table or `dask://host:port`, `ray://host:port`."""
    if workers is not None and (not isinstance(workers, int) or isinstance(workers, bool) or workers < 1):
        raise ScaleoutError(f"workers: expected a positive whole number, found {workers!r}")
    kind, separator, address = name.partition("://") if isinstance(name, str) else (repr(name), "", "")
    if kind not in NAMES or (separator and not _TABLE.get(kind, ("", "", False))[2]):
        raise ScaleoutError(f"no engine is called {name!r}: {hint(kind, NAMES)}; {_ADDRESSES}")
    if separator and (not address or workers is not None):
        raise ScaleoutError(
            f"{name!r}: an address is written {kind}://host:port, and the cluster says how many "
            "workers there are"
        )


def open_engine(name: str, workers: int | None) -> Engine:
    """The engine called `name`, which `check_engine` has let pass; not "slurm", which runs later and
    elsewhere."""
    kind, _, address = name.partition("://")
    module, attribute, _ = _TABLE[kind]
    make: Callable[[str, int | None], Engine] = getattr(import_module(f"{__name__}.{module}"), attribute)
    return make(address, workers)


def check_sendable(name: str, job: Job) -> None:
    """Raises a ScaleoutError if the engine called `name` could not send the job to its workers."""
    kind, _, address = name.partition("://")
    if kind == "serial":
        return
    if kind == "ray" and address:  # Ray is imported for the first time here
        import_module(f"{__name__}.ray").use_token()
    try:
        module = import_module(_PICKLES.get(kind, "pickle"))
    except ImportError:
        return  # the engine itself is missing, and says so better
    try:
        module.dumps(job)
    except Exception as error:  # whatever a part of the job raises
        raise ScaleoutError(
            f"the job {job.kind!r} cannot be sent to workers of the engine {name!r}: expected something that "
            f"pickle takes, found {type(error).__name__}: {error}; define its functions and classes in a "
            "module, or use engine='serial'"
        ) from error


# Dask and Ray also take what is defined in a script or a function.
_PICKLES = {"dask": "cloudpickle", "ray": "ray.cloudpickle"}


@contextmanager
def engine_errors(name: str) -> Iterator[None]:
    """Errors of the system in an engine's own work, such as a lost connection: not of the run's folder."""
    try:
        yield
    except OSError as error:
        raise ScaleoutError(
            f"the engine {name!r} failed: {type(error).__name__}: {error}; what is finished is kept: when "
            "the cause is mended, run the same command with the same folder again"
        ) from error


@contextmanager
def opened(name: str, workers: int | None) -> Iterator[Engine]:
    """An engine for a while."""
    with engine_errors(name):
        engine = open_engine(name, workers)
    try:
        yield engine
    finally:
        with engine_errors(name):
            engine.close()


_ADDRESSES = "a running cluster is dask://host:port or ray://host:port"


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
