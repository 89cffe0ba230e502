"""The package behind a bridge, or an error that says how to install it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from robomorph.errors import MissingPackageError


def require(package: str, extra: str | None = None) -> Any:
    """The module `package`; `extra` of robomorph brings it (None: the one of its name)."""
    try:
        return import_module(package)
    except ImportError as error:
        raise MissingPackageError(
            f"robomorph.{package} needs the package {package}, which cannot be imported ({error}): "
            f"pip install 'robomorph[{extra or package}]'",
            name=package,
        ) from error
