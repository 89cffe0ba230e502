"""Where the mesh files of a description lie: package, model and file addresses, and plain paths.

Files are looked for, never opened: loading a robot costs the same however large its meshes are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

from ..errors import ArgumentError
from ..paths import user_path

PackageDirs: TypeAlias = Sequence[str | os.PathLike[str]]

# Variables that list folders, and where a package called {} lies in one of them.
_VARIABLES = (
    ("ROS_PACKAGE_PATH", ("{}", "*/{}", ".")),
    ("AMENT_PREFIX_PATH", ("share/{}",)),
    ("COLCON_PREFIX_PATH", ("share/{}", "{}/share/{}")),
    ("CMAKE_PREFIX_PATH", ("share/{}",)),
    ("GZ_SIM_RESOURCE_PATH", ("{}",)),
    ("GAZEBO_MODEL_PATH", ("{}",)),
)
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_PACKAGE_NAME = re.compile(rb"<name>\s*([^<\s]+)\s*</name>")
_MANIFEST_BYTES = 2**16


def read_package_dirs(package_dirs: PackageDirs | None) -> tuple[Path, ...]:
    """The folders that `load(package_dirs=)` names, absolute; ArgumentError for what is none."""
    if package_dirs is None:
        return ()
    if isinstance(package_dirs, (str, bytes, os.PathLike)) or not isinstance(package_dirs, Iterable):
        raise ArgumentError(f"package_dirs: expected a list of folders, found {package_dirs!r}.")
    folders = []
    for name in package_dirs:
        try:
            folder = os.path.abspath(user_path(name))
        except (TypeError, ValueError):
            folder = ""
        if not os.path.isdir(folder):
            raise ArgumentError(f"package_dirs: expected folders that exist, found {name!r}.")
        folders.append(Path(folder))
    return tuple(folders)


class MeshPaths:
    """Finds the files of one description. `path` is its own file, absolute (None: it came as text)."""

    def __init__(self, path: str | None, package_dirs: tuple[Path, ...]) -> None:
        self._package_dirs = package_dirs
        # As it is written, and where the file really lies: workspaces link to their sources.
        files = () if path is None else (Path(path), Path(os.path.realpath(path)))
        self._own = tuple(dict.fromkeys(file.parent for file in files))
        self._around = tuple(dict.fromkeys(folder for file in files for folder in file.parents))
        self._found: dict[str, Path | None] = {}
        self._packages: dict[str, list[Path]] = {}

    def find(self, uri: str) -> Path | None:
        """The file that `uri` names, or None if there is none."""
        if uri not in self._found:
            self._found[uri] = next((path for path in self._candidates(uri) if os.path.isfile(path)), None)
        return self._found[uri]

    def package(self, name: str) -> Path | None:
        """The folder of the package of this name, or None if there is none."""
        return next((path for path in self._roots(name) if os.path.isdir(path)), None)

    def _candidates(self, uri: str) -> Iterator[Path]:
        address = _ADDRESS.fullmatch(uri)
        scheme, rest = (address[1].lower(), address[2]) if address else ("file", uri)
        # Addresses may spell a blank as %20; a file may also be called so.
        for text in dict.fromkeys((rest, unquote(rest))) if address else (rest,):
            if scheme in ("package", "model"):
                package, _, inside = text.lstrip("/").partition("/")  # package:/// is a common slip
                yield from (root / inside for root in self._roots(package))
            elif scheme == "file":
                text = text.removeprefix("localhost") if text.startswith("localhost/") else text
                absolute = os.path.isabs(text)
                yield from [Path(text)] if absolute else [root / text for root in self._relative_to()]

    def _relative_to(self) -> tuple[Path, ...]:
        return (*self._own, *self._package_dirs)

    def _roots(self, package: str) -> list[Path]:
        """Every folder that may be the package of this name, the nearest first."""
        if package not in self._packages:
            self._packages[package] = list(dict.fromkeys(self._search(package))) if package else []
        return self._packages[package]

    def _search(self, package: str) -> Iterator[Path]:
        if package in (".", ".."):
            return
        for folder in (*self._package_dirs, *self._around):
            yield folder / package
            if _is_package(folder, package):
                yield folder
        for variable, places in _VARIABLES:
            for entry in os.environ.get(variable, "").split(os.pathsep):
                if os.path.isabs(entry):
                    yield from _in_entry(Path(entry), package, places)


def _in_entry(entry: Path, package: str, places: tuple[str, ...]) -> Iterator[Path]:
    for place in places:
        if place == ".":
            if _is_package(entry, package):
                yield entry
        elif place.startswith("*/"):
            yield from (folder / package for folder in _subfolders(entry))
        else:
            yield entry / place.replace("{}", package)


def _subfolders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries if entry.is_dir())
    except OSError:
        return []


def _is_package(folder: Path, package: str) -> bool:
    """Whether a folder is called like the package, or has a package.xml that says so."""
    if folder.name == package:
        return True
    manifest = folder / "package.xml"
    if not os.path.isfile(manifest):  # nor is it a pipe that would never answer
        return False
    try:
        with open(manifest, "rb") as stream:
            name = _PACKAGE_NAME.search(stream.read(_MANIFEST_BYTES))
    except OSError:
        return False
    return name is not None and name[1] == package.encode("utf-8", "surrogatepass")
