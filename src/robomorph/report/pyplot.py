"""The one way to matplotlib, which is an extra."""

from __future__ import annotations

import importlib
from typing import Any

from robomorph.errors import TargetError


def pyplot() -> Any:
    """matplotlib.pyplot, set to draw into files; TargetError where it cannot be imported."""
    try:
        matplotlib = importlib.import_module("matplotlib")
        matplotlib.use("Agg")  # files only: no display is needed
        return importlib.import_module("matplotlib.pyplot")
    except ImportError as error:
        raise TargetError(f"--plots needs matplotlib: pip install 'robomorph[bench]' ({error})") from error
