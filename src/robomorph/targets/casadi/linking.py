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
    for words in (_words(os.environ.get("CC", "")), *([name] for name in _NAMES)):
        if words and (path := shutil.which(words[0])):
            return [path, *words[1:]]
    return None


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise TargetError(f"CC: expected the command of a C compiler, found {command!r}: {error}") from error


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
        _run([*command, "-shared", "-o", str(made), *map(str, paths)], made)
        made.chmod(0o700)
        digest = Path(folder) / "digest"
        digest.write_bytes(_digest(made.read_bytes()))
        os.replace(digest, _digest_path(library))
        os.replace(made, library)


def _run(words: Sequence[str], made: Path) -> None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        said = str(error)
    else:
        if not done.returncode and made.is_file():
            return
        said = done.stderr[:4000].strip() or f"exit code {done.returncode}, and no library was made"
    raise TargetError(
        f"the linker failed: {shlex.join(words)}\n{said}\nExpected a C compiler that links shared libraries: "
        "name one in $CC, or ask for kind='expressions'"
    )


def is_whole(library: Path) -> bool:
    """Is there a library that may be loaded: ours, nobody else may write it, and as it was made?"""
    try:
        status = os.lstat(library)
        ours = status.st_uid == os.geteuid() and not status.st_mode & _WRITABLE_BY_OTHERS
        if not stat.S_ISREG(status.st_mode) or not ours:
            return False
        return _digest_path(library).read_bytes() == _digest(library.read_bytes())
    except OSError:
        return False


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode("ascii")


def _digest_path(library: Path) -> Path:
    return library.with_suffix(".sha256")
