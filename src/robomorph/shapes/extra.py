"""Packages that only reading meshes needs."""

from __future__ import annotations

import importlib
from typing import Any

from robomorph.errors import MeshError


def needed(package: str, what: str) -> Any:
    """A package of the extra robomorph[view], imported when it is needed."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise MeshError(
            f"reading {what} needs the package {package}, which is missing: pip install 'robomorph[view]'"
        ) from None
