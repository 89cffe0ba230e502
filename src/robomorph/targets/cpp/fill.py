"""Templates: real files with @names@ in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
_NAME = re.compile(r"@([a-z_]+)@")


def template(path: str) -> str:
    return (TEMPLATES / path).read_text(encoding="utf-8")


def fill(path: str, values: Mapping[str, str]) -> str:
    """The template with every @name@ replaced. A name without a value is a KeyError: a defect here."""
    return _NAME.sub(lambda match: values[match[1]], template(path))
