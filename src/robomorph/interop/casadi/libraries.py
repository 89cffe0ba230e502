"""Shared libraries of functions for CasADi, kept on disk under names that tell all that is in them."""

from __future__ import annotations

import atexit
import ctypes
import functools
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from robomorph.errors import TargetError
from robomorph.runtime.cache import default_cache
from robomorph.targets.casadi.callee import Callee
from robomorph.targets.casadi.linking import is_whole, link
from robomorph.targets.casadi.machine_code import object_code

logger = logging.getLogger(__name__)
_FOLDER = "casadi"  # of the kernel cache
_LIMIT_BYTES = 512 * 2**20


def library(
    name: str, make: Callable[[], Sequence[Callee]], folder: Path | None, *, keep: bool = True
) -> Path:
    """The library `name`.so, made if it is not in `folder` (None: the kernel cache, or a folder of this
    process alone where there is none, or none that can be written, or where no other process could use it:
    `keep` is False)."""
    cached = default_cache().directory if keep else None
    if folder is None and cached is not None:
        try:
            return _in_folder(name, make, cached / _FOLDER)
        except OSError as error:
            logger.warning("cannot keep %s.so in %s, going on without: %s", name, cached, error)
    chosen = _temporary() if folder is None else folder
    try:
        return _in_folder(name, make, chosen)
    except OSError as error:
        raise TargetError(
            f"folder {chosen}: expected one that {name}.so can be written to, found: {error}: give another "
            "as folder="
        ) from error


def make_known(path: Path) -> None:
    """Load the library so that all code of the process finds its functions by their names: what CasADi
    compiles just in time (`jit`) calls them so, and a name that is not found ends the process."""
    try:
        ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise TargetError(
            f"folder {path.parent}: expected one whose libraries can be loaded, found: {error}: give another "
            "as folder="
        ) from error


def _in_folder(name: str, make: Callable[[], Sequence[Callee]], folder: Path) -> Path:
    path = folder / f"{name}.so"
    if is_whole(path):
        _mark_used(path)
    else:
        link([functools.partial(object_code, callee) for callee in make()], path)
        _evict(folder)
    return path


@functools.cache
def _temporary() -> Path:
    """For this process alone, where there is no cache."""
    folder = Path(tempfile.mkdtemp(prefix="robomorph-casadi-"))
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: Path, owner: int) -> None:
    """Not at the end of a process that was forked off and knows the folder."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _mark_used(path: Path) -> None:
    try:
        os.utime(path)
    except OSError:
        return


def _evict(folder: Path) -> None:
    """Remove libraries unused for longest until the rest fits. Who has loaded one keeps it."""
    found = []
    for path in folder.glob("*.so"):
        try:
            found.append((path.stat().st_mtime_ns, path.stat().st_size, path))
        except OSError:
            continue
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found)[:-1]:
        if total <= _LIMIT_BYTES:
            return
        path.unlink(missing_ok=True)
        path.with_suffix(".sha256").unlink(missing_ok=True)
        total -= size
