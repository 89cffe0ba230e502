"""The formats by name. A new one is one file and its entry here."""

from __future__ import annotations

from robomorph.errors import ArgumentError
from robomorph.naming import unknown_name
from robomorph.scaleout.formats.base import Column, Format, Layout
from robomorph.scaleout.formats.parquet import Parquet
from robomorph.scaleout.formats.zarr import Zarr

__all__ = ["FORMATS", "Column", "Format", "Layout", "format_called"]

FORMATS: dict[str, Format] = {made.name: made for made in (Parquet(), Zarr())}


def format_called(name: str) -> Format:
    """ArgumentError if there is none."""
    if not isinstance(name, str) or name not in FORMATS:
        raise ArgumentError(unknown_name("robomorph dataset", "format", str(name), list(FORMATS)))
    return FORMATS[name]
