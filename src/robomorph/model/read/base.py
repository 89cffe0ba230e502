"""What a reader is: a format's name, how it is told from others, and the function that reads it."""

from __future__ import annotations

import os
import threading
from collections import ChainMap
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from robomorph.naming import hint

from ...errors import ArgumentError, ModelError
from ..description import Description
from ..document import Document
from ..notes import Notes

XacroArgs: TypeAlias = Mapping[str, Any]
# The caller's arguments before those that come with the source.
AllXacroArgs: TypeAlias = ChainMap[str, Any]


class Ignored:
    """What the caller wants left out: kinds of things (`kinds` has all), or single ones by name."""

    def __init__(self, words: Collection[str] | str = (), kinds: Collection[str] = ()) -> None:
        given = (words,) if isinstance(words, str) else words
        if not isinstance(given, Collection) or not all(isinstance(word, str) for word in given):
            raise ArgumentError(f"ignore: expected kinds or names such as ('tendon',), found {words!r}.")
        self.words = tuple(dict.fromkeys(given))
        self._kinds = tuple(kinds)
        self._met: set[str] = set()

    def covers(self, kind: str, name: str) -> bool:
        """Whether this thing is to be left out; without a name (an empty one) by its kind alone."""
        self._met |= {kind, name} - {""}
        return kind in self.words or (bool(name) and name in self.words)

    def check(self, source: str) -> None:
        """ArgumentError for a word that is no kind and named nothing that could be left out."""
        for word in self.words:
            if word not in self._kinds and word not in self._met:
                close = hint(word, sorted({*self._kinds, *self._met}))
                raise ArgumentError(
                    f"ignore: expected kinds ({', '.join(self._kinds)}) or names of things of {source} that "
                    f"cannot be represented, found {word!r}; {close}"
                )


@dataclass(frozen=True, eq=False)
class Reading:
    """What a reader is told beside the document.

    notes: takes concerns. snap: rad, explained at `load_model`. package_dirs: where packages of mesh files
    lie. ignored: what the caller wants left out.
    """

    notes: Notes
    snap: float
    package_dirs: tuple[Path, ...] = ()
    ignored: Ignored = field(default_factory=Ignored)


def no_object(given: object) -> bool:
    """For formats that are files and text alone."""
    del given
    return False


@dataclass(frozen=True)
class Format:
    """One format, and its row in the table.

    read: a document into a Description, for a format that describes; rewrite: a document into one of another
    format, for one that writes descriptions (with the arguments of `load(xacro_args=)`). suffixes: ends of
    file names that mean it. tags: outermost elements that mean it. takes: whether an object is one of it.
    kinds: what may be left out of it by `load(ignore=)`.
    """

    name: str
    read: Callable[[Document, Reading], Description] | None = None
    rewrite: Callable[[Document, AllXacroArgs, tuple[Path, ...]], Document] | None = None
    suffixes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    takes: Callable[[object], bool] = no_object
    kinds: tuple[str, ...] = ()


class ForkLock:
    """A lock that a process forked while another thread held it finds open: that thread is not there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *raised: object) -> None:
        self._lock.release()


def missing(package: str, extra: str, what: str) -> ModelError:
    """The error where a reader needs a package that is not installed."""
    return ModelError(f"{what}: expected the package {package}: pip install 'robomorph[{extra}]'.")


def full_name(given: object) -> str:
    """module.Class of an object, as messages and readers of foreign objects know it."""
    return f"{type(given).__module__}.{type(given).__qualname__}"
