"""Pages as files: where they may be written, and written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from robomorph.errors import ArgumentError
from robomorph.paths import user_path


def html_path(path: str | Path) -> Path:
    """Where a page is to be written: a file's name ending in .html."""
    found = user_path(path)
    if found.suffix.lower() not in (".html", ".htm"):
        raise ArgumentError(f"html: expected a file's name ending in .html, found {found.name!r}")
    return found


def write_html(path: str | Path, text: str) -> None:
    """Another page of that name stays as it is until this one is whole."""
    target = html_path(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)  # as any other file: temporary ones are their owner's alone
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise
