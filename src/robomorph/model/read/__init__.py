"""Readers: a file, a text or an object into a Description. `FORMATS` is their table."""

from __future__ import annotations

import contextlib
from xml.parsers import expat

from ..description import Description
from ..document import Document
from .base import Format, Ignored, Reading, XacroArgs
from .mjcf import MJCF
from .pinocchio import PINOCCHIO
from .urdf import URDF
from .xacro import XACRO
from .xmltree import without_leading
from .yourdfpy import YOURDFPY

__all__ = [
    "FORMATS",
    "Format",
    "Ignored",
    "Reading",
    "XacroArgs",
    "format_of",
    "kinds",
    "object_format",
    "read",
]

FORMATS: dict[str, Format] = {one.name: one for one in (URDF, MJCF, XACRO, PINOCCHIO, YOURDFPY)}


def format_of(document: Document) -> str:
    """The name of the format of a file or text: by the end of its name, else by its outermost element. What
    is neither known is URDF, whose reader says what is wrong."""
    name = (document.path or "").lower()
    for one in FORMATS.values():
        if name.endswith(one.suffixes or ("\0",)):
            return one.name
    tag = outermost_tag(document)
    return next((one.name for one in FORMATS.values() if tag in one.tags), URDF.name)


def object_format(given: object) -> str | None:
    """The name of the format of another library's object, or None."""
    return next((one.name for one in FORMATS.values() if one.takes(given)), None)


def kinds() -> tuple[str, ...]:
    """Everything that `load(ignore=)` may name as a kind."""
    return tuple(dict.fromkeys(kind for one in FORMATS.values() for kind in one.kinds))


def read(document: Document, reading: Reading) -> Description:
    """The description that a document holds."""
    reader = FORMATS[document.format].read
    assert reader is not None  # sources.py rewrites what only writes descriptions
    return reader(document, reading)


def outermost_tag(document: Document) -> str:
    """The tag of the first element, or nothing if there is none that can be read."""
    found: list[str] = []

    def first(tag: str, attributes: dict[str, str]) -> None:
        del attributes
        found.append(tag)
        raise _Found

    parser = expat.ParserCreate(document.encoding)
    parser.StartElementHandler = first
    with contextlib.suppress(_Found, expat.ExpatError, ValueError, LookupError):
        parser.Parse(without_leading(document.data)[0], True)
    return found[0] if found else ""


class _Found(Exception):
    """The parser need not go on."""
