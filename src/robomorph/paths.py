"""Paths as people write them."""

from __future__ import annotations

import os
from pathlib import Path


def user_path(name: str | os.PathLike[str]) -> Path:
    """The path that `name` means: a leading `~` or `~user` is a home folder, unless a file is called so."""
    path = Path(name)
    if not os.fspath(path).startswith("~") or os.path.exists(path):
        return path
    try:
        return path.expanduser()
    except (RuntimeError, ValueError):  # no such user, no home, or no such name
        return path
