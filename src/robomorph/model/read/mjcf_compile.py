"""MJCF text, files and specs into an MjModel."""

from __future__ import annotations

import contextlib
import importlib
import threading
import warnings
from collections.abc import Iterator
from typing import Any, TextIO

from ...errors import ModelError
from ..document import MAX_BYTES, Document
from ..notes import MUJOCO_WARNS, Notes, Place
from .base import ForkLock, full_name, missing

_LOCK = ForkLock()  # who hears warnings is one for the whole process
_CLASSES = ("MjModel", "MjSpec")
_MAY_HAVE_MUSCLES = (b"muscle", b"include")


def is_mujoco(given: object) -> bool:
    """Whether an object is one of MuJoCo's models, judged by the name of its class."""
    name = full_name(given)
    return name.startswith("mujoco") and name.endswith(tuple(f".{one}" for one in _CLASSES))


def compiled(document: Document, notes: Notes) -> tuple[Any, Any]:
    """The MjModel, and the MjSpec that says more of its meshes (None if there is none); what MuJoCo warns
    of goes to `notes`."""
    mujoco = _mujoco(document.label)
    given = document.given
    if isinstance(given, mujoco.MjModel):
        return given, None
    with _heard(mujoco, document.label, notes):
        if given is None:
            model = _from_xml(mujoco, document)
            return model, _spec(mujoco, document) if model.nmesh else None
        if isinstance(given, mujoco.MjSpec):
            copy = given.copy()
            _lets_muscles_be(copy)
            return _said(document.label, copy.compile), given
    raise ModelError(
        f"{document.label}: expected an MjModel or MjSpec of the package mujoco, found {full_name(given)}. "
        "To mend it: load the XML file instead."
    )


def _mujoco(label: str) -> Any:
    try:
        mujoco: Any = importlib.import_module("mujoco")
    except ImportError:
        raise missing("mujoco", "mjcf", label) from None
    if not (hasattr(mujoco, "MjModel") and hasattr(mujoco, "MjSpec")):  # before 3.2, or another's
        raise missing("mujoco 3.2 or later", "mjcf", label)
    return mujoco


@contextlib.contextmanager
def _heard(mujoco: Any, label: str, notes: Notes) -> Iterator[None]:
    """Note what MuJoCo warns of; left alone it prints that, and writes a log into the current folder."""
    said: list[str] = []
    with _LOCK:
        before = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(said.append)
        try:
            with _warnings_of_this_thread(said):  # as models of an MjSpec have
                yield
        finally:
            mujoco.set_mju_user_warning(before)
    for words in dict.fromkeys(said):  # twice, where the specification is read too
        notes.add(MUJOCO_WARNS, Place(label, 0, "<mujoco>"), " ".join(words.split()).rstrip("."))


@contextlib.contextmanager
def _warnings_of_this_thread(said: list[str]) -> Iterator[None]:
    """Python's warnings, into `said`; those of other threads go where they went before."""
    own = threading.get_ident()
    with warnings.catch_warnings():
        warnings.filterwarnings("always", module=__name__.replace(".", r"\."))  # who calls MuJoCo
        before = warnings.showwarning

        def hear(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if threading.get_ident() == own:
                said.append(str(message))
            else:
                before(message, category, filename, lineno, file, line)

        warnings.showwarning = hear
        yield


def _from_xml(mujoco: Any, document: Document) -> Any:
    if len(document.data) > MAX_BYTES:
        raise ModelError(
            f"{document.label}: expected at most {MAX_BYTES} bytes, found more. To mend it: put meshes into "
            "files of their own."
        )
    spec = _spec(mujoco, document) if any(word in document.data for word in _MAY_HAVE_MUSCLES) else None
    if spec is not None and _lets_muscles_be(spec):
        return _said(document.label, spec.compile)
    if document.path is not None:
        return _said(document.label, lambda: mujoco.MjModel.from_xml_path(document.path))
    text = _text(document)
    return _said(document.label, lambda: mujoco.MjModel.from_xml_string(text))


def _lets_muscles_be(spec: Any) -> bool:
    """Whether compiling does without the range of muscles' lengths now. MuJoCo finds it by simulation, which
    takes long, and never ends where a number is NaN; no robot asks for it."""
    try:
        spec.compiler.LRopt.mode = 0
    except AttributeError:  # earlier versions
        return False
    return True


def _text(document: Document) -> str:
    try:
        return document.data.decode(document.encoding or "utf-8")
    except (UnicodeDecodeError, LookupError) as error:
        raise ModelError(
            f"{document.label}: expected MJCF in UTF-8, found another encoding: {error}."
        ) from None


def _spec(mujoco: Any, document: Document) -> Any:
    """The MjSpec of a document, not compiled; None in versions that make them otherwise."""
    try:
        if document.path is not None:
            return mujoco.MjSpec.from_file(document.path)
        return mujoco.MjSpec.from_string(_text(document))
    except (TypeError, ValueError):
        return None


def _said(label: str, make: Any) -> Any:
    """What `make` makes; MuJoCo's own words where it refuses."""
    try:
        return make()
    except Exception as error:  # its own FatalError among them
        said = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        fix = "call the file .xml" if "decoder" in said else "correct it"
        raise ModelError(
            f"{label}: expected a model that MuJoCo compiles, which says: {said}. To mend it: {fix}."
        ) from None
