"""Writing figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def save(figure: Any, path: Path) -> Path:
    """Write a figure, let go of it; where it is."""
    from matplotlib import pyplot as plt

    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return path
