"""Robots of the package robot_descriptions, which fetches their files when they are first used."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from robomorph.naming import hint

from ...errors import ModelError

PREFIX = "robot_descriptions:"
_PACKAGE = "robot_descriptions"
_PATHS = ("URDF_PATH", "XACRO_PATH", "MJCF_PATH")  # what a description has of these, the first counts


def described(source: str) -> tuple[str, dict[str, Any]]:
    """The file of `robot_descriptions:NAME`, and its arguments if it is xacro. NAME is a module of that
    package, such as panda_description, or that without its ending `_description`."""
    name = source[len(PREFIX) :]
    if importlib.util.find_spec(_PACKAGE) is None:
        raise ModelError(
            f"{source!r}: expected the package {_PACKAGE}: pip install 'robomorph[descriptions]'."
        )
    modules = [name, f"{name}_description"] if name.isidentifier() and not name.startswith("_") else []
    chosen = next((one for one in modules if importlib.util.find_spec(f"{_PACKAGE}.{one}")), None)
    if chosen is None:
        raise ModelError(f"{source!r}: {_PACKAGE} has no robot of that name; {hint(name, _known())}.")
    try:
        module = importlib.import_module(f"{_PACKAGE}.{chosen}")
    except Exception as error:  # whatever keeps it from being fetched: no network, no git, no room
        raise ModelError(
            f"{source!r}: {_PACKAGE} cannot fetch this robot: {_first_line(error)}. Load it once with a "
            "network, or load its file by name."
        ) from error
    found = [getattr(module, path) for path in _PATHS if hasattr(module, path)]
    if not found:
        raise ModelError(f"{source!r}: expected one of {', '.join(_PATHS)}, found a description with none.")
    return str(found[0]), dict(getattr(module, "XACRO_ARGS", None) or {})


def _known() -> list[str]:
    try:
        table = importlib.import_module(f"{_PACKAGE}._descriptions")
    except Exception:
        return []
    return sorted(getattr(table, "DESCRIPTIONS", ()))


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
