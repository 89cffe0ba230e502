"""Where a description comes from: a built-in name, a file, or the text itself."""

from __future__ import annotations

import os
from typing import Any, NamedTuple, TypeAlias

from robomorph.naming import close_matches, listed

from ..errors import ModelError
from ..paths import user_path
from .document import MAX_BYTES, Document
from .robots import builtin_robots, builtin_urdf

Source: TypeAlias = str | bytes | os.PathLike[str]


class LoadRecord(NamedTuple):
    """What a robot was loaded from: the document, and the options of `load` that change the model."""

    document: Document
    options: dict[str, Any]


def read_source(source: Source) -> Document:
    """The document that `source` stands for."""
    if isinstance(source, bytes):
        return Document(source, "<URDF text>")
    if isinstance(source, str):
        if "<" in source:
            return Document(source.encode("utf-8", "replace"), "<URDF text>", "utf-8")
        builtin = builtin_urdf(source)
        if builtin is not None:
            return Document(builtin, f"<built-in {source}>")
    elif not isinstance(source, os.PathLike):
        raise ModelError(
            f"source: expected a built-in name, a path or URDF text, found {type(source).__name__}."
        )
    name = os.fspath(source)
    return Document(_read_file(name), _short(name), path=os.path.abspath(user_path(name)))


def _read_file(name: str) -> bytes:
    path = user_path(name)
    try:
        if name and path.is_dir():
            raise ModelError(
                f"{name}: expected a URDF file, found a directory. Name the .urdf file inside it."
            )
        if name and path.exists() and not path.is_file():
            raise ModelError(f"{name}: expected a URDF file, found something that is not a regular file.")
        with path.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except (FileNotFoundError, IsADirectoryError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise _unknown(name) from None
    except OSError as error:
        raise ModelError(f"{_short(name)}: cannot be read: {error.strerror}.") from None


def _unknown(name: str) -> ModelError:
    known = list(builtin_robots())
    close = close_matches(name, known)
    guess = f" Did you mean {' or '.join(repr(match) for match in close)}?" if close else ""
    return ModelError(
        f"{_short(name)!r}: expected a built-in robot, the path of a URDF file, or URDF text; found no such "
        f"file.{guess} Built-in are {listed(known)} (chain:12 has 12 joints)."
    )


def _short(name: str) -> str:
    return name if len(name) <= 300 else f"{name[:140]}...{name[-140:]}"
