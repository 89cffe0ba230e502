"""A description as it was given, before anything is read."""

from __future__ import annotations

from typing import Any, NamedTuple

# Far above any published robot, and small enough to read in well under a second.
MAX_BYTES = 16 * 2**20


class Document(NamedTuple):
    """A description; `label` names it in messages, `encoding` overrides what it says of itself, `path` is
    its file, absolute (None if it has none), around which the files lie that it names. format: its name in
    the table of formats (read/__init__.py). given: another library's object, for which there are no data.
    warnings: what xacro said while it wrote the data."""

    data: bytes
    label: str
    encoding: str | None = None
    path: str | None = None
    format: str = "URDF"
    given: Any = None
    warnings: tuple[str, ...] = ()
