"""The one way to matplotlib, which is an extra."""

from __future__ import annotations

import importlib
from typing import Any

from robomorph.errors import TargetError


def matplotlib_figure() -> Any:
    """The class matplotlib.figure.Figure, which draws into files without a display and without the global
    state of pyplot; TargetError where it cannot be imported."""
    try:
        return importlib.import_module("matplotlib.figure").Figure
    except Exception as error:  # whatever a broken installation, or a wrong MPLBACKEND, comes up with
        raise TargetError(f"--plots needs matplotlib: pip install 'robomorph[bench]' ({error})") from error
