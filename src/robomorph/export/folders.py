"""Folders that an export writes: whole, or as they were.

Files are first written into a folder inside the one asked for, then moved to their places, the manifest last.
An export that fails leaves what was there before. One that is killed leaves that inner folder, by which the
next recognises the files that are not a user's own.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from robomorph.errors import ArgumentError
from robomorph.export.manifest import MANIFEST, is_manifest, manifest_text

UNFINISHED = ".robomorph-unfinished"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_folder(
    folder: Path,
    files: Mapping[str, str],
    about: Mapping[str, Any],
    *,
    manifest: str = MANIFEST,
    force: bool = False,
) -> list[Path]:
    """Write text by path below `folder`, and what is known `about` it as `manifest`, which lists them;
    the paths written.

    Files of an earlier export, which its manifest lists, go. A folder that holds anything else is refused
    unless `force`: then what else is in it stays. OSError names the folder and, if it is full, the disk.
    """
    files = {**files, manifest: manifest_text(about, files, manifest)}
    if folder.exists() and not folder.is_dir():
        raise ArgumentError(f"{folder} is a file: expected a folder to write to")
    earlier = _earlier_files(folder, manifest)
    if earlier is None and not force:
        raise ArgumentError(
            f"{folder} is not empty and was not written by robomorph: expected an empty folder or an earlier "
            "export: choose another folder, or --force (force=True)"
        )
    with _explained(folder), _made(folder):
        unfinished = folder / UNFINISHED
        shutil.rmtree(unfinished, ignore_errors=True)
        try:
            # The manifest first: whoever finds this folder knows what may lie around it.
            for name in (manifest, *files):
                _write(unfinished / name, files[name])
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
        for name in {*(earlier or ())} - set(files):
            _remove(folder, name)
        for name in (*(name for name in files if name != manifest), manifest):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(unfinished / name, folder / name)
        shutil.rmtree(unfinished, ignore_errors=True)
    return [folder / name for name in files]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _earlier_files(folder: Path, manifest: str) -> list[str] | None:
    """What earlier exports wrote there, a killed one among them; None if the folder holds something else."""
    finished = _listed(folder / manifest)
    killed = _listed(folder / UNFINISHED / manifest) or []
    if finished is not None:
        return finished + killed
    places = (path for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    found = (path.relative_to(folder) for path in places)
    foreign = any(path.parts[0] != UNFINISHED and path.as_posix() not in killed for path in found)
    return None if foreign else killed


def _listed(manifest: Path) -> list[str] | None:
    """The files that a manifest lists; None if it is not ours, or there is none."""
    try:
        found = json.loads(manifest.read_text(encoding="utf-8"))
        return [str(name) for name in found.get("files", [])] if is_manifest(found) else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _remove(folder: Path, name: str) -> None:
    """Take away a file of an earlier export, never one outside the folder, whatever the manifest says."""
    path = folder / name
    if path.resolve().is_relative_to(folder.resolve()) and path.is_file():
        path.unlink()


@contextlib.contextmanager
def _made(folder: Path) -> Iterator[None]:
    """The folder exists within; if that fails, folders that were made for it go again."""
    new = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for place in new:
            with contextlib.suppress(OSError):  # somebody else may have put something there
                place.rmdir()
        raise


@contextlib.contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """An OSError says what could not be written, and which disk has no room."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _NO_ROOM:
            reason = f"cannot write the export: {reason}; {_disk(folder)}"
        elif error.filename is not None and UNFINISHED not in str(error.filename):
            raise
        raise OSError(error.errno, reason, str(folder)) from error


def _disk(folder: Path) -> str:
    """Where the disk that holds a folder is mounted, and its room."""
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    while not os.path.ismount(place):
        place = place.parent
    return f"the disk at {place} has {free / 1e6:.1f} MB left"
