"""What every other library looks like to the benchmark."""

from __future__ import annotations

import importlib
from abc import ABC
from importlib import metadata
from typing import Any, ClassVar

from robomorph.errors import RobomorphError


class PeerError(RobomorphError):
    """A peer cannot take part with this robot; the message says why."""


class Peer(ABC):
    """A library: its name, where it comes from, and whether it is here. What it is asked to do depends on the
    group of sections, and is said by the classes in between (dynamics_peer.py, ik_peer.py)."""

    name: ClassVar[str]
    package: ClassVar[str]  # as pip knows it
    modules: ClassVar[tuple[str, ...]]  # what must be importable

    @classmethod
    def absence(cls) -> str | None:
        """Why it cannot be used here, or None if it can."""
        for module in cls.modules:
            try:
                importlib.import_module(module)
            except Exception as error:  # a broken installation is as good as none
                return f"{error} (pip install {cls.package})"
        return None

    @classmethod
    def version(cls) -> str:
        try:
            return metadata.version(cls.package.split("[")[0])
        except metadata.PackageNotFoundError:
            return str(getattr(importlib.import_module(cls.modules[0]), "__version__", "unknown"))


def module(name: str) -> Any:
    """An optional library, imported only when it takes part."""
    return importlib.import_module(name)
