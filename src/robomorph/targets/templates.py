"""Templates: real files with @names@ in them, in the folder of the target that they belong to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

_TARGETS = Path(__file__).parent
_NAME = re.compile(r"@([a-z_]+)@")


def source_file(target: str, path: str) -> str:
    """A file of a target's folder that is exported as it is."""
    return (_TARGETS / target / path).read_text(encoding="utf-8")


def fill(target: str, path: str, values: Mapping[str, str]) -> str:
    """The target's template with every @name@ replaced, once: what a value holds is never taken for a name. A
    name without a value is a KeyError: a defect here."""
    return _NAME.sub(lambda match: values[match[1]], source_file(target, f"templates/{path}"))
