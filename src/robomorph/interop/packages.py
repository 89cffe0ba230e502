"""The package behind a bridge, or an error that says how to install it."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from robomorph.errors import MissingPackageError


def require(package: str, extra: str | None = None, *, at_least: tuple[int, int] = (0, 0)) -> Any:
    """The module `package`, of that version or a later one; `extra` of robomorph brings it (None: the one of
    its name)."""
    try:
        module = import_module(package)
    except ImportError as error:
        raise MissingPackageError(
            f"robomorph.{package} needs the package {package}, which cannot be imported ({error}): "
            f"pip install 'robomorph[{extra or package}]'",
            name=package,
        ) from error
    found = str(getattr(module, "__version__", ""))
    numbers = tuple(map(int, re.findall(r"\d+", found)[:2]))
    if numbers and numbers < at_least:
        raise MissingPackageError(
            f"robomorph.{package} needs {package} {at_least[0]}.{at_least[1]} or later, found {found}: "
            f"pip install --upgrade 'robomorph[{extra or package}]'",
            name=package,
        )
    return module
