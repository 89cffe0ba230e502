"""Shared libraries of functions for CasADi, kept on disk under names that tell all that is in them."""

from __future__ import annotations

import atexit
import functools
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from robomorph.runtime.cache import default_cache
from robomorph.targets.casadi.callee import Callee
from robomorph.targets.casadi.linking import is_whole, link
from robomorph.targets.casadi.machine_code import object_code

logger = logging.getLogger(__name__)
_FOLDER = "casadi"  # of the kernel cache
_LIMIT_BYTES = 512 * 2**20


def library(name: str, make: Callable[[], Sequence[Callee]], folder: Path | None) -> Path:
    """The library `name`.so, made if it is not in `folder` (None: the kernel cache)."""
    places = [_temporary()] if folder is None else [folder]
    cached = default_cache().directory
    if folder is None and cached is not None:
        places.insert(0, cached / _FOLDER)
    for place in places:
        path = place / f"{name}.so"
        if is_whole(path):
            _mark_used(path)
            return path
    objects = [object_code(callee) for callee in make()]
    for place in places:
        path = place / f"{name}.so"
        try:
            link(objects, path)
        except OSError as error:
            if place == places[-1]:
                raise
            logger.warning("cannot write %s, going on without keeping it: %s", path, error)
            continue
        _evict(place)
        return path
    raise AssertionError("the last place either works or raises")


@functools.cache
def _temporary() -> Path:
    """For this process alone, where there is no cache."""
    folder = Path(tempfile.mkdtemp(prefix="robomorph-casadi-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


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
