"""Environment variables changed for a while, among them those that say where compiled kernels are kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager


@contextmanager
def environment(**values: str | None) -> Iterator[None]:
    """Environment variables changed for a while; None unsets one."""
    before = {name: os.environ.get(name) for name in values}
    _set_environment(values)
    try:
        yield
    finally:
        _set_environment(before)


def _set_environment(values: dict[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def cache_folder(folder: str) -> AbstractContextManager[None]:
    """The kernel cache switched on and kept in `folder` for a while."""
    return environment(ROBOMORPH_CACHE_DIR=folder, ROBOMORPH_CACHE=None)
