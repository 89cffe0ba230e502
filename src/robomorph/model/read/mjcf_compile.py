"""MJCF text, files and specs into an MjModel."""

from __future__ import annotations

import importlib
from typing import Any

from ...errors import ModelError
from ..document import MAX_BYTES, Document
from .base import full_name, missing

_CLASSES = ("MjModel", "MjSpec")


def is_mujoco(given: object) -> bool:
    """Whether an object is one of MuJoCo's models, judged by the name of its class."""
    name = full_name(given)
    return name.startswith("mujoco") and name.endswith(tuple(f".{one}" for one in _CLASSES))


def compiled(document: Document) -> tuple[Any, str]:
    """The MjModel, and what messages call it. Older packages of that name are not MuJoCo's."""
    mujoco = _mujoco(document.label)
    given = document.given
    if given is None:
        return _from_xml(mujoco, document), document.label
    if isinstance(given, mujoco.MjModel):
        return given, document.label
    if hasattr(mujoco, "MjSpec") and isinstance(given, mujoco.MjSpec):
        return _said(document.label, given.copy().compile), document.label
    raise ModelError(
        f"{document.label}: expected an MjModel or MjSpec of the package mujoco, found {full_name(given)}. "
        "To mend it: load the XML file instead."
    )


def _mujoco(label: str) -> Any:
    try:
        mujoco: Any = importlib.import_module("mujoco")
    except ImportError:
        raise missing("mujoco", "mjcf", label) from None
    return mujoco


def _from_xml(mujoco: Any, document: Document) -> Any:
    if len(document.data) > MAX_BYTES:
        raise ModelError(
            f"{document.label}: expected at most {MAX_BYTES} bytes, found more. To mend it: put meshes into files "
            "of their own."
        )
    if document.path is not None:
        return _said(document.label, lambda: mujoco.MjModel.from_xml_path(document.path))
    try:
        text = document.data.decode(document.encoding or "utf-8")
    except (UnicodeDecodeError, LookupError) as error:
        raise ModelError(
            f"{document.label}: expected MJCF in UTF-8, found another encoding: {error}."
        ) from None
    return _said(document.label, lambda: mujoco.MjModel.from_xml_string(text))


def _said(label: str, make: Any) -> Any:
    """What `make` makes; MuJoCo's own words where it refuses."""
    try:
        return make()
    except Exception as error:  # its own FatalError among them
        said = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise ModelError(
            f"{label}: expected a model that MuJoCo compiles, found: {said}. To mend it: correct the file as it says."
        ) from None
