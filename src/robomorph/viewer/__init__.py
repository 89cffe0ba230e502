"""Robots in the browser: one page for a live view, for a file to send, and for scenes inside reports."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robomorph.viewer.live import Viewer
    from robomorph.viewer.trajectory import Trajectory

__all__ = ["Trajectory", "Viewer"]
_HOMES = {"Trajectory": "trajectory", "Viewer": "live"}


def __getattr__(name: str) -> object:
    """Imported on first use: the package's own `view` lives here, and must not make it slow to load."""
    if name not in _HOMES:
        raise AttributeError(f"module 'robomorph.viewer' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"robomorph.viewer.{_HOMES[name]}"), name)
