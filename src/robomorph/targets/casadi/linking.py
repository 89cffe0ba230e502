"""Shared libraries from object code, by the linker of a C compiler found here."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from robomorph.errors import TargetError

_NAMES = ("cc", "gcc", "clang")
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def find_linker() -> list[str] | None:
    """The command of a C compiler that links: $CC, or the first of cc, gcc, clang; None without any."""
    for words in (shlex.split(os.environ.get("CC", "")), *([name] for name in _NAMES)):
        if words and (path := shutil.which(words[0])):
            return [path, *words[1:]]
    return None


def link(objects: Sequence[Callable[[], bytes]], library: Path) -> None:
    """Make the shared library, which appears whole or not at all. A digest beside it names its content. The
    objects are made once it is known that they can be linked, and there."""
    command = find_linker()
    if command is None:
        raise TargetError(
            f"no C compiler to link a shared library (looked for $CC, {', '.join(_NAMES)}): install gcc or "
            "clang"
        )
    library.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".linking-", dir=library.parent) as folder:
        paths = [Path(folder) / f"part{k}.o" for k in range(len(objects))]
        for path, content in zip(paths, objects, strict=True):
            path.write_bytes(content())
        made = Path(folder) / "library.so"
        words = [*command, "-shared", "-o", str(made), *map(str, paths)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise TargetError(f"the linker failed: {shlex.join(words)}\n{done.stderr[:4000]}")
        made.chmod(0o700)
        digest = Path(folder) / "digest"
        digest.write_text(_digest(made.read_bytes()))
        os.replace(digest, _digest_path(library))
        os.replace(made, library)


def is_whole(library: Path) -> bool:
    """Is there a library that may be loaded: ours, nobody else may write it, and as it was made?"""
    try:
        status = os.lstat(library)
        ours = status.st_uid == os.geteuid() and not status.st_mode & _WRITABLE_BY_OTHERS
        if not stat.S_ISREG(status.st_mode) or not ours:
            return False
        return _digest_path(library).read_text() == _digest(library.read_bytes())
    except OSError:
        return False


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digest_path(library: Path) -> Path:
    return library.with_suffix(".sha256")
