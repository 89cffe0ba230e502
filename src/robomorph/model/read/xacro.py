"""xacro into URDF, by the package xacro. It runs Python that it finds in the file: whoever loads such a file
trusts it, and text is taken for xacro only if the caller says so."""

from __future__ import annotations

import contextlib
import importlib
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.dom import minidom

from robomorph.naming import hint

from ...errors import ArgumentError, ModelError
from ..document import Document
from ..mesh_paths import MeshPaths
from .base import AllXacroArgs, ForkLock, Format, missing
from .xmltree import parse_xml

_LOCK = ForkLock()  # xacro keeps where it is in globals of its modules


def expand(document: Document, arguments: AllXacroArgs, package_dirs: tuple[Path, ...]) -> Document:
    """The URDF document that a xacro document becomes with these arguments."""
    parse_xml(document.data, document.label, document.encoding)  # nothing hostile, and errors with lines
    try:
        xacro: Any = importlib.import_module("xacro")
    except ImportError:
        raise missing("xacro", "xacro", document.label) from None
    given = _Arguments({name: _word(value) for name, value in arguments.items()})
    messages = io.StringIO()  # xacro prints what it warns of
    with _LOCK, contextlib.redirect_stderr(messages), _found_in(document.path, package_dirs):
        try:
            xacro.init_stacks(document.path)
            tree = xacro.parse(document.data.decode(document.encoding or "utf-8"))
            xacro.process_doc(tree, mappings=given)
        except Exception as error:  # what is in the file may raise anything
            raise ModelError(_message(document, error, xacro)) from None
    given.check(document, arguments.maps[0])
    return document._replace(data=_text(tree), encoding="utf-8", format="URDF", warnings=_warned(messages))


class _Arguments(dict[str, str]):
    """xacro's arguments, which note what the file asks for."""

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__(values)
        self.asked: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.asked.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return super().__getitem__(name)

    def check(self, document: Document, own: Mapping[str, Any]) -> None:
        """ArgumentError for one of the caller's own that the file never asks for: it may be misspelt."""
        for name in own:
            if name not in self.asked:
                raise ArgumentError(
                    f"xacro_args: expected arguments that {document.label} asks for, found {name!r}; "
                    f"{hint(name, sorted(self.asked))}"
                )


def _word(value: object) -> str:
    """An argument as the command line of xacro would have it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(float(value)) if isinstance(value, float) else str(value)


def _warned(messages: io.StringIO) -> tuple[str, ...]:
    """Each warning of those that xacro printed, once."""
    said = messages.getvalue().split("warning: ")[1:]
    return tuple(dict.fromkeys(" ".join(words.split()).rstrip(".") for words in said))


def _text(tree: minidom.Document) -> bytes:
    return tree.toprettyxml(indent="  ").encode("utf-8")


def _message(document: Document, error: Exception, xacro: Any) -> str:
    said = " ".join(str(error).split()) or type(error).__name__
    if "substitution argument" in said:
        fix = "give it with xacro_args={name: value} (--xacro-arg NAME=VALUE)"
    elif type(error).__name__ == "PackageNotFoundError" or "ament_index_python" in said:
        fix = "name the folders that hold the packages with package_dirs=[...] (--package-dir)"
    else:
        fix = "run xacro on the file to see where"
    files = [str(name) for name in xacro.filestack or [] if name]
    where = f" in {files[-1]}" if len(files) > 1 else ""
    return f"{document.label}: expected xacro that can be run, found{where}: {said}. To mend it: {fix}."


@contextlib.contextmanager
def _found_in(path: str | None, package_dirs: tuple[Path, ...]) -> Iterator[None]:
    """Let $(find PACKAGE) look where mesh files are looked for, and then where xacro does."""
    substitution: Any = importlib.import_module("xacro.substitution_args")
    places, before = MeshPaths(path, package_dirs), substitution._eval_find
    table = substitution._eval_dict

    def find(package: str) -> str:
        folder = places.package(package)
        return str(folder) if folder is not None else str(before(package))

    substitution._eval_find, table["find"] = find, find
    try:
        yield
    finally:
        substitution._eval_find, table["find"] = before, before


XACRO = Format("xacro", rewrite=expand, suffixes=(".xacro",))
