"""The one fingerprint of robomorph's own source: no code made by another version is ever reused."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

# What only shows makes no code.
_SHOWS = ("bench", "cli", "report", "verify")


@cache
def source_fingerprint() -> str:
    """A hash over every Python file of the package but those that only show, and their names."""
    root = Path(__file__).parents[1]
    shown = {root / name for name in _SHOWS}
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        if not shown & set(path.parents):
            digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
