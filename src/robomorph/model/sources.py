"""Where a description comes from: a built-in name, a file, text, or an object of another library."""

from __future__ import annotations

import os
from collections import ChainMap
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from robomorph.naming import close_matches, listed

from ..errors import ArgumentError, ModelError
from ..paths import user_path
from .document import MAX_BYTES, Document
from .read import FORMATS, XacroArgs, format_of, object_format
from .robots import builtin_robots, builtin_urdf
from .robots.descriptions import PREFIX, described

# Any: an object of another library, which is known by its class's name.
Source: TypeAlias = str | bytes | os.PathLike[str] | Any
_KINDS = (
    "a built-in name, a path, the text of a URDF or MJCF file, or an object of MuJoCo, Pinocchio or yourdfpy"
)


class LoadRecord(NamedTuple):
    """What a robot was loaded from: the document, and the options of `load` that change the model."""

    document: Document
    options: dict[str, Any]


def read_source(
    source: Source,
    *,
    xacro: bool = False,
    xacro_args: XacroArgs | None = None,
    package_dirs: tuple[Path, ...] = (),
) -> Document:
    """The document that `source` stands for; what is written in xacro has been run.

    xacro: the text or file is xacro though its name does not say so. xacro_args: its arguments.
    package_dirs: where it looks for packages.
    """
    if xacro_args is not None and not (
        isinstance(xacro_args, Mapping) and all(isinstance(key, str) for key in xacro_args)
    ):
        raise ArgumentError(f"xacro_args: expected a mapping from names, found {xacro_args!r}.")
    defaults: XacroArgs = {}
    if isinstance(source, str) and source.startswith(PREFIX):
        source, defaults = described(source)
    document = _document(source)
    if xacro and document.given is None:
        label = "<xacro text>" if document.path is None else document.label
        document = document._replace(format="xacro", label=label)
    if document.format != "xacro" and (xacro or xacro_args is not None):
        raise ArgumentError(
            f"{'xacro' if xacro else 'xacro_args'}: expected xacro, found {document.label}, "
            f"which is {document.format}. Leave it out, or say xacro=True of a file not called .xacro."
        )
    rewrite = FORMATS[document.format].rewrite
    arguments = ChainMap(dict(xacro_args or {}), dict(defaults))
    return document if rewrite is None else rewrite(document, arguments, package_dirs)


def urdf_text(source: Source) -> str:
    """The text of a URDF robot, for what can read nothing else."""
    document = read_source(source)
    if document.format != "URDF":
        raise ModelError(
            f"{document.label}: expected a URDF robot, as others must read it, found {document.format}."
        )
    return document.data.decode(document.encoding or "utf-8")


def _document(source: Source) -> Document:
    if isinstance(source, bytes):
        return _known(Document(source, "<URDF text>"))
    if isinstance(source, str):
        if "<" in source:
            return _known(Document(source.encode("utf-8", "replace"), "<URDF text>", "utf-8"))
        builtin = builtin_urdf(source)
        if builtin is not None:
            return Document(builtin, f"<built-in {source}>")
    elif not isinstance(source, os.PathLike):
        found = object_format(source)
        if found is None:
            raise ModelError(f"source: expected {_KINDS}, found {type(source).__name__}.")
        return Document(
            b"", f"<{type(source).__module__.partition('.')[0]} model>", format=found, given=source
        )
    name = os.fsdecode(source)  # paths may be bytes, too
    return _known(Document(_read_file(name), _short(name), path=os.path.abspath(user_path(name))))


def _known(document: Document) -> Document:
    """The document with its format."""
    name = format_of(document)
    label = f"<{name} text>" if document.path is None else document.label
    return document._replace(format=name, label=label)


def _read_file(name: str) -> bytes:
    path = user_path(name)
    try:
        if name and path.is_dir():
            raise ModelError(
                f"{name}: expected a robot's file, found a directory. Name the .urdf or .xml file inside it."
            )
        if name and path.exists() and not path.is_file():
            raise ModelError(f"{name}: expected a robot's file, found something that is not a regular file.")
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
        f"{_short(name)!r}: expected a built-in robot, the path of a URDF, MJCF or xacro file, or the text "
        f"of one; found no such file.{guess} Built-in are {listed(known)} (chain:12 has 12 joints); "
        f"{PREFIX}NAME is one of the package robot_descriptions."
    )


def _short(name: str) -> str:
    return name if len(name) <= 300 else f"{name[:140]}...{name[-140:]}"
